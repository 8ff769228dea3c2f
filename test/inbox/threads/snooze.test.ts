// The end of a snooze, by the folder in which it finds its thread.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { wakeThreads } from '../../../src/inbox/threads/jobs.ts';
import { findThread, findThreadMessages } from '../../../src/inbox/threads/queries.ts';
import { eachApp } from '../../support/each-app.ts';
import { arrive } from './mails.ts';

describe('a thread after its snooze', () => {
  const test = eachApp();

  it.each([
    ['archive', 'inbox', 0],
    ['inbox', 'inbox', 0],
    ['spam', 'spam', 1],
    ['trash', 'trash', 1],
  ] as const)('moves from %s to %s', async (folder, then, isRead) => {
    const { app, clock } = test;
    const { db } = app.store;
    const [{ thread_id: id = '' } = {}] = await findThreadMessages(db, [await arrive(app)]);
    const until = clock.now() + 60_000;
    await app.store.write((trx) =>
      sql`update threads set folder = ${folder}, is_read = 1, snoozed_until = ${until}
        where id = ${id}`.execute(trx),
    );
    await clock.advance(59_999);
    expect(await wakeThreads(app)).toBe(0);
    await clock.advance(1);
    expect(await wakeThreads(app)).toBe(1);
    expect(await findThread(db, id)).toMatchObject({
      folder: then,
      is_read: isRead,
      snoozed_until: null,
    });
  });
});
