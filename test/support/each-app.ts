// A service for each test of a `describe`, or one for all of them, and its HTTP face: their common
// set-up and end.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type HttpApi, httpApi } from './http-client.ts';
import { standIn } from './stand-in.ts';
import { type TestApp, type TestAppOptions, testApp } from './test-app.ts';

/** Stands for the object of the running test. */
function current<T extends object>(one: () => T | undefined): T {
  return standIn(() => {
    const now = one();
    if (!now) throw new Error('there is a service within a test only');
    return now;
  });
}

/** Makes a fresh service for each test; returns a stand-in for the one of the running test. */
export function eachApp(options: TestAppOptions = {}): TestApp {
  let test: TestApp | undefined;
  beforeEach(async () => {
    test = await testApp(options);
  });
  afterEach(() => test?.close());
  return current(() => test);
}

/** Makes a fresh service with its HTTP face, which uses the owner's key. */
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
 * Makes one service with its HTTP face for all tests of a `describe`: for tests that start a
 * worker, whose start costs more than they do. Their names must differ.
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
