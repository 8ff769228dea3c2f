// Bounces and complaints that come back by mail for our own sends: from the return path on the wire
// to the status, the timeline and the block.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listBlocks } from '../../src/blocks/blocks.ts';
import { resolveDestination } from '../../src/inbound/destination.ts';
import { receive } from '../../src/inbound/receive.ts';
import { createReportReader } from '../../src/inbound/reports.ts';
import { getMessage } from '../../src/messages/messages.ts';
import {
  firstDelivery,
  type RunningPipeline,
  send,
  startPipeline,
  timeline,
} from '../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { stores, type TestApp, testApp } from '../support/test-app.ts';

const lines = (...text: string[]) => Buffer.from(text.join('\r\n'));

/** A delivery status notification (RFC 3464) as Postfix writes one. */
function dsn(
  to: string,
  recipient: string,
  { action = 'failed', status = '5.1.1', words = '550 5.1.1 no such user' } = {},
) {
  return lines(
    'From: MAILER-DAEMON@mx.example.com (Mail Delivery System)',
    `To: ${to}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    `<${recipient}>: host mx.example.com said: ${words}`,
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.com',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${words}`,
    '',
    '--b--',
    '',
  );
}

/** A complaint in the abuse reporting format (RFC 5965). */
function arf(to: string, returnPath: string, recipient: string) {
  return lines(
    'From: complaints@provider.example',
    `To: ${to}`,
    'Subject: Abuse report',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is an abuse report.',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: Provider/1.0',
    'Version: 1',
    `Original-Mail-From: <${returnPath}>`,
    `Original-Rcpt-To: <${recipient}>`,
    '',
    '--b',
    'Content-Type: message/rfc822',
    '',
    `Return-Path: <${returnPath}>`,
    'Subject: Hello',
    '',
    'It works.',
    '--b--',
    '',
  );
}

describe.each(stores)('reports on our own sends, on %s', (store) => {
  let sink: SmtpSink;
  let service: TestApp;
  let pipeline: RunningPipeline;

  beforeEach(async () => {
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    service = await testApp({ store, config: { delivery: { mode: 'relay', relay } } });
    pipeline = await startPipeline(service.app);
  });
  afterEach(async () => {
    await pipeline.close();
    await service.close();
    await sink.close();
  });

  /** Sends to the addresses; returns the message and the return path that stood on the wire. */
  async function sent(...to: string[]) {
    const { app, caller } = service;
    const before = sink.received;
    const { id } = await send(app, caller, to);
    const messages = await sink.waitFor(before + 1);
    await pipeline.idle();
    return { id, returnPath: messages.at(-1)?.from ?? '' };
  }

  /** What the listener does with a mail to `address`. */
  async function arrives(address: string, raw: Buffer): Promise<string> {
    const { app } = service;
    const destination = await resolveDestination(app, address);
    if (destination.kind === 'refused') return `${destination.code} ${destination.enhancedCode}`;
    const envelope = {
      mailFrom: '',
      destinations: [destination],
      remoteAddress: '127.0.0.1',
      helo: 'mx.example.com',
      tls: false,
      protocol: 'ESMTP',
      id: 'test.1',
    };
    const { kind } = await receive(app, envelope, raw);
    await createReportReader(app).readDue();
    return kind;
  }

  const statusOf = async (id: string) => (await getMessage(service.app, service.caller, id)).status;
  const blocked = async () => {
    const { items } = await listBlocks(service.app, service.caller, { page: 1, limit: 20 });
    return items.map(({ address, reason }) => `${address} ${reason}`);
  };

  it('mail goes out with a signed return path at the domain’s host', async () => {
    const { returnPath } = await sent('ada@example.com');
    expect(returnPath).toMatch(
      /^bounce\+dlv_[0-9a-hjkmnp-tv-z]{24}-[0-9a-z]{26}@bounce\.sandbox\.test$/,
    );
  });

  it('a hard bounce ends the delivery, tells why and blocks the address', async () => {
    const { app, caller } = service;
    const { id, returnPath } = await sent('ada@example.com');
    expect(await arrives(returnPath, dsn(returnPath, 'ada@example.com'))).toBe('stored');
    expect(await statusOf(id)).toBe('bounced');
    expect(await firstDelivery(app, caller, id)).toMatchObject({
      errorCode: 'invalid-recipient',
      errorDetails: { code: 550, enhancedCode: '5.1.1', verb: 'DSN' },
    });
    expect((await timeline(app, caller, id)).at(-1)).toBe('bounced:bounced');
    expect(await blocked()).toEqual(['ada@example.com bounce']);
  });

  it('a bounce for another reason blocks nobody', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const full = { status: '5.2.2', words: '552 5.2.2 mailbox full' };
    await arrives(returnPath, dsn(returnPath, 'ada@example.com', full));
    expect(await statusOf(id)).toBe('bounced');
    expect(await blocked()).toEqual([]);
  });

  it('of two recipients the one it names has bounced', async () => {
    const { id, returnPath } = await sent('ada@example.com', 'bob@example.com');
    await arrives(returnPath, dsn(returnPath, 'bob@example.com'));
    const { recipients } = await getMessage(service.app, service.caller, id);
    expect(recipients.map(({ email, status }) => `${email} ${status}`)).toEqual([
      'ada@example.com sent',
      'bob@example.com bounced',
    ]);
  });

  it('a bounce of two recipients that names neither changes nothing', async () => {
    const { id, returnPath } = await sent('ada@example.com', 'bob@example.com');
    await arrives(returnPath, dsn(returnPath, 'carol@elsewhere.example'));
    expect(await statusOf(id)).toBe('sent');
  });

  it('a delay changes nothing, a success report delivers', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const delayed = { action: 'delayed', status: '4.4.1', words: '451 4.4.1 timeout' };
    await arrives(returnPath, dsn(returnPath, 'ada@example.com', delayed));
    expect(await statusOf(id)).toBe('sent');
    const delivered = { action: 'delivered', status: '2.0.0', words: '250 2.0.0 ok' };
    await arrives(returnPath, dsn(returnPath, 'ada@example.com', delivered));
    expect(await statusOf(id)).toBe('delivered');
  });

  it('the same bounce twice tells and blocks once', async () => {
    const { app, caller } = service;
    const { id, returnPath } = await sent('ada@example.com');
    await arrives(returnPath, dsn(returnPath, 'ada@example.com'));
    await arrives(returnPath, dsn(returnPath, 'ada@example.com'));
    const bounced = (await timeline(app, caller, id)).filter((one) => one.startsWith('bounced'));
    expect(bounced).toHaveLength(1);
    expect(await blocked()).toHaveLength(1);
  });

  it('a forged or foreign return path is refused, and changes nothing', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const [local = '', host = ''] = returnPath.split('@');
    const last = local.at(-1) === '0' ? '1' : '0';
    const forged = [
      `${local.slice(0, -1)}${last}@${host}`,
      `${local}@elsewhere.example`,
      `bounce+${id}@${host}`,
      `bounce@${host}`,
      `anything@${host}`,
    ];
    for (const address of forged) {
      expect(await arrives(address, dsn(address, 'ada@example.com'))).toBe('550 5.1.1');
    }
    expect(await statusOf(id)).toBe('sent');
  });

  it('an answer that is no bounce changes nothing', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const reply = lines(
      'From: ada@example.com',
      `To: ${returnPath}`,
      'Subject: Out of office',
      'Auto-Submitted: auto-replied',
      '',
      'I am away. Your mail could not be delivered to my attention.',
      '',
    );
    expect(await arrives(returnPath, reply)).toBe('stored');
    expect(await statusOf(id)).toBe('sent');
  });

  it('a complaint marks the delivery and blocks the address', async () => {
    const { app, caller } = service;
    const { id, returnPath } = await sent('ada@example.com');
    const address = 'fbl@bounce.sandbox.test';
    expect(await arrives(address, arf(address, returnPath, 'ada@example.com'))).toBe('stored');
    expect(await statusOf(id)).toBe('complained');
    expect((await timeline(app, caller, id)).at(-1)).toBe('complained:complained');
    expect(await blocked()).toEqual(['ada@example.com complaint']);
  });

  it('a hard refusal on the wire blocks the address too, a simulated one does not', async () => {
    const { app, caller } = service;
    sink.on({ verb: 'RCPT', match: /dead@/ }, '550 5.1.1 no such user');
    await send(app, caller, 'dead@example.com');
    await send(app, caller, 'bounced@simulator.test');
    await pipeline.idle();
    expect(await blocked()).toEqual(['dead@example.com bounce']);
    const again = await send(app, caller, 'dead@example.com');
    expect(await firstDelivery(app, caller, again.id)).toMatchObject({
      status: 'failed',
      errorCode: 'suppressed',
      attemptCount: 0,
    });
  });
});
