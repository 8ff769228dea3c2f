// Mail that a mailbox sends, in its thread.
import { beforeEach, describe, expect, it } from 'vitest';
import { threadSent } from '../../../src/inbox/threads/sent.ts';
import { findMessages } from '../../../src/outbound/messages/messages.ts';
import { findMessageRow, findRecipients } from '../../../src/outbound/messages/queries.ts';
import { payload, send } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { arrive, countsOf, mailboxOf, type ThreadApi, threadsOver } from './mails.ts';

describe.each(stores)('mail that a mailbox sends, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let threads: ThreadApi;
  let mailboxId: string;
  beforeEach(async () => {
    threads = await threadsOver(test.app, api);
    mailboxId = await mailboxOf(test.app);
  });

  /**
   * Sends a message and puts it into the thread; returns the id of the thread, and its Message-ID.
   */
  async function sent(threadId: string | null, text: string) {
    const { app, caller } = test;
    const { id } = await send(api, payload({ subject: 'From us', text }));
    return app.store.write(async (trx) => {
      const message = await findMessageRow(trx, id);
      const recipients = await findRecipients(trx, [id]);
      const presented = (await findMessages(trx, caller.organizationId, [id])).get(id);
      if (!message || !presented) throw new Error('it is not there');
      const mail = { mailboxId, threadId, message, recipients, presented, text };
      const [into = ''] = await threadSent(app, trx, [{ ...mail, hasAttachments: false }]);
      return { threadId: into, messageId: message.message_id_header.slice(1, -1), id };
    });
  }

  it('begins a thread in sent, which an answer moves to inbox', async () => {
    const { threadId, messageId } = await sent(null, 'an apple');
    const [thread] = (await threads.list()).items;
    expect(thread).toMatchObject({
      ...{ id: threadId, subject: 'From us', folder: 'sent', read: true, preview: 'an apple' },
      ...{ messageCount: 1, from: { address: expect.stringContaining('@') } },
    });
    const other = `${messageId.split('@')[0]}@rewritten.example`;
    await arrive(test.app, { subject: 'An answer', inReplyTo: other, text: 'thanks' });
    expect((await threads.list()).items).toMatchObject([
      { id: threadId, folder: 'inbox', read: false, preview: 'thanks', messageCount: 2 },
    ]);
    const { items } = await threads.messages(threadId);
    expect(items.map(({ kind, newContent }) => [kind, newContent])).toEqual([
      ['sent', 'an apple'],
      ['person', 'thanks'],
    ]);
    expect((await threads.list('?q=apple')).items).toHaveLength(1);
  });

  it('joins the thread that it answers, names the last sender, and is published', async () => {
    await arrive(test.app, { id: 'a@x', text: 'a question' });
    const [asked] = (await threads.list()).items;
    await test.clock.advance(1_000);
    const { id } = await sent(asked?.id ?? null, 'an answer');
    expect((await threads.list()).items).toMatchObject([
      {
        ...{ id: asked?.id, folder: 'inbox', messageCount: 2, preview: 'an answer' },
        ...{ from: { address: 'ada@example.com' }, lastActivityAt: '2026-01-05T12:00:01.000Z' },
      },
    ]);
    const { body } = await api.get<{ items: unknown[] }>('/v1/events?type=mailbox.message.sent');
    expect(body.items).toMatchObject([
      { data: { mailboxId, threadId: asked?.id, message: { id } } },
    ]);
    const { said, counted } = await countsOf(test.app);
    expect(said).toEqual(counted);
  });

  it('is refused for a thread of another mailbox', async () => {
    await expect(sent('thread_06dq2k0qz8h3v5m1r9t4w7xy', 'x')).rejects.toMatchObject({
      _tag: 'ResourceNotFoundError',
    });
  });
});
