// The received mail in the posted body of `mailbox.message.received`: text, verdicts and names of
// files, read at the first attempt and gone with the mail.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ReceivedEmail } from '../../src/identity/mailboxes/schema.ts';
import { removeContent } from '../../src/outbound/messages/contents/content-removal.ts';
import { deleteMessage } from '../../src/outbound/messages/messages.ts';
import { linkKeeper } from '../../src/outbound/tracking/kept-links.ts';
import { erasePosted } from '../../src/webhooks/deliveries/erase.ts';
import { bodyOf, shownBody } from '../../src/webhooks/posting/body.ts';
import { arrive, arriveRaw, inbox } from '../inbox/threads/mails.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';

const type = 'mailbox.message.received';
const lines = (...list: string[]) => Buffer.from(list.join('\r\n'));
const mailWithFile = lines(
  'From: Ada <ada@example.com>',
  `To: ${inbox}`,
  'Subject: Your invoice',
  'Message-ID: <invoice@example.com>',
  'Content-Type: multipart/mixed; boundary=part',
  '',
  '--part',
  'Content-Type: text/plain',
  '',
  'The code is 482913.',
  '--part',
  'Content-Type: application/pdf',
  'Content-Disposition: attachment; filename=invoice.pdf',
  '',
  '%PDF-',
  '--part--',
  '',
);

describe.each(stores)('the posted body of a received mail on %s', (store) => {
  const { test, api } = eachApi({ store });

  /** Returns the event of the newest received mail as the webhooks queue it. */
  async function sourceOf() {
    const { body } = await api.get<{ items: { id: string }[] }>(`/v1/events?type=${type}&limit=1`);
    const event_id = body.items[0]?.id ?? '';
    const { organizationId: organization_id } = test.caller;
    return { organization_id, event_id, event_type: type, message_id: null, created_at: 1 };
  }
  async function posted() {
    const { data } = JSON.parse(await bodyOf(test.app, await sourceOf()));
    return data as { message: { id: string }; email?: ReceivedEmail };
  }

  it('has the text, the verdicts and the names of the files', async () => {
    const id = await arriveRaw(test.app, mailWithFile, inbox);
    const { message, email } = await posted();
    expect(message.id).toBe(id);
    expect(email).toEqual({
      ...{ text: expect.stringMatching(/^The code is 482913\.\s*$/), textTruncated: false },
      ...{ spfVerdict: expect.anything(), dkimVerdict: expect.anything() },
      ...{ dmarcVerdict: expect.anything(), arcVerdict: expect.anything() },
      attachments: [{ n: 1, filename: 'invoice.pdf', contentType: 'application/pdf', size: 5 }],
    });
    const { body } = await api.get<ReceivedEmail>(`/v1/messages/${id}/email`);
    const { spfVerdict, dkimVerdict, dmarcVerdict, arcVerdict, text } = body;
    expect(email).toMatchObject({ spfVerdict, dkimVerdict, dmarcVerdict, arcVerdict, text });
  });

  it('cuts the text at 64 KB, between characters', async () => {
    await arrive(test.app, { text: `a${'ä'.repeat(60_000)}` });
    const { email } = await posted();
    expect(email?.textTruncated).toBe(true);
    expect(email?.text).toBe(`a${'ä'.repeat(32_767)}`);
  });

  it('is not copied into the event, and the log and listening agree on the rest', async () => {
    await arrive(test.app, { text: 'A secret word' });
    const { rows } = await sql<{ data: string }>`select data from resource_events
      where event_type = ${type}`.execute(test.app.store.db);
    expect(rows.map(({ data }) => data.includes('secret word'))).toEqual([false]);
    const { body } = await api.get<{ items: { data: object }[] }>(`/v1/events?type=${type}`);
    const { email, ...rest } = await posted();
    expect(body.items[0]?.data).toEqual(rest);
    expect(email?.text).toContain('secret word');
    expect(await shownBody(test.app, await sourceOf())).toContain('secret word');
  });

  it('says nothing of the mail before a first attempt, once the message is deleted', async () => {
    const id = await arrive(test.app);
    await deleteMessage(test.app, test.operator, id);
    expect((await posted()).email).toBeUndefined();
  });

  it('loses the text with the content of the message, and all of it with the message', async () => {
    const { app } = test;
    const id = await arrive(app, { text: 'A secret word' });
    expect((await posted()).email?.text).toContain('secret word');
    const urls = await linkKeeper.read(app, id);
    await app.store.write((trx) => removeContent(app, trx, id, { keeper: linkKeeper, urls }));
    const { email } = await posted();
    expect(email).toMatchObject({ text: null, textTruncated: false, attachments: [] });
    const { event_id, organization_id: organizationId } = await sourceOf();
    const erased = { id: event_id, type, timestamp: 1, organizationId, data: { deleted: true } };
    await app.store.write((trx) => erasePosted(trx, erased, 10));
    expect(await posted()).toEqual({ deleted: true });
  });
});
