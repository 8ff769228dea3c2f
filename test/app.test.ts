// The constructor of the app (src/app.ts).
import { expectTypeOf, it } from 'vitest';
import type { Hooks, openApp } from '../src/app.ts';

it('requires every hook of the service', () => {
  expectTypeOf<Parameters<typeof openApp>[2]>().toEqualTypeOf<Hooks>();
  expectTypeOf<Required<Hooks>>().toEqualTypeOf<Hooks>();
});
