// Indexes the words of mail from mailboxes after the commit that accepts it, so that an answer
// takes no longer than any other send. Received mail is indexed with the thread
// (take-in.ts): no client waits for that transaction.
//
//   state   | by                                                    | to
//   --------+-------------------------------------------------------+--------
//   (none)  | the transaction that accepts the mail                 | waiting
//   waiting | a daemon, soon after; in a burst after 10 s           | found
//   waiting | a full-text search (`q`), in any process              | found
//   waiting | an error that comes again with the message alone      | (none), as the log says
//   any     | the message is deleted                                | (none)
import type { App } from '../../core/app.ts';
import { findContentBriefs } from '../../outbound/messages/contents/content-queries.ts';
import { findFoundTextStarts } from '../../outbound/messages/contents/projection-queries.ts';
import { findMessageRows, shareMessages } from '../../outbound/messages/queries.ts';
import { CapacityError } from '../../platform/errors.ts';
import {
  type DocumentWords,
  type FullTextDocument,
  mostCharacters,
  wordsOfDocument,
} from '../../platform/full-text/document.ts';
import { createDueLoop, type Pause, usualRestMs } from '../../platform/store/changes/due-loop.ts';
import { togetherOrAlone } from '../../platform/store/rows/each-alone.ts';
import { findThreadMessages } from './queries.ts';
import { insertDocuments, selectWaiting, takeWaiting } from './search-queries.ts';

/** Most messages in a transaction; at most 13 MB of their text are read. */
const batch = 16;
/** Most waiting messages that a search indexes first. It may then miss the remaining messages. */
const mostBeforeQuestion = 512;
const besideBurstMs = 100;
/** Time after which a waiting message is indexed even during a burst. */
const patienceMs = 10_000;

/** Indexes the oldest waiting messages in a single transaction. Returns their count. */
async function indexSome(app: App): Promise<number> {
  const { store, log } = app;
  const waiting = await selectWaiting(store.db, batch);
  if (waiting.length === 0) return 0;
  const ids = waiting.map(({ message_id }) => message_id);
  await togetherOrAlone(
    ids,
    (some) => index(app, some),
    async (messageId, error) => {
      log.error({ err: error, messageId }, 'a mail cannot be added to the search: it is left out');
      await store.write((trx) => takeWaiting(trx, [messageId]), 'quiet');
    },
  );
  return waiting.length;
}

async function index(app: App, ids: readonly string[]): Promise<void> {
  const words = await readWords(app, ids);
  await app.store.write(async (trx) => {
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
}

/** Extracts the words of these messages in the parse worker. */
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

/** Returns the words of a document; of subject and author only if the worker fails. */
async function wordsOf({ mime }: App, document: FullTextDocument): Promise<DocumentWords> {
  try {
    return await mime.readWords(document);
  } catch (error) {
    if (error instanceof CapacityError) throw error;
    return wordsOfDocument({ ...document, text: '' });
  }
}

/**
 * Indexes waiting messages before a search, so that the search finds mail sent earlier. Ignores a
 * CapacityError: the search then misses such mail.
 */
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

/**
 * Creates the indexer of a daemon. `isPressing` returns whether a burst of sends or mails comes
 * in now.
 */
export function createThreadIndexer(
  app: App,
  { isPressing }: { isPressing(): boolean },
): ThreadIndexer {
  let pressedSince: number | null = null;
  const step = async (): Promise<number | Pause> => {
    const now = app.clock.elapsed();
    pressedSince = isPressing() ? (pressedSince ?? now) : null;
    if (pressedSince !== null && now - pressedSince < patienceMs) {
      return { pauseMs: besideBurstMs };
    }
    return (await indexSome(app)) > 0 ? 0 : Number.POSITIVE_INFINITY;
  };
  const trouble = 'sent mail of mailboxes cannot be added to the search now: trying again';
  const loop = createDueLoop(app, { name: 'thread indexer', step, trouble, restMs: usualRestMs });
  return { start: () => loop.start(), stop: () => loop.stop() };
}
