// Waits for a mail from outside in a mailbox, for agents (`messages_expect` of MCP). The subject is
// known once the mail is parsed, the thread a moment later.
import type { App } from '../../core/app.ts';
import { awaitMessage } from '../../outbound/messages/expecting/expect.ts';
import { findMessageRows } from '../../outbound/messages/queries.ts';
import { findPlaced } from './queries.ts';

export interface AwaitedInMailbox {
  mailboxId: string;
  /** RE2 pattern that a part of the subject matches, in any case. */
  subject?: string | undefined;
  /** Part of the address of the sender, in any case. */
  from?: string | undefined;
  withinMs: number;
}

/**
 * Returns message and thread of the newest match of the last minute, or else of the next match;
 * null without a match in time. Does not check whether the caller may read the mailbox.
 * @throws ValidationError for an invalid pattern; CapacityError if the parse worker is full.
 */
export async function awaitInMailbox(
  app: App,
  organizationId: string,
  { mailboxId, subject, from = '', withinMs }: AwaitedInMailbox,
): Promise<{ messageId: string; threadId: string } | null> {
  const { db } = app.store;
  const part = from.toLowerCase();
  const sift = async (ids: readonly string[]) => {
    const placed = new Map((await findPlaced(db, ids)).map((row) => [row.message_id, row]));
    const here = ids.filter((id) => placed.get(id)?.mailbox_id === mailboxId);
    const rows = await findMessageRows(db, here);
    const wanted = rows.filter((row) => row.from_email.toLowerCase().includes(part));
    return {
      wanted: new Set(wanted.map(({ id }) => id)),
      unknown: new Set(ids.filter((id) => !placed.has(id))),
    };
  };
  const awaited = { organizationId, direction: 'inbound', subject, withinMs, sift } as const;
  const messageId = await awaitMessage(app, awaited);
  const [found] = messageId === undefined ? [] : await findPlaced(db, [messageId]);
  return found ? { messageId: found.message_id, threadId: found.thread_id } : null;
}
