// Definition of a page of the console. pages/ has a file for each area.
import { isBound, refusedPermission } from '../../src/access/keys/constraints.ts';
import type { Caller, Right } from '../../src/core/api/route.ts';
import type { Config } from '../../src/core/config/config.ts';
import type { AskRoute } from '../http/faces.ts';
import type { Download } from './api.ts';
import type { Part } from './html.ts';

/** A request of a signed-in person. */
export interface Asked {
  /** Asks as the caller of the session. Empty values of the query are left out. */
  ask: AskRoute;
  caller: Caller;
  config: Config;
  now: number;
  /** Time zone of the organization. */
  timezone: string;
  /** Path of the page, below `/console`. */
  path: string;
  /** Values of `:name` in the path of the page. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** Returns a text that nobody can guess, such as an idempotency key. */
  newToken(): string;
  /** Token that forms of the session carry. */
  formToken: string;
  /** Tells whether the door would let the session in somewhere, so that pages offer only that. */
  may(right: Right): boolean;
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
   * Way in which an open page follows changes: the content is exchanged, or it only says that there
   * is news, so that nothing moves under the cursor; `often` exchanges it every two seconds.
   * Without it the page stands still.
   */
  live?: 'exchange' | 'announce' | 'often';
  /**
   * Id of the only resource that the page shows; without it, the page follows all that it may show.
   */
  about?: string | undefined;
  /** The same as a command. */
  command?: string;
  /** The same as a request: method and path. */
  request?: string;
}

/** Fields of a posted form. */
export type Form = Readonly<Record<string, string>>;

/**
 * Tells whether the door lets a caller in at some path with this right. A bound key reaches
 * mailboxes alone.
 */
export function mayAsk(caller: Caller, right: Right): boolean {
  if (right === 'operator') return caller.keyId === null;
  const isReached = !isBound(caller.constraints) || right.startsWith('mailboxes:');
  return isReached && refusedPermission(caller, right) === null;
}

export interface Action {
  needs: Right | null;
  /** Acts, and returns the path to go on to, or a page to show once. */
  run(asked: Asked, form: Form): Promise<string | View>;
}

export interface Page {
  /** Below `/console`, such as `/messages/:id`. */
  path: string;
  /** Label in the navigation; without it the page is reached from other pages. */
  label?: string;
  /** Right to see the page; null for a page of every session. */
  needs: Right | null;
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
