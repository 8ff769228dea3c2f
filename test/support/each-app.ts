// A fresh service for each test of a `describe`, and its HTTP face: their common set-up and end.
import { afterEach, beforeEach } from 'vitest';
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
