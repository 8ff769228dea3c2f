// A listener over a test app, with helpers that send to it and read the stored mail.

import type { SmtpLimits } from '../../daemon/smtp/limits.ts';
import { createSmtpListener } from '../../daemon/smtp/listener.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { readBlob } from '../../src/core/blobs/blobs.ts';
import { createMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { listMessages } from '../../src/outbound/messages/messages.ts';
import { findMessageRow, type MessageRow } from '../../src/outbound/messages/queries.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { type Dialogue, smtpDialogue } from '../support/smtp-dialogue.ts';
import { type TestApp, type TestAppOptions, testApp } from '../support/test-app.ts';

export interface SmtpService extends TestApp {
  port: number;
  /** Stops the listener and leaves the app running. */
  stop(graceMs: number): Promise<void>;
  /** A session that has been greeted. */
  greeted(): Promise<Dialogue>;
  /** A session that has said EHLO. */
  session(): Promise<Dialogue>;
}

async function startListener(test: TestApp, limits: Partial<SmtpLimits>) {
  try {
    const listener = createSmtpListener(test.app, limits);
    return { listener, ...(await listener.listen()) };
  } catch (error) {
    await test.close();
    throw error;
  }
}

/**
 * Starts a listener that trusts the tests' connections as a gateway, unless `options` say
 * otherwise.
 */
export async function smtpService(
  options: TestAppOptions = {},
  limits: Partial<SmtpLimits> = {},
): Promise<SmtpService> {
  const { smtp, ...config } = options.config ?? {};
  const inbound = { trustedNetworks: ['127.0.0.1'], ...smtp?.inbound };
  const test = await testApp({
    start: Date.UTC(2026, 0, 12, 12),
    ...options,
    config: { ...config, smtp: { ...smtp, inbound } },
  });
  const { listener, port } = await startListener(test, limits);
  const dialogues: Dialogue[] = [];
  let stopped: Promise<void> | null = null;
  const stop = (graceMs: number) => {
    stopped ??= listener.close(graceMs);
    return stopped;
  };
  const greeted = async () => {
    const dialogue = await smtpDialogue(port);
    dialogues.push(dialogue);
    await dialogue.reply();
    return dialogue;
  };
  return {
    ...test,
    port,
    stop,
    greeted,
    async session() {
      const dialogue = await greeted();
      await dialogue.say('EHLO client.example');
      return dialogue;
    },
    async close() {
      for (const dialogue of dialogues) dialogue.end();
      await stop(0);
      await test.close();
    },
  };
}

/** Makes a mailbox on a domain of the caller's organization. */
export function addMailbox(app: App, caller: Caller, address: string) {
  const slug = address.slice(0, address.indexOf('@'));
  return createMailbox(app, caller, { slug, displayName: null, address });
}

/** Says MAIL and the RCPTs; returns the replies to the RCPTs. */
export async function envelope(
  dialogue: Dialogue,
  to: string | readonly string[],
  from = 'ada@example.com',
): Promise<string[]> {
  await dialogue.say(`MAIL FROM:<${from}>`);
  const replies: string[] = [];
  for (const one of [to].flat()) replies.push(await dialogue.say(`RCPT TO:<${one}>`));
  return replies;
}

/** Says DATA and sends the message dot-stuffed; returns the reply to the last dot. */
export async function data(dialogue: Dialogue, message: string | Buffer): Promise<string> {
  await dialogue.say('DATA');
  const text = Buffer.from(message).toString('latin1');
  const stuffed = text.replace(/^\./gm, '..');
  dialogue.write(Buffer.from(`${stuffed}.\r\n`, 'latin1'));
  return dialogue.reply();
}

/** Runs a whole transaction; returns the reply to the last dot. */
export async function deliver(
  dialogue: Dialogue,
  to: string | readonly string[],
  message: string | Buffer,
  from?: string,
): Promise<string> {
  await envelope(dialogue, to, from);
  return data(dialogue, message);
}

/** Lists the inbound messages of the caller's organization, newest first. */
export async function inbound(app: App, caller: Caller): Promise<Message[]> {
  const query = { direction: 'inbound', page: 1, limit: 100 } as const;
  return (await listMessages(app, caller, query)).items;
}

export function idIn(reply: string): string {
  return /^250 2\.0\.0 stored as (msg_[0-9a-z]{24})$/.exec(reply)?.[1] ?? `no id in: ${reply}`;
}

/** Reads a row with its raw mail: our Received field, and the message after it. */
export async function stored(
  app: App,
  id: string,
): Promise<{ row: MessageRow; received: string; raw: Buffer }> {
  const row = await findMessageRow(app.store.db, id);
  const blob = await readBlob(app, row?.raw_blob_id ?? '');
  if (!row || !blob) throw new Error(`${id} is not stored`);
  const end = blob.toString('latin1', 0, 2_000).search(/\r\n(?![ \t])/) + 2;
  return { row, received: blob.toString('latin1', 0, end), raw: blob.subarray(end) };
}
