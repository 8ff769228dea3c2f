// Every action of every page, run without a service: which routes it asks, and how it ends.
import type { Action, Asked, Form, Outcome } from '../../daemon/console/page.ts';
import { pages } from '../../daemon/console/pages/pages.ts';
import type { Doorway } from '../../src/core/api/route.ts';

/** All actions, by path of the page and name. */
export const every = pages.flatMap((page) =>
  Object.entries(page.actions ?? {}).map(([name, action]) => ({
    name: `${page.path} ${name}`,
    action,
  })),
);

/** A value that has every field and every method, so that an action runs to its end. */
const anything: unknown = new Proxy(() => '', {
  get: (target, name) => {
    if (name === 'then') return undefined;
    if (name === Symbol.iterator) return () => [][Symbol.iterator]();
    if (name === Symbol.toPrimitive) return () => '1';
    return name in target ? Reflect.get(target, name) : anything;
  },
  apply: () => anything,
});

/** The routes that an action asked, and the end; null for an action that threw. */
export interface Ran {
  routes: string[];
  end: Outcome | null;
}

/** Runs an action without a service. */
export async function run(action: Action): Promise<Ran> {
  const routes: string[] = [];
  const ask = async ({ method, path }: Doorway) => {
    routes.push(`${method} ${path}`);
    return anything;
  };
  // A question gets the right name.
  const get = (_: object, name: string) => (name === 'typed' ? anything : '1');
  const given = new Proxy({}, { get, has: () => true }) as Form;
  const request = { ask, params: { id: 'x' }, query: {}, path: '/x', may: () => true, now: 0 };
  const end = await Promise.resolve(action.run(request as unknown as Asked, given)).catch(
    () => null,
  );
  return { routes, end };
}
