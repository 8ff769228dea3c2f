// Mail that a mailbox sends is found by its words, at no cost for the accept: a daemon indexes it
// soon after, or the first search does at once.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendNew } from '../../../src/inbox/replies/answers.ts';
import { createThreadIndexer, indexWaiting } from '../../../src/inbox/threads/indexer.ts';
import { findDocuments } from '../../../src/inbox/threads/search-queries.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { parseQuery } from '../../../src/platform/full-text/query.ts';
import type { Db } from '../../../src/platform/store/db.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { mailboxOf, type ThreadApi, threadsOver } from './mails.ts';

describe.each(bothStores)('the search for sent mail of a mailbox, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let threads: ThreadApi;
  let mailboxId: string;
  beforeEach(async () => {
    threads = await threadsOver(test.app, api);
    mailboxId = await mailboxOf(test.app);
  });

  const send = (text: string, more: object = {}) =>
    sendNew(
      test.app,
      test.operator,
      mailboxId,
      { to: ['bo@example.com'], subject: 'News', text, ...more },
      null,
    );
  const count = async (
    table: 'thread_search' | 'thread_search_waiting',
    db: Db = test.app.store.db,
  ) => {
    const { rows } = await sql<{
      n: number;
    }>`select count(*) as n from ${sql.table(table)}`.execute(db);
    return Number(rows[0]?.n);
  };
  const found = async (q: string) =>
    (await threads.list(`?q=${encodeURIComponent(q)}`)).items.length;

  it('finds a mail queued at its acceptance', async () => {
    const attachments = [{ filename: 'plan.txt', content: 'cGxhbg==' }];
    await send('an apple', { attachments });
    await send('', { text: undefined, html: '<p>a <b>pear</b></p>' });
    expect([await count('thread_search'), await count('thread_search_waiting')]).toEqual([0, 2]);
    expect(await found('apple')).toBe(1);
    expect([await count('thread_search'), await count('thread_search_waiting')]).toEqual([2, 0]);
    expect(await found('pear subject:news')).toBe(1);
    expect(await found('has:attachment')).toBe(1);
    expect(await found('from:inbox@sandbox.test')).toBe(2);
    expect(await found('plum')).toBe(0);
  });

  it('finds mail indexed by a daemon over several transactions', async () => {
    for (let index = 0; index < 40; index++) await send(`apple ${index}`);
    const indexer = createThreadIndexer(test.app, { isPressing: () => false });
    indexer.start();
    await expect.poll(() => count('thread_search_waiting'), { timeout: 20_000 }).toBe(0);
    await indexer.stop();
    const ids = await findDocuments(test.app.store.db, mailboxId, parseQuery('apple'), 100);
    expect(ids).toHaveLength(40);
  });

  it('uses the parse worker for the words of a text', async () => {
    // Each character expands to 18.
    await send('\ufdfa'.repeat(200_000));
    const from = startWork();
    await indexWaiting(test.app);
    expect(workedMs(from)).toBeLessThan(300);
    expect(await count('thread_search')).toBe(1);
  });

  it('gives way to a burst for ten seconds', async () => {
    await send('an apple');
    const indexer = createThreadIndexer(test.app, { isPressing: () => true });
    indexer.start();
    await test.clock.advance(9_000);
    expect(await count('thread_search_waiting')).toBe(1);
    await test.clock.advance(2_000);
    await expect.poll(() => count('thread_search_waiting'), { timeout: 20_000 }).toBe(0);
    await indexer.stop();
  });

  it('leaves nothing of mail deleted meanwhile', async () => {
    const { messageId } = await send('an apple');
    await send('a pear');
    await deleteMessage(test.app, test.operator, messageId ?? '');
    expect(await count('thread_search_waiting')).toBe(1);
    expect([await found('apple'), await found('pear')]).toEqual([0, 1]);
  });

  it('indexes each mail once with several processes', async () => {
    for (let index = 0; index < 20; index++) await send(`apple ${index}`);
    const others = [await test.another(), await test.another()];
    await Promise.all([test.app, ...others].map(indexWaiting));
    expect([await count('thread_search'), await count('thread_search_waiting')]).toEqual([20, 0]);
  });

  it('finds the earlier mail while the store cannot be written', async () => {
    await send('an apple');
    expect(await found('apple')).toBe(1);
    await send('an apple too');
    const { write } = test.app.store;
    Object.assign(test.app.store, { write: () => Promise.reject(new CapacityError('full', 1)) });
    expect(await found('apple')).toBe(1);
    Object.assign(test.app.store, { write });
    expect(await found('apple')).toBe(2);
  });
});
