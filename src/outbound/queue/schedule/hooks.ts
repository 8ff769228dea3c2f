// Hook of scheduled mail: the mailbox from which a mail leaves.
import type { Db } from '../../../platform/store/db.ts';

declare module '../../../core/app.ts' {
  interface Hooks {
    /** Maps messages to the mailboxes of their threads; leaves out messages without a thread. */
    readonly mailboxesOfMail: (
      db: Db,
      messageIds: readonly string[],
    ) => Promise<Map<string, string>>;
  }
}
