// What mailboxes send is made findable by its words behind the commit that accepts it, so that an answer is
// no slower than any send. What comes in is indexed with its thread (take-in.ts), as nobody waits for that.
//
//   state   | by                                                    | to
//   --------+-------------------------------------------------------+--------
//   (none)  | the transaction that accepts the mail                 | waiting
//   waiting | a daemon, soon after; not within a burst, for 10 s    | found
//   waiting | a question for words (`q`), in any process            | found
//   any     | its message is deleted                                | (none)
import type { App } from '../app.ts';
import { CapacityError } from '../errors.ts';
import { findContents } from '../messages/content-queries.ts';
import { findMessageRows, type MessageRow, shareMessages } from '../messages/queries.ts';
import type { Db } from '../store/db.ts';
import { createDueLoop } from '../store/due-loop.ts';
import { findThreadMessages } from './queries.ts';
import {
  type Findable,
  insertDocuments,
  selectWaiting,
  takeWaiting,
  type WaitingRow,
} from './search-queries.ts';

/** Of one transaction: texts of the longest kind take 5 ms each. */
const batch = 16;
/** Of a question: more than these it does not wait for. */
const mostBeforeQuestion = 512;
const besideBurstMs = 100;
/** What has waited for so long waits for no burst any more. */
const patienceMs = 10_000;

/** Makes the first that wait findable, in one transaction; how many there were. */
async function indexSome({ store }: App): Promise<number> {
  const waiting = await selectWaiting(store.db, batch);
  if (waiting.length === 0) return 0;
  const ids = waiting.map(({ message_id }) => message_id);
  await store.write(async (trx) => {
    await shareMessages(trx, ids);
    const taken = await takeWaiting(trx, ids);
    await insertDocuments(trx, await findablesOf(trx, taken));
  }, 'quiet');
  return waiting.length;
}

async function findablesOf(trx: Db, taken: readonly WaitingRow[]): Promise<Findable[]> {
  const ids = taken.map(({ message_id }) => message_id);
  const messages = new Map((await findMessageRows(trx, ids)).map((row) => [row.id, row]));
  const contentIds = [...messages.values()].flatMap(({ content_id }) => content_id ?? []);
  const contents = new Map((await findContents(trx, contentIds)).map((row) => [row.id, row]));
  const placed = await findThreadMessages(trx, ids);
  const hasAttachment = new Map(placed.map((row) => [row.message_id, row.has_attachments === 1]));
  return taken.flatMap(({ message_id, mailbox_id: mailboxId }) => {
    const message = messages.get(message_id);
    if (!message) return [];
    const text = contents.get(message.content_id ?? '')?.text ?? null;
    return findableOf(message, mailboxId, text, hasAttachment.get(message_id) ?? false);
  });
}

function findableOf(
  { id, subject, from_email, from_name }: MessageRow,
  mailboxId: string,
  text: string | null,
  hasAttachment: boolean,
): Findable {
  return { mailboxId, messageId: id, subject, from: [from_email, from_name], text, hasAttachment };
}

/** For who asks for words: what was sent before is found, unless the store cannot be written. */
export async function indexWaiting(app: App): Promise<void> {
  try {
    for (let done = 0; done < mostBeforeQuestion; done += batch) {
      if ((await indexSome(app)) < batch) return;
    }
  } catch (error) {
    if (!(error instanceof CapacityError)) throw error;
  }
}

export interface ThreadIndexer {
  start(): void;
  stop(): Promise<void>;
}

/** The indexer of one daemon; `isPressing`: a burst of sends or mails comes in at this moment. */
export function createThreadIndexer(
  app: App,
  { isPressing }: { isPressing(): boolean },
): ThreadIndexer {
  let pressedSince: number | null = null;
  const step = async (): Promise<number> => {
    const now = app.clock.elapsed();
    pressedSince = isPressing() ? (pressedSince ?? now) : null;
    if (pressedSince !== null && now - pressedSince < patienceMs) {
      return app.clock.now() + besideBurstMs;
    }
    return (await indexSome(app)) > 0 ? 0 : Number.POSITIVE_INFINITY;
  };
  const trouble = 'what was sent from mailboxes cannot be made findable now: trying again';
  const loop = createDueLoop(app, { step, trouble });
  return { start: () => loop.start(), stop: () => loop.stop() };
}
