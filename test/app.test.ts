// The constructor of the app (src/core/app.ts).
import { expectTypeOf, it } from 'vitest';
import type { Hooks, openApp } from '../src/core/app.ts';

it('requires every hook of the service', () => {
  expectTypeOf<Parameters<typeof openApp>[2]>().toEqualTypeOf<Hooks>();
  expectTypeOf<Required<Hooks>>().toEqualTypeOf<Hooks>();
});
