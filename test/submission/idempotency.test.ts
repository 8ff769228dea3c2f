// One idempotency key makes one message over SMTP, sendmail and HTTP: SMTP and sendmail replay each
// other, and a key of another request is a conflict.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handIn } from '../../src/outbound/sending/hand-in/hand-in.ts';
import { readPipedMail } from '../../src/outbound/sending/hand-in/piped-mail.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { stores } from '../support/command.ts';
import { payloadFor } from '../support/delivery.ts';
import {
  idIn,
  outbound,
  type SubmissionService,
  submissionService,
  submit,
} from './submission-service.ts';

let service: SubmissionService;
afterEach(() => service.close());

interface Written {
  boundary?: string;
  date?: string;
  text?: string;
  subject?: string;
  from?: string;
  file?: string;
  encoding?: 'base64' | '7bit';
}

/** The same mail as one program writes it at different times. */
function written({
  boundary = 'b1',
  date = '11:59:00',
  text = 'Your order 7.',
  subject = 'Order',
  from = 'hello@sandbox.test',
  file = 'file',
  encoding = '7bit',
}: Written = {}): string {
  const body = encoding === '7bit' ? text : Buffer.from(text).toString('base64');
  return [
    `From: ${from}`,
    'To: bob@example.com',
    `Subject: ${subject}`,
    `Date: Mon, 05 Jan 2026 ${date} +0000`,
    `Message-ID: <${boundary}@client.example>`,
    'X-Service-Idempotency-Key: order-7',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain',
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    body,
    `--${boundary}`,
    'Content-Type: application/octet-stream; name=a.bin',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(file).toString('base64'),
    `--${boundary}--`,
    '',
  ].join('\r\n');
}

const again: Written = { boundary: 'another', date: '12:30:00' };

describe.each(stores)('an idempotency key on %s', (store) => {
  beforeEach(async () => {
    service = await submissionService({ store });
  });

  const messages = () => outbound(service.app, service.caller);
  const bob = 'bob@example.com';

  /** Hands a mail in as sendmail does: by the operator, with the line ends of a file. */
  async function pipe(text: string): Promise<string> {
    const options = {
      endsAtDot: false,
      readsRecipients: true,
      recipients: [],
      from: null,
      name: null,
      machineNames: [],
    };
    const piped = readPipedMail(Buffer.from(text.replaceAll('\r\n', '\n')), options, null);
    const how = { allowsUtf8: true, bareDomain: null, via: 'sendmail', user: 'root' } as const;
    return (await handIn(service.app, service.operator, { ...piped, ...how })).id;
  }

  it('replays over SMTP with another Date, Message-ID, boundary and encoding', async () => {
    const dialogue = await service.loggedIn();
    const id = idIn(await submit(dialogue, written()));
    expect(idIn(await submit(dialogue, written(again)))).toBe(id);
    expect(idIn(await submit(dialogue, written({ ...again, encoding: 'base64' })))).toBe(id);
    expect(await messages()).toHaveLength(1);
  });

  it('is shared by SMTP and sendmail, both ways', async () => {
    const id = await pipe(written());
    const dialogue = await service.loggedIn();
    expect(idIn(await submit(dialogue, written(again)))).toBe(id);
    expect(await pipe(written({ boundary: 'third' }))).toBe(id);
    expect(await messages()).toHaveLength(1);
  });

  it.each([
    ['text', { text: 'Your order 8.' }, bob],
    ['subject', { subject: 'Another' }, bob],
    ['file', { file: 'other' }, bob],
    ['From', { from: 'other@sandbox.test' }, bob],
    ['recipients', {}, [bob, 'carol@example.com']],
  ])('with another %s is 554 5.7.0', async (_what, change, to) => {
    const dialogue = await service.loggedIn();
    idIn(await submit(dialogue, written()));
    const reply = await submit(dialogue, written({ ...again, ...change }), to);
    expect(reply).toMatch(/^554 5\.7\.0 .*used with different content/);
    expect(await messages()).toHaveLength(1);
  });

  it('used over HTTP is 554 5.7.0 over SMTP, and the reverse is a conflict', async () => {
    const { app, caller } = service;
    await sendMessage(app, caller, payloadFor('bob@example.com'), 'order-7');
    const dialogue = await service.loggedIn();
    expect(await submit(dialogue, written())).toMatch(/^554 5\.7\.0 /);
    const other = written().replace('order-7', 'order-8');
    expect(idIn(await submit(dialogue, other))).toMatch(/^msg_/);
    const send = sendMessage(app, caller, payloadFor('bob@example.com'), 'order-8');
    await expect(send).rejects.toThrow('different content');
  });

  it('makes one message of concurrent mails', async () => {
    const dialogues = await Promise.all(Array.from({ length: 8 }, () => service.loggedIn()));
    const replies = await Promise.all(
      dialogues.map((dialogue, index) =>
        submit(dialogue, written({ boundary: `at-once-${index}` })),
      ),
    );
    expect(new Set(replies.map(idIn)).size).toBe(1);
    expect(await messages()).toHaveLength(1);
  });

  it('is free again after a refused mail', async () => {
    const dialogue = await service.loggedIn();
    const stranger = written({ from: 'me@stranger.example' });
    expect(await submit(dialogue, stranger)).toMatch(/^550 5\.7\.1 /);
    expect(idIn(await submit(dialogue, written()))).toMatch(/^msg_/);
  });
});
