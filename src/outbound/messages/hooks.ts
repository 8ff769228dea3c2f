// Hooks of messages: the threads of mailboxes.
import type { App } from '../../core/app.ts';
import type { MessagePlace } from '../../history/erasures/request.ts';
import type { Db } from '../../platform/store/db.ts';

export interface ThreadHooks {
  /**
   * Puts parsed mail into threads, in the transaction that stores its content; `found` is null if
   * the content was stored before. Skips mail that is in a thread already or belongs to no mailbox.
   */
  takeIn(app: App, trx: Db, parsed: readonly { id: string; found: object | null }[]): Promise<void>;
  /** Returns how many messages precede this message in the thread; null if it is in none. */
  positionOf(db: Db, messageId: string): Promise<number | null>;
  /**
   * Takes a message out of the thread, and deletes drafts that answer the message. Deletes a thread
   * without messages and drafts. Returns null if the message had no thread.
   */
  forget(app: App, trx: Db, messageId: string): Promise<MessagePlace | null>;
  /**
   * Removes the text of a message from the search, the preview from the thread, and text and files
   * from the body that webhooks post for the arrival of the mail.
   */
  forgetText(app: App, trx: Db, messageId: string): Promise<void>;
}

declare module '../../core/app.ts' {
  interface Hooks {
    readonly threads: ThreadHooks;
  }
}
