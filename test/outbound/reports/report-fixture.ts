// Reports as mail systems and providers write them, on mail that was really composed, signed and
// sent, and their way through RCPT, storing and reading.
import type { App } from '../../../src/core/app.ts';
import { receive } from '../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { createReportReader } from '../../../src/outbound/reports/reports.ts';
import { listBlocks } from '../../../src/people/blocks/blocks.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { inboundEnvelope } from '../../support/inbound-envelope.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, type TestAppOptions, testApp } from '../../support/test-app.ts';

export const lines = (...text: string[]) => Buffer.from(text.join('\r\n'));

export const fbl = 'fbl@bounce.sandbox.test';

export interface DsnOptions {
  action?: string;
  status?: string;
  words?: string;
  /** The returned message. */
  copy?: Buffer | string;
}

/** Writes a delivery status notification (RFC 3464) as Postfix does. */
export function dsn(
  to: string,
  recipient: string,
  { action = 'failed', status = '5.1.1', words = '550 5.1.1 no such user', copy }: DsnOptions = {},
): Buffer {
  const returned = copy ? ['--b', 'Content-Type: message/rfc822', '', copy.toString('latin1')] : [];
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
    ...returned,
    '--b--',
    '',
  );
}

export interface ArfOptions {
  /** Null where the provider hides the recipient. */
  recipient?: string | null;
  feedbackType?: string;
  /** Encloses only the header of the copy, as text/rfc822-headers. */
  headersOnly?: boolean;
  fields?: string[];
}

/** Writes a complaint in the abuse reporting format (RFC 5965) about a copy. */
export function arf(copy: Buffer | string, options: ArfOptions = {}): Buffer {
  const { recipient = null, feedbackType = 'abuse', headersOnly = false, fields = [] } = options;
  const whole = copy.toString('latin1');
  const report = [
    'From: complaints@provider.example',
    `To: ${fbl}`,
    'Subject: Abuse report',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="arf"',
    '',
    '--arf',
    'Content-Type: text/plain',
    '',
    'This is an abuse report.',
    '--arf',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${feedbackType}`,
    'User-Agent: Provider/1.0',
    'Version: 1',
    ...(recipient === null ? [] : [`Original-Rcpt-To: <${recipient}>`]),
    ...fields,
    '',
    '--arf',
    `Content-Type: ${headersOnly ? 'text/rfc822-headers' : 'message/rfc822'}`,
    '',
    headersOnly ? whole.slice(0, whole.indexOf('\r\n\r\n') + 2) : whole,
    '--arf--',
    '',
  ];
  return Buffer.from(report.join('\r\n'), 'latin1');
}

/**
 * Writes a complaint in Hotmail's older form (JMRP): a forward, the recipient in the outer header.
 */
export function jmrp(copy: Buffer | string, recipient: string): Buffer {
  const report = [
    'From: staff@hotmail.example',
    `To: ${fbl}`,
    'Subject: complaint about message from 192.0.2.1',
    `X-HmXmrOriginalRecipient: ${recipient}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="jmrp"',
    '',
    '--jmrp',
    'Content-Type: message/rfc822',
    'Content-Disposition: inline',
    '',
    copy.toString('latin1'),
    '--jmrp--',
    '',
  ];
  return Buffer.from(report.join('\r\n'), 'latin1');
}

/** Removes the fields of this name from a copy. */
export function without(copy: Buffer | string, name: string): string {
  const text = copy.toString('latin1');
  const end = text.indexOf('\r\n\r\n') + 2;
  const fields = new RegExp(`^${name}:.*\\r\\n(?:[ \\t].*\\r\\n)*`, 'gim');
  return text.slice(0, end).replace(fields, '') + text.slice(end);
}

/** Returns the values of a field, folds included. */
export function fieldsOf(copy: Buffer | string, name: string): string[] {
  const field = new RegExp(`^${name}: (.*\\r\\n(?:[ \\t].*\\r\\n)*)`, 'gim');
  return [...copy.toString('latin1').matchAll(field)].map((found) => (found[1] ?? '').trimEnd());
}

/** The copy of one recipient. */
export interface Copy {
  returnPath: string;
  raw: Buffer;
}

/** Passes a mail to `address` through the listener; reads it if it was stored. */
export async function arrives(
  app: App,
  address: string,
  raw: Buffer,
  mailFrom = '',
): Promise<string> {
  const addressee = await resolveAddressee(app, address);
  if (addressee.kind === 'refused') return `${addressee.code} ${addressee.enhancedCode}`;
  const envelope = inboundEnvelope([addressee], mailFrom);
  const { kind } = await receive(app, envelope, raw);
  await createReportReader(app).readDue();
  return kind;
}

/** A service that sends by a relay, a transaction for each domain and each blind copy. */
export interface ReportWorld extends TestApp {
  sink: SmtpSink;
  pipeline: RunningPipeline;
  /** Sends; returns the message and the copy of each recipient. */
  sent(
    to: string | readonly string[],
    more?: Parameters<typeof send>[3],
  ): Promise<{ id: string; copyOf(email: string): Copy }>;
  /** Returns the newest copy of a recipient. */
  copyOf(email: string): Copy;
  /** Lists `email status` of each recipient. */
  statuses(id: string): Promise<string[]>;
  /** Lists `address reason` of each block. */
  blocked(): Promise<string[]>;
}

/** Starts a world on a store. */
export async function startReportWorld(options: TestAppOptions = {}): Promise<ReportWorld> {
  const sink = await startSmtpSink();
  const delivery = { mode: 'relay' as const, relay: { host: sink.host, port: sink.port } };
  const service = await testApp({ ...options, config: { ...options.config, delivery } });
  const { app, caller } = service;
  const pipeline = await startPipeline(app);
  const copyOf = (email: string): Copy => {
    const found = sink.messages.findLast(({ recipients }) => recipients.includes(email));
    if (!found) throw new Error(`${email} got no copy`);
    return { returnPath: found.from, raw: found.raw };
  };
  return {
    ...service,
    sink,
    pipeline,
    async sent(to, more) {
      const { id } = await send(app, caller, to, more);
      await pipeline.idle();
      return { id, copyOf };
    },
    copyOf,
    async statuses(id) {
      const { recipients } = await getMessage(app, caller, id);
      return recipients.map(({ email, status }) => `${email} ${status}`);
    },
    async blocked() {
      const { items } = await listBlocks(app, caller, { page: 1, limit: 100 });
      return items
        .map(({ address, reason }) => `${address} ${reason}`)
        .sort((a, b) => (a < b ? -1 : 1));
    },
    async close() {
      await pipeline.close();
      await service.close();
      await sink.close();
    },
  };
}
