// Hooks of persons: the mails that warn them.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';

/**
 * Mails a person that the operator made a link for the person, or reset the ways to sign in, in the
 * transaction of the change. A link is mailed to the owners too.
 */
export type WarnPerson = (
  app: App,
  trx: Db,
  personId: string,
  change: 'link' | 'reset',
) => Promise<void>;

declare module '../../core/app.ts' {
  interface Hooks {
    readonly warnPerson: WarnPerson;
  }
}
