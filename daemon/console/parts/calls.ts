// Actions that call a route, then lead to a page. An action needs the right that the route needs.
import type { Doorway } from '../../../src/core/api/route.ts';
import type { Action, Asked, Form } from '../page.ts';

interface Calling extends Pick<Action, 'asks' | 'destroys'> {
  /** Returns the body of the request. */
  body?(given: Form): object;
  /** Returns parameters beside those of the page. */
  params?(given: Form): Readonly<Record<string, string | undefined>>;
  /** Path of the next page, below `/console`; the same page if left out. */
  to?: string | ((asked: Asked) => string);
  said?: string | ((given: Form) => string);
  /** Action of this page that undoes this action, and the names of the fields that it needs. */
  undo?: readonly [action: string, ...fields: string[]];
}

/** Returns an action that calls a route. */
export function calls(way: Doorway, calling: Calling = {}): Action {
  const { body, params, to, said, undo, ...more } = calling;
  const undoing = (path: string, given: Form) => {
    const [action, ...names] = undo ?? [];
    const fields = Object.fromEntries(names.map((name) => [name, given[name] ?? '']));
    return action !== undefined && { undo: { path, action, fields } };
  };
  return {
    needs: way.permission,
    ...more,
    async run(asked, given) {
      const values = way.params && { ...asked.params, ...params?.(given) };
      await asked.ask(way, { ...(values && { params: values }), body: body?.(given) });
      const path = typeof to === 'function' ? to(asked) : (to ?? asked.path);
      const words = typeof said === 'function' ? said(given) : said;
      return {
        to: `/console${path}`,
        ...(words !== undefined && { said: words }),
        ...undoing(asked.path, given),
      };
    },
  };
}
