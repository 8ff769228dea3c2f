// The lines of the listener in the log of mail: one for each accepted mail and each refusal.
import { afterEach, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/core/config/config.ts';
import { deliver, envelope, idIn, type SmtpService, smtpService } from './smtp-service.ts';

const mail = 'From: ada@example.com\r\nSubject: Hello\r\n\r\nHi\r\n';

let service: SmtpService | undefined;
afterEach(() => service?.close());

async function logging(config: ConfigInput = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = { write: (line: string) => void lines.push(JSON.parse(line)) };
  service = await smtpService({ config, log });
  return { lines, session: await service.session() };
}

it('writes one line for an accepted mail', async () => {
  const { lines, session } = await logging();
  const id = idIn(await deliver(session, 'inbox@sandbox.test', mail));
  expect(lines).toEqual([
    {
      level: 'info',
      time: expect.any(String),
      msg: 'mail received',
      id: expect.stringMatching(/^\w+\.1$/),
      remoteAddress: '127.0.0.1',
      helo: 'client.example',
      tls: false,
      from: 'ada@example.com',
      recipients: ['inbox@sandbox.test'],
      recipientCount: 1,
      bytes: Buffer.byteLength(mail),
      messageIds: [id],
    },
  ]);
});

it('writes one line for each refused recipient and each refused message', async () => {
  const { lines, session } = await logging({ smtp: { inbound: { maxMessageBytes: 2_000 } } });
  await envelope(session, ['nobody@sandbox.test', 'victim@example.com']);
  await deliver(
    session,
    'inbox@sandbox.test',
    `Subject: x\r\n\r\n${'x'.repeat(80)}\r\n`.repeat(40),
  );
  const refusal = { level: 'info', time: expect.any(String), msg: 'mail refused' };
  const from = { remoteAddress: '127.0.0.1', from: 'ada@example.com' };
  expect(lines).toEqual([
    {
      ...refusal,
      ...from,
      verb: 'RCPT',
      recipient: 'nobody@sandbox.test',
      code: 550,
      enhancedCode: '5.1.1',
      reason: 'No mailbox here has this address',
    },
    expect.objectContaining({ verb: 'RCPT', recipient: 'victim@example.com', code: 550 }),
    {
      ...refusal,
      ...from,
      verb: 'DATA',
      code: 552,
      enhancedCode: '5.3.4',
      reason: 'The message is larger than this server accepts',
    },
  ]);
});

it('writes nothing where log.mail is false', async () => {
  const { lines, session } = await logging({ log: { mail: false } });
  await deliver(session, ['nobody@sandbox.test', 'inbox@sandbox.test'], mail);
  expect(lines).toEqual([]);
});
