// A thread of the largest mails that strangers can send: its list reads and shows a part of each.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ThreadMessage } from '../../../src/inbox/threads/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { arrive } from './mails.ts';

describe.each(stores)('the messages of a thread of large mails, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let path: string;
  const references = ['first@example.com'];

  beforeEach(async () => {
    await arrive(test.app, { id: 'first@example.com' });
    const { rows } = await sql<{ id: string; mailbox_id: string }>`select id, mailbox_id
      from threads`.execute(test.app.store.db);
    path = `/v1/mailboxes/${rows[0]?.mailbox_id}/threads/${rows[0]?.id}/messages`;
  });

  const list = async (query = '') =>
    (await api.get<{ items: ThreadMessage[] }>(`${path}${query}`)).body.items;
  /** Changes the text of every message but the first. */
  const setText = (text: string) =>
    test.app.store.write((trx) =>
      sql`update email_projections set new_content = ${text}, text = ${text}, html = ${text}
        where message_id not in (select min(message_id) from email_projections)`.execute(trx),
    );

  it('have their text cut at 64 KB between two characters', async () => {
    await arrive(test.app, { references });
    await setText(`x${'東'.repeat(30_000)}`);
    const [first, second] = await list();
    expect([first?.newContent, first?.newContentTruncated]).toEqual(['Hello', false]);
    expect(second?.newContentTruncated).toBe(true);
    expect(second?.newContent).toBe(`x${'東'.repeat(21_845)}`);
  });

  it('have a text of 64 KB in full', async () => {
    await arrive(test.app, { references });
    await setText('x'.repeat(65_536));
    expect((await list())[1]).toMatchObject({
      newContent: 'x'.repeat(65_536),
      newContentTruncated: false,
    });
  });

  it('take 4 MB of a page, and the others are marked as cut', async () => {
    const mails = Array.from({ length: 99 }, (_, n) => ({ references, text: `mail ${n}` }));
    for (const mail of mails) await arrive(test.app, mail);
    await setText('x'.repeat(2_000_000));
    const items = await list('?limit=100');
    expect(items).toHaveLength(100);
    const bytes = items.map(({ newContent }) => Buffer.byteLength(newContent ?? ''));
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBe(4 * 1024 * 1024);
    expect(items.slice(1).every(({ newContentTruncated }) => newContentTruncated)).toBe(true);
  });
});
