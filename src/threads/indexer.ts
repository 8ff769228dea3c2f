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
import { findContentBriefs } from '../messages/content-queries.ts';
import { findFoundTextStarts } from '../messages/projection-queries.ts';
import { findMessageRows, shareMessages } from '../messages/queries.ts';
import { createDueLoop } from '../store/due-loop.ts';
import {
  type DocumentWords,
  type FullTextDocument,
  mostCharacters,
  wordsOfDocument,
} from '../store/full-text/document.ts';
import { findThreadMessages } from './queries.ts';
import { insertDocuments, selectWaiting, takeWaiting } from './search-queries.ts';

/** Of one transaction: their texts, as far as they are read, are 13 MB at most. */
const batch = 16;
/** Of a question: more than these it does not wait for. */
const mostBeforeQuestion = 512;
const besideBurstMs = 100;
/** What has waited for so long waits for no burst any more. */
const patienceMs = 10_000;

/** Makes the first that wait findable, in one transaction; how many there were. */
async function indexSome(app: App): Promise<number> {
  const { store } = app;
  const waiting = await selectWaiting(store.db, batch);
  if (waiting.length === 0) return 0;
  const ids = waiting.map(({ message_id }) => message_id);
  const words = await readWords(app, ids);
  await store.write(async (trx) => {
    await shareMessages(trx, ids);
    const taken = await takeWaiting(trx, ids);
    await insertDocuments(
      trx,
      taken.flatMap(({ message_id: messageId, mailbox_id: mailboxId }) => {
        const found = words.get(messageId);
        return found === undefined ? [] : { messageId, mailboxId, words: found };
      }),
    );
  }, 'quiet');
  return waiting.length;
}

/** The words of these messages, made in the parse worker. */
async function readWords(app: App, ids: readonly string[]): Promise<Map<string, DocumentWords>> {
  const { db } = app.store;
  const messages = await findMessageRows(db, ids);
  const placed = await findThreadMessages(db, ids);
  const hasAttachment = new Map(placed.map((row) => [row.message_id, row.has_attachments === 1]));
  const contentIds = messages.flatMap(({ content_id }) => content_id ?? []);
  const sent = await findContentBriefs(db, contentIds, mostCharacters);
  const received = await findFoundTextStarts(db, ids, mostCharacters);
  const documents = messages.map(({ id, content_id, subject, from_email, from_name }) => ({
    subject: subject ?? '',
    from: [from_email, from_name].filter((one) => one !== null),
    text: sent.get(content_id ?? '')?.text ?? received.get(id) ?? '',
    hasAttachment: hasAttachment.get(id) ?? false,
  }));
  const words = await Promise.all(documents.map((one) => wordsOf(app, one)));
  return new Map(messages.map(({ id }, index) => [id, words[index] ?? '']));
}

/** A text that its worker does not come to the end of is found by its subject and its author alone. */
async function wordsOf({ mime }: App, document: FullTextDocument): Promise<DocumentWords> {
  try {
    return await mime.readWords(document);
  } catch (error) {
    if (error instanceof CapacityError) throw error;
    return wordsOfDocument({ ...document, text: '' });
  }
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
