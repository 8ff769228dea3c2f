// NUL bytes in received mail, wherever a client may put one: the mail is accepted and readable on
// both stores, and its stored texts hold no NUL.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMessageRow, findRecipients } from '../../src/outbound/messages/queries.ts';
import { stores } from '../support/command.ts';
import { deliver, idIn, inbound, type SmtpService, smtpService } from './smtp-service.ts';

const inbox = 'inbox@sandbox.test';
const header = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\ntext\0 with NUL\r\n`;

const mails: Record<string, string> = {
  'the subject': header(['From: a@example.com', 'Subject: one\0two']),
  'an encoded word of the subject': header([
    'From: a@example.com',
    'Subject: =?utf-8?q?one=00two?=',
  ]),
  names: header(['From: "A\0da" <a@example.com>', 'To: =?utf-8?q?B=00ob?= <b@example.com>']),
  'an address': header([
    'From: a\0b@example.com',
    'To: c\0d@example.com',
    'Reply-To: e\0f@example.com',
  ]),
  'message ids': header([
    'From: a@example.com',
    'Message-ID: <a\0b@c>',
    'In-Reply-To: <d\0e@f>',
    'References: <g\0h@i>',
  ]),
  'an encoded address': header(['From: <"=?utf-8?q?a=00b?="@example.com>', 'Sender: x\0']),
};

describe.each(stores)('NUL in received mail, on %s', (store) => {
  let service: SmtpService;
  beforeEach(async () => {
    service = await smtpService({ store });
  });
  afterEach(() => service.close());

  async function expectStored(reply: string): Promise<void> {
    const { db } = service.app.store;
    const id = idIn(reply);
    const row = await findMessageRow(db, id);
    expect(row).toBeDefined();
    const texts = [row, await findRecipients(db, [id])];
    expect(JSON.stringify(texts)).not.toMatch(/\\u0000/);
    expect(await inbound(service.app, service.caller)).toHaveLength(1);
  }

  it.each(Object.entries(mails))('is replaced in %s', async (_where, mail) => {
    await expectStored(await deliver(await service.session(), inbox, mail));
  });

  it('is refused with 501 in an address or the name of the client', async () => {
    const session = await service.session();
    expect(await session.say('MAIL FROM:<a\0b@example.com>')).toMatch(/^501 /);
    await session.say('MAIL FROM:<a@example.com>');
    expect(await session.say('RCPT TO:<in\0box@sandbox.test>')).toMatch(/^5/);
    expect(await session.say('EHLO client\0.example')).toMatch(/^501 /);
  });
});
