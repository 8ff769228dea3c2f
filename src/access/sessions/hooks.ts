// Hooks of persons: the mails that warn them.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';

/**
 * Warns a person by mail that the operator made a link that signs in as this person, or reset the
 * ways to sign in. Runs in the transaction of the change. The owners get the warning of a link too.
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
