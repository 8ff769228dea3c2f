// Hooks that higher folders implement, because only they know mailboxes and installations.
import type { App } from '../core/app.ts';
import type { Db } from '../platform/store/db.ts';

declare module '../core/app.ts' {
  interface Hooks {
    /**
     * Returns the namespace of a mailbox of the organization; null for an unknown or deleted
     * mailbox.
     */
    readonly findNamespaceOf: (
      db: Db,
      organizationId: string,
      mailboxId: string,
    ) => Promise<string | null>;
    /**
     * Reads the stored mail of these messages of the organization, for bodies of
     * `mailbox.message.received`. Leaves out messages that are gone.
     */
    readonly readPostedMails: (
      app: App,
      organizationId: string,
      messageIds: readonly string[],
    ) => Promise<Map<string, object>>;
    /** Called in the transaction that disables the endpoint of an installation after failures. */
    readonly endpointDisabled: (
      app: App,
      trx: Db,
      of: { organizationId: string; installationId: string },
    ) => Promise<void>;
  }
}
