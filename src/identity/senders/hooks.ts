// Hooks of senders: the mail that proves an address, and the look-up of an address's mailbox.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';

declare module '../../core/app.ts' {
  interface Hooks {
    /**
     * Queues the mail with the token that proves the address of a new sender, in the transaction
     * that creates the sender. @throws the errors of a send by the caller.
     */
    readonly askForProof: (app: App, trx: Db, caller: Caller, senderId: string) => Promise<void>;
    /** Returns the messages, among these ids, that reached no recipient. */
    readonly findLostMails: (db: Db, messageIds: readonly string[]) => Promise<Set<string>>;
    /** Returns the organization with the mailbox of an address (folded). */
    readonly findAddressHolder: (db: Db, address: string) => Promise<string | undefined>;
  }
}
