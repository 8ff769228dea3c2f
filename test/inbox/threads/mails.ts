// Mail for the tests of threads, in a short notation: received as by SMTP, parsed and threaded.
import { sql } from 'kysely';
import type { App } from '../../../src/core/app.ts';
import { createProjector } from '../../../src/inbox/receiving/projector.ts';
import { receive } from '../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import type { Thread, ThreadMessage } from '../../../src/inbox/threads/schema.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { inboundEnvelope } from '../../support/inbound-envelope.ts';

export const inbox = 'inbox@sandbox.test';

export interface Mail {
  from?: string;
  to?: string;
  cc?: string;
  subject?: string;
  /** Message-ID without brackets. */
  id?: string;
  inReplyTo?: string;
  references?: readonly string[];
  text?: string;
  headers?: readonly string[];
  /** Recipients in the envelope; default the inbox. */
  rcpt?: readonly string[];
}

let made = 0;

function linesOf(mail: Mail): string[] {
  const {
    from = 'Ada <ada@example.com>',
    to = inbox,
    subject = 'A question',
    text = 'Hello',
  } = mail;
  const bracketed = (ids: readonly string[]) => ids.map((id) => `<${id}>`).join('\r\n ');
  made += 1;
  return [
    `From: ${from}`,
    `To: ${to}`,
    ...(mail.cc === undefined ? [] : [`Cc: ${mail.cc}`]),
    ...(subject === '' ? [] : [`Subject: ${subject}`]),
    `Message-ID: <${mail.id ?? `mail${made}@example.com`}>`,
    ...(mail.inReplyTo === undefined ? [] : [`In-Reply-To: <${mail.inReplyTo}>`]),
    ...(mail.references === undefined ? [] : [`References: ${bracketed(mail.references)}`]),
    ...(mail.headers ?? ['Content-Type: text/plain; charset=utf-8']),
    '',
    text,
  ];
}

/** Stores raw mail as the listener does before its 250; returns the ids of its messages. */
async function takeRaw(app: App, raw: Buffer, rcpt: readonly string[]): Promise<string[]> {
  const addressees = await Promise.all(rcpt.map((address) => resolveAddressee(app, address)));
  const mailboxes = addressees.flatMap((one) => (one.kind === 'mailbox' ? one : []));
  const envelope = inboundEnvelope(mailboxes, 'bounce@example.com');
  const result = await receive(app, envelope, raw);
  if (result.kind !== 'stored') throw new Error(result.text);
  return result.messageIds;
}

/** Stores a mail as the listener does before its 250; returns the ids of its messages. */
export function takeMail(app: App, mail: Mail = {}): Promise<string[]> {
  const raw = Buffer.from(`${linesOf(mail).join('\r\n')}\r\n`);
  return takeRaw(app, raw, mail.rcpt ?? [inbox]);
}

/** Parses and threads received mail until nothing is due. */
export async function threadAll(app: App): Promise<void> {
  const projector = createProjector(app);
  while ((await projector.projectDue()) > 0);
  await projector.stop();
}

/** Receives one mail to one mailbox, parses and threads it. */
export async function arrive(app: App, mail: Mail = {}): Promise<string> {
  const [id = ''] = await takeMail(app, mail);
  await threadAll(app);
  return id;
}

/** Receives raw mail to one mailbox, parses and threads it. */
export async function arriveRaw(app: App, raw: Buffer, rcpt: string): Promise<string> {
  const [id = ''] = await takeRaw(app, raw, [rcpt]);
  await threadAll(app);
  return id;
}

/** The id of the mailbox with this address. */
export async function mailboxOf({ store }: App, address = inbox): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select mailbox_id as id from mailbox_addresses where address = ${address}`.execute(store.db);
  return rows[0]?.id ?? '';
}

interface Listed<T> {
  items: T[];
  nextCursor: string | null;
}

export interface ThreadApi {
  path: string;
  list(query?: string): Promise<Listed<Thread>>;
  messages(threadId: string, query?: string): Promise<Listed<ThreadMessage>>;
}

/** Returns the threads of a mailbox over HTTP; throws on any answer other than 200. */
export async function threadsOver(app: App, api: HttpApi, address = inbox): Promise<ThreadApi> {
  const path = `/v1/mailboxes/${await mailboxOf(app, address)}/threads`;
  const get = async <T>(url: string): Promise<T> => {
    const { status, body } = await api.get<T>(url);
    if (status !== 200) throw new Error(`${url}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  return {
    path,
    list: (query = '') => get(`${path}${query}`),
    messages: (threadId, query = '') => get(`${path}/${threadId}/messages${query}`),
  };
}

/** Returns the counters of each thread, and the counts of its rows. */
export async function countsOf({ store }: App) {
  const { rows } = await sql<Record<string, unknown>>`
    select t.id, t.message_count, t.attachment_count,
      (select count(*) from thread_messages m where m.thread_id = t.id) as messages,
      (select coalesce(sum(has_attachments), 0) from thread_messages m where m.thread_id = t.id)
        as attachments
    from threads t order by t.id`.execute(store.db);
  return {
    said: rows.map((row) => [row.id, Number(row.message_count), Number(row.attachment_count)]),
    counted: rows.map((row) => [row.id, Number(row.messages), Number(row.attachments)]),
  };
}
