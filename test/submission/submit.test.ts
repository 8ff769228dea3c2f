// A mail submitted by SMTP is an ordinary send with unchanged MIME.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBlob } from '../../src/core/blobs/blobs.ts';
import { listDomains } from '../../src/identity/domains/domains.ts';
import { getEmailProjection } from '../../src/outbound/messages/lists/email-projection.ts';
import { deleteMessage, getMessage } from '../../src/outbound/messages/messages.ts';
import { findMessageRow } from '../../src/outbound/messages/queries.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { readStoredPart } from '../../src/outbound/sending/stored-parts.ts';
import { stores } from '../support/command.ts';
import { timeline } from '../support/delivery.ts';
import { dkimResolver } from '../support/dkim-resolver.ts';
import {
  idIn,
  mail,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

let service: SubmissionService;
afterEach(() => service.close());

const text = 'S\u00e9curit\u00e9, 8 bits.\r\n..leading dots\r\n trailing  \t\r\n\r\n\r\n';

/** A mail signed by a mail program, of which no byte may change. */
const signed = Buffer.from(
  [
    'Return-Path: <old@client.example>',
    'Received: from laptop (localhost [127.0.0.1])',
    '\tby client.example; Mon, 05 Jan 2026 11:58:00 +0000',
    'Bcc: hidden@example.com,',
    ' other@example.com',
    'X-Service-Tags: invoice, spring ,',
    'From: =?utf-8?Q?Ad=C3=A1?= <hello@sandbox.test>',
    'To:  "Bob, B." <bob@example.com>',
    'cc: carol@example.com',
    'x-service-metadata: {"order":7,',
    ' "name":"x"}',
    'Subject:\tHello   there',
    'MIME-Version: 1.0',
    'DATE: Mon, 05 Jan 2026 11:59:00 +0000',
    'Message-Id: <one@client.example>',
    'In-Reply-To: <zero@client.example>',
    'References: <a@client.example> <zero@client.example>',
    'Reply-To: desk@sandbox.test',
    'Content-Type: multipart/signed; micalg=sha-256;',
    '\tprotocol="application/pkcs7-signature"; boundary="b1"',
    '',
    'This is an S/MIME signed message',
    '',
    '--b1',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    text,
    '--b1',
    'Content-Type: text/calendar; method=REQUEST; name=invite.ics',
    '',
    'BEGIN:VCALENDAR',
    'END:VCALENDAR',
    '--b1',
    'Content-Type: application/pkcs7-signature; name=smime.p7s',
    'Content-Disposition: attachment; filename=smime.p7s',
    'Content-Transfer-Encoding: base64',
    '',
    'AAECAwQF',
    '--b1--',
    '',
  ].join('\r\n'),
);

/** The signed mail without the removed fields. */
const kept = signed
  .toString('latin1')
  .replace(/^Return-Path:.*\r\n/, '')
  .replace(/^Bcc:.*\r\n .*\r\n/m, '')
  .replace(/^X-Service-Tags:.*\r\n/m, '')
  .replace(/^x-service-metadata:.*\r\n .*\r\n/m, '');

/** Splits the mail at the sink into our prefix and the rest. */
async function arrived(count = 1): Promise<{ front: string; rest: string; raw: Buffer }> {
  await (await service.queue()).idle();
  const messages = await service.sink.waitFor(count);
  const raw = messages.at(-1)?.raw ?? Buffer.alloc(0);
  const all = raw.toString('latin1');
  const front =
    /^(?:(?:X-Service-Token|DKIM-Signature|Feedback-ID): .*\r\n(?:[ \t].*\r\n)*)*/.exec(all)?.[0] ??
    '';
  return { front, rest: all.slice(front.length), raw };
}

async function sent(reply: string): Promise<Message> {
  return getMessage(service.app, service.caller, idIn(reply));
}

describe.each(stores)('a submitted mail on %s', (store) => {
  beforeEach(async () => {
    service = await submissionService({ store });
  });

  it('is sent byte for byte except Bcc, Return-Path and our fields, and its DKIM verifies', async () => {
    const dialogue = await service.loggedIn();
    const recipients = ['bob@example.com', 'carol@example.com', 'hidden@example.com'];
    const reply = await submit(dialogue, signed, recipients, ' BODY=8BITMIME');
    const message = await sent(reply);
    expect(message).toMatchObject({
      direction: 'outbound',
      status: 'pending',
      subject: 'Hello   there',
      from: { email: 'hello@sandbox.test', name: 'Ad\u00e1' },
      replyTo: ['desk@sandbox.test'],
      to: [{ email: 'bob@example.com', name: 'Bob, B.' }],
      cc: [{ email: 'carol@example.com', name: null }],
      bcc: [{ email: 'hidden@example.com', name: null }],
      tags: ['invoice', 'spring'],
      metadata: { order: 7, name: 'x' },
      origin: {
        via: 'smtp',
        keyId: service.caller.keyId,
        keyName: service.caller.keyName,
        user: 'wordpress',
      },
    });
    const { front, rest, raw } = await arrived(2);
    expect(rest).toBe(kept);
    expect(front).toMatch(/^X-Service-Token: /m);
    expect(front).toContain(`Feedback-ID: -:-:${service.caller.organizationId}:svc\r\n`);
    const { items } = await listDomains(service.app, service.caller, { page: 1, limit: 1 });
    const resolver = dkimResolver(items);
    const { results } = await dkimVerify(raw, { resolver, strict: true });
    expect(results.map(({ status }) => status.result)).not.toEqual([]);
    expect(new Set(results.map(({ status }) => status.result))).toEqual(new Set(['pass']));
    expect(service.sink.messages.every(({ from }) => /^bounce\+.*@/.test(from))).toBe(true);
    expect(await timeline(service.app, service.caller, message.id)).toContain('accepted:pending');
  });

  it('is readable like any mail: text, attachments, references, raw download', async () => {
    const dialogue = await service.loggedIn();
    const id = idIn(await submit(dialogue, signed, 'bob@example.com', ' BODY=8BITMIME'));
    const email = await getEmailProjection(service.app, service.caller, id, {
      includeStorageUrls: true,
    });
    expect(email).toMatchObject({
      messageIdHeader: '<one@client.example>',
      inReplyTo: '<zero@client.example>',
      references: ['<a@client.example>', '<zero@client.example>'],
      text: expect.stringContaining('S\u00e9curit\u00e9, 8 bits.'),
    });
    expect(email.attachments.map(({ contentType }) => contentType)).toContain(
      'application/pkcs7-signature',
    );
    const token = email.storageUrls?.raw.split('/').at(-1) ?? '';
    const { body } = await readStoredPart(service.app, token);
    expect(body.toString('latin1').endsWith(kept)).toBe(true);
  });

  it('is deleted with its raw mail', async () => {
    const dialogue = await service.loggedIn();
    const id = idIn(await submit(dialogue, mail()));
    const row = await findMessageRow(service.app.store.db, id);
    const blobId = row?.raw_blob_id ?? '';
    expect(await readBlob(service.app, blobId)).toBeDefined();
    await deleteMessage(service.app, service.caller, id);
    expect(await readBlob(service.app, blobId)).toBeUndefined();
  });
});

describe('a submitted mail', () => {
  beforeEach(async () => {
    service = await submissionService();
  });

  it('gets its missing Message-ID and Date in front', async () => {
    const dialogue = await service.loggedIn();
    const given = mail({ 'Message-ID': null, Date: null });
    const id = idIn(await submit(dialogue, given));
    const { rest } = await arrived();
    expect(rest).toBe(
      `Message-ID: <${id}@sandbox.test>\r\nDate: Mon, 05 Jan 2026 12:00:00 +0000\r\n${given}`,
    );
  });

  it('may have only blind copies, no text and no subject', async () => {
    const dialogue = await service.loggedIn();
    const given = mail({ To: null, Subject: null }, '');
    const message = await sent(await submit(dialogue, given, 'bob@example.com'));
    expect([message.to, message.cc, message.subject]).toEqual([[], [], null]);
    expect(message.bcc.map(({ email }) => email)).toEqual(['bob@example.com']);
    expect((await arrived()).rest).toBe(given);
  });

  it('counts a repeated recipient once', async () => {
    const dialogue = await service.loggedIn();
    const to = ['bob@example.com', 'BOB@example.com'];
    expect((await sent(await submit(dialogue, mail(), to))).recipients).toHaveLength(1);
  });

  it('waits for the time in its field', async () => {
    const dialogue = await service.loggedIn();
    const at = '2026-01-05T13:00:00.000Z';
    const message = await sent(await submit(dialogue, mail({ 'X-Service-Scheduled-For': at })));
    expect([message.status, message.scheduledFor]).toEqual(['scheduled', at]);
    const queue = await service.queue();
    await queue.idle();
    expect(service.sink.received).toBe(0);
    await service.clock.advance(3_600_000);
    await queue.idle();
    expect((await service.sink.waitFor(1)).length).toBe(1);
  });

  it('gets encoded words for raw UTF-8 in its header, so that any server takes it', async () => {
    const dialogue = await service.loggedIn();
    const to = 'Jos\u00e9 "B" <bob@example.com>';
    const given = Buffer.from(mail({ Subject: 'Gr\u00fc\u00dfe', To: to }));
    const message = await sent(await submit(dialogue, given));
    expect([message.subject, message.to[0]?.name]).toEqual(['Gr\u00fc\u00dfe', 'Jos\u00e9 B']);
    const { rest } = await arrived();
    expect(rest).toContain('Subject: =?utf-8?B?R3LDvMOfZQ==?=\r\n');
    expect(rest).toContain('To: =?utf-8?B?Sm9zw6kgQg==?= <bob@example.com>\r\n');
  });

  it('needs SMTPUTF8 for an address in its header that is not ASCII', async () => {
    const dialogue = await service.loggedIn();
    const given = Buffer.from(mail({ Cc: 'j\u00fcrgen@example.com' }));
    expect(await submit(dialogue, given)).toMatch(/^554 5\.6\.0 Cc: .*not ASCII/);
  });

  it('stays as it is with SMTPUTF8, here and at the next server', async () => {
    const dialogue = await service.loggedIn();
    const given = mail({ Subject: 'Gr\u00fc\u00dfe' });
    const bytes = Buffer.from(given);
    const utf8 = ' SMTPUTF8 BODY=8BITMIME';
    const message = await sent(await submit(dialogue, bytes, 'bob@example.com', utf8));
    expect(message.subject).toBe('Gr\u00fc\u00dfe');
    expect((await arrived()).rest).toBe(bytes.toString('latin1'));
  });

  it.each(['', ' SMTPUTF8 BODY=8BITMIME'])(
    'is refused with Latin-1 in its header after MAIL with %j',
    async (parameters) => {
      const dialogue = await service.loggedIn();
      const latin1 = Buffer.from(mail({ Subject: 'Gr\u00fc\u00dfe' }), 'latin1');
      expect(await submit(dialogue, latin1, 'bob@example.com', parameters)).toMatch(
        /^554 5\.6\.0 Subject: /,
      );
    },
  );

  it('is answered with its own message among several on a connection', async () => {
    const dialogue = await service.loggedIn();
    const ids = new Set<string>();
    for (let count = 0; count < 5; count += 1) ids.add(idIn(await submit(dialogue, mail())));
    expect([...ids].filter((id) => id.startsWith('msg_'))).toHaveLength(5);
  });
});

describe('a program that keeps its session', () => {
  it('stays connected as long as its mails are accepted', async () => {
    service = await submissionService({}, { limits: { messageMs: 60_000 } });
    const dialogue = await service.loggedIn();
    for (let i = 0; i < 3; i++) {
      expect(await submit(dialogue, mail())).toMatch(/^250 /);
      await service.clock.advance(40_000);
    }
    expect(await dialogue.say('NOOP')).toMatch(/^250 /);
  });
});
