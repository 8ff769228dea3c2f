// A service for each test of a `describe`, or for all of its tests, with the HTTP listener: common
// set-up and end.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type HttpApi, httpApi } from './http-client.ts';
import { standIn } from './stand-in.ts';
import { type TestApp, type TestAppOptions, testApp } from './test-app.ts';

/** Returns a stand-in for the object of the running test. */
function current<T extends object>(one: () => T | undefined): T {
  return standIn(() => {
    const now = one();
    if (!now) throw new Error('there is a service within a test only');
    return now;
  });
}

/** Makes a new service for each test. Returns a stand-in for the service of the running test. */
export function eachApp(options: TestAppOptions = {}): TestApp {
  let test: TestApp | undefined;
  beforeEach(async () => {
    test = await testApp(options);
  });
  afterEach(() => test?.close());
  return current(() => test);
}

/** Makes a new service with its HTTP face, which sends the owner's key. */
export function eachApi(options: TestAppOptions = {}): { test: TestApp; api: HttpApi } {
  const test = eachApp(options);
  let api: HttpApi | undefined;
  beforeEach(() => {
    api = httpApi(test);
  });
  afterEach(() => api?.close());
  return { test, api: current(() => api) };
}

/**
 * Makes a service with its HTTP face for all tests of a `describe`. For tests that start a worker:
 * the start takes longer than the tests. Names of resources must differ between tests.
 */
export function sharedApi(options: TestAppOptions = {}): { test: TestApp; api: HttpApi } {
  let test: TestApp | undefined;
  let api: HttpApi | undefined;
  beforeAll(async () => {
    test = await testApp(options);
    api = httpApi(test);
  });
  afterAll(async () => {
    await api?.close();
    await test?.close();
  });
  return { test: current(() => test), api: current(() => api) };
}
