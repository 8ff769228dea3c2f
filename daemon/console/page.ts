// What a page of the console is. pages/ has one file an area.
import type { Permission } from '../../src/core/api/permission.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { Config } from '../../src/core/config/config.ts';
import type { Api, Download } from './api.ts';
import type { Part } from './html.ts';

/** A request of a signed-in person. */
export interface Asked {
  api: Api;
  caller: Caller;
  app: App;
  config: Config;
  now: number;
  /** Time zone of the organization. */
  timezone: string;
  /** Path of the page, below `/console`. */
  path: string;
  /** Values of `:name` in the path of the page. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** Token that forms of the session carry. */
  formToken: string;
  may(permission: Permission): boolean;
}

/** Title and content of a page. */
export interface Titled {
  title: string;
  body: Part;
}

export interface View extends Titled {
  /** Status of the answer, 200 without it. */
  status?: number;
  /**
   * Way in which an open page follows changes: its content is exchanged, or it only says that there is news, so that
   * nothing moves under the cursor; `often` exchanges it every two seconds. Without it the page stands still.
   */
  live?: 'exchange' | 'announce' | 'often';
  /** Id of the only resource that the page shows; without it, the page follows all that it may show. */
  about?: string | undefined;
  /** The same as a command. */
  command?: string;
  /** The same as a request: method and path. */
  request?: string;
}

/** Fields of a posted form. */
export type Form = Readonly<Record<string, string>>;

/** Right to see or do something: a permission, a session of the operator, or none. */
export type Right = Permission | 'operator' | null;

/** Tells whether the session has a right. */
export function has({ caller, may }: Pick<Asked, 'caller' | 'may'>, right: Right): boolean {
  if (right === null) return true;
  return right === 'operator' ? caller.keyId === null : may(right);
}

export interface Action {
  needs: Right;
  /** Acts, and returns the path to go on to, or a page to show once. */
  run(asked: Asked, form: Form): Promise<string | View>;
}

export interface Page {
  /** Below `/console`, such as `/messages/:id`. */
  path: string;
  /** Label in the navigation; without it the page is reached from others. */
  label?: string;
  /** Right to see the page. */
  needs: Right;
  show(asked: Asked): Promise<View | Download>;
  /** Actions by the name that their buttons carry. */
  actions?: Readonly<Record<string, Action>>;
}

/** Returns the values of a path that fits a page; null if it does not. */
export function matchPath(page: Page, path: string): Record<string, string> | null {
  const wanted = page.path.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? '';
    if (part.startsWith(':')) {
      if (value === '') return null;
      params[part.slice(1)] = value;
    } else if (part !== value) return null;
  }
  return params;
}
