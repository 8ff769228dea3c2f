// Mails threaded in one transaction, with the result of separate transactions.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readProjection } from '../../../src/outbound/messages/contents/projection.ts';
import { findMessageRow } from '../../../src/outbound/messages/queries.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { countsOf, type Mail, takeMail } from './mails.ts';

describe.each(stores)('mails of one transaction, on %s', (store) => {
  const test = eachApp({ store });

  /** Receives and parses a mail without threading it. */
  async function parsed(mail: Mail): Promise<string> {
    test.clock.set(test.clock.now() + 1_000);
    const { app } = test;
    const [id = ''] = await takeMail(app, mail);
    const message = await findMessageRow(app.store.db, id);
    if (message) await readProjection(app, message);
    return id;
  }

  function putIn(...ids: string[]): Promise<void> {
    const { app } = test;
    const arrived = ids.map((id) => ({ id, found: null }));
    return app.store.write((trx) => app.hooks.threads.takeIn(app, trx, arrived));
  }

  async function threadOf(): Promise<Map<string, string>> {
    const { rows } = await sql<{ id: string; thread: string }>`
      select message_id as id, thread_id as thread from thread_messages`.execute(test.app.store.db);
    return new Map(rows.map(({ id, thread }) => [id, thread]));
  }

  it('are counted once each in the thread that they join by other names, late ones too', async () => {
    const late = await parsed({ subject: 'Late', inReplyTo: 'one-a@x' });
    const first = await parsed({ subject: 'First', id: 'one-a@x', references: ['one-b@x'] });
    await putIn(first);
    const next = await parsed({ subject: 'Next', inReplyTo: 'one-b@x' });
    await putIn(late, next);
    const { said, counted } = await countsOf(test.app);
    expect(said).toEqual(counted);
    const threads = await threadOf();
    expect(new Set([late, first, next].map((id) => threads.get(id))).size).toBe(1);
  });

  it('are published with their final thread when one of them merges two', async () => {
    const one = await parsed({ subject: 'One', id: 'two-a@x' });
    const other = await parsed({ subject: 'Other', id: 'two-b@x', references: ['two-c@x'] });
    await putIn(one, other);
    const both = await parsed({ subject: 'Both', references: ['two-a@x', 'two-b@x'] });
    const answer = await parsed({ subject: 'Answer', inReplyTo: 'two-c@x' });
    const alone = await parsed({ subject: 'Alone' });
    await putIn(both, answer, alone);
    const threads = await threadOf();
    expect(threads.get(answer)).toBe(threads.get(one));
    expect(new Set(threads.values()).size).toBeGreaterThan(1);
    const { rows } = await sql<{ data: string }>`select data from resource_events
      where event_type = 'mailbox.message.received'`.execute(test.app.store.db);
    const told = rows.map(
      ({ data }) => JSON.parse(data) as { threadId: string; message: { id: string } },
    );
    const ofThese = told.filter(({ message }) => [both, answer, alone].includes(message.id));
    expect(ofThese).toHaveLength(3);
    const threadsTold = new Map(ofThese.map(({ message, threadId }) => [message.id, threadId]));
    expect(threadsTold).toEqual(new Map([both, answer, alone].map((id) => [id, threads.get(id)])));
  });

  it('are in one thread when one answers the other', async () => {
    const ids = [
      await parsed({ subject: 'Q', id: 'three-a@x' }),
      await parsed({ subject: 'R', id: 'three-b@x', inReplyTo: 'three-a@x' }),
      await parsed({ subject: 'S', inReplyTo: 'three-b@x' }),
    ];
    await putIn(...ids);
    const threads = await threadOf();
    expect(new Set(ids.map((id) => threads.get(id))).size).toBe(1);
    const { said, counted } = await countsOf(test.app);
    expect(said).toEqual(counted);
  });
});
