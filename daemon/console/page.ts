// Definition of a page of the console. pages/ has a file for each area.
import { isBound, refusedPermission } from '../../src/access/keys/constraints.ts';
import type { Secret, Toast } from '../../src/access/sessions/after-action.ts';
import type { Strength } from '../../src/access/sessions/proofs.ts';
import type { Session } from '../../src/access/sessions/sessions.ts';
import type { Caller, Right } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { Config } from '../../src/core/config/config.ts';
import type { AskRoute } from '../http/faces.ts';
import type { Download, Refusal } from './api.ts';
import type { Part } from './html.ts';

/** A request of a signed-in person. */
export interface Asked {
  /** Calls a route as the caller of the session. Leaves out empty values of the query. */
  ask: AskRoute;
  /** For data that no route offers: sessions and persons. */
  app: App;
  session: Session;
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
  /** Draws the page again from the stored state. */
  drawn(): Promise<View | Download>;
  /** Action and value hashes of a refused form, while the page is drawn again (parts/seen.ts). */
  seen?: { action: string; text: string };
  /** Message about a refused form, drawn above the page. A bare page draws the message itself. */
  problem?: Part;
  /** Returns a text that cannot be guessed, such as for an idempotency key. */
  newToken(): string;
  /** Token that forms of the session carry. */
  formToken: string;
  /** Browser in words, such as "Firefox on Windows", and the IP address of the visitor. */
  visitor: { browser: string; address: string };
  /** Token by which the browser is recognized; null for a new browser. */
  browserToken: string | null;
  /** Returns the caller of a pasted key; null for an invalid key. */
  authenticate(key: string): Promise<Caller | null>;
  /** Tells whether the caller has this right at some path: pages offer only allowed actions. */
  may(right: Right): boolean;
}

/** Title and content of a page. */
export interface Titled {
  title: string;
  body: Part;
}

export interface View extends Titled {
  /** Heading in place of the title: a verdict in a sentence. */
  heading?: Part;
  /** Line below the title, in a lighter colour. */
  below?: Part;
  /** Buttons to the right of the title; a single button may be the primary button. */
  actions?: Part;
  /** Link to the page above; if left out, to the area of the page. */
  crumb?: Part;
  /** Whether the body fills the space beside the navigation, and has the heading in it. */
  isBare?: boolean;
  /** Status of the answer; 200 if left out. */
  status?: number;
  /** Refusal of the form or the filters: the fields show the typed values, with the faults. */
  refusal?: Refusal;
  /**
   * How an open page follows changes. `exchange` replaces the content. `announce` only reports
   * news, so that nothing moves under the cursor. `often` replaces the content every two seconds.
   * If left out, the page does not change.
   */
  live?: 'exchange' | 'announce' | 'often';
  /**
   * Id of the only resource that the page shows. If left out, the page follows everything that the
   * session may read.
   */
  about?: string | undefined;
  /** The command that does the same as the page. */
  command?: string;
  /** The request that does the same as the page: method and path. */
  request?: string;
}

/** Fields of a posted form. */
export type Form = Readonly<Record<string, string>>;

/**
 * Tells whether a caller has this right at some path. A key bound to mailboxes reaches only paths
 * of mailboxes.
 */
export function mayAsk(caller: Caller, right: Right): boolean {
  if (right === 'any') return true;
  if (right === 'operator') return caller.by.kind === 'operator';
  const isReached = !isBound(caller.constraints) || right.startsWith('mailboxes:');
  return isReached && refusedPermission(caller, right) === null;
}

/** The end of an action that changed something: a redirect leads the browser to a page. */
export interface Done extends Partial<Toast> {
  /** Path of the next page. */
  to: string;
  /** Shown once, and kept for ten minutes. */
  secret?: Secret;
}

/** The end of an action: a path to redirect to, the same with a toast or a secret, or a page. */
export type Outcome = string | Done | View;

export interface Action {
  needs: Right | null;
  /**
   * If set, the action needs a proof of the person from the last 15 minutes. The text follows
   * "Before you", such as `make this key`.
   */
  asks?: string;
  /** Destroys something for good: the page asks first (parts/confirm.ts). */
  destroys?: boolean;
  /** Runs the action. An action that changed something ends in a redirect. */
  run(asked: Asked, form: Form): Promise<Outcome>;
}

export interface Page {
  /** Path below `/console`, such as `/messages/:id`. */
  path: string;
  /** Right to see the page; null for a page of every session. */
  needs: Right | null;
  show(asked: Asked): Promise<View | Download>;
  /** Strength of proof that the actions need; if left out, the setting of the organization. */
  strengthOf?(asked: Asked): Promise<Strength>;
  /** Actions by the name in their buttons. */
  actions?: Readonly<Record<string, Action>>;
}

/** Returns the values of a path that matches the page; null if it does not match. */
export function matchPath(page: Pick<Page, 'path'>, path: string): Record<string, string> | null {
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
