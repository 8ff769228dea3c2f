// A submission listener over a test app that relays to a sink, with helpers that log in and submit
// a mail. 127.0.0.2 stands for an address of another machine.
import { PassThrough } from 'node:stream';
import { createSubmissionListener, type SubmissionOptions } from '../../daemon/smtp/submission.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import type { CreateKey } from '../../src/access/keys/schema.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { listMessages } from '../../src/outbound/messages/messages.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { type RunningPipeline, startPipeline } from '../support/delivery.ts';
import { type Dialogue, smtpDialogue } from '../support/smtp-dialogue.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, type TestAppOptions, testApp } from '../support/test-app.ts';

export const elsewhere = '127.0.0.2';

export interface SubmissionService extends TestApp {
  port: number;
  sink: SmtpSink;
  /** Returns the queue, which the first call starts. */
  queue(): Promise<RunningPipeline>;
  stop(graceMs: number): Promise<void>;
  /** A session that has said EHLO. */
  session(from?: string): Promise<Dialogue>;
  /** A session that has logged in, by default with the owner's key. */
  loggedIn(key?: string): Promise<Dialogue>;
  key(input?: CreateKey): Promise<{ id: string; plaintext: string }>;
  /** The lines logged since the last call. */
  logged(): Record<string, unknown>[];
}

async function startListener(app: App, test: TestApp, options: SubmissionOptions) {
  try {
    const needsTls = (address: string) => address === elsewhere;
    const authenticator = createAuthenticator(app);
    const listener = createSubmissionListener(app, authenticator, { needsTls, ...options });
    return { listener, ...(await listener.listen()) };
  } catch (error) {
    await test.close();
    throw error;
  }
}

export async function submissionService(
  options: TestAppOptions = {},
  submission: SubmissionOptions = {},
): Promise<SubmissionService> {
  const sink = await startSmtpSink({ tls: false });
  const relay = { host: sink.host, port: sink.port };
  const test = await testApp({
    ...options,
    config: { delivery: { mode: 'relay', relay }, ...options.config },
  });
  const lines = new PassThrough();
  const log = await createLogger({ level: 'info', pretty: false, destination: lines });
  const app: App = { ...test.app, log };
  const { listener, port } = await startListener(app, test, submission);
  const dialogues: Dialogue[] = [];
  let pipeline: Promise<RunningPipeline> | null = null;
  let stopped: Promise<void> | null = null;
  const stop = (graceMs: number) => {
    stopped ??= listener.close(graceMs);
    return stopped;
  };
  const session = async (from?: string) => {
    const dialogue = await smtpDialogue(port, from);
    dialogues.push(dialogue);
    await dialogue.reply();
    await dialogue.say('EHLO client.example');
    return dialogue;
  };
  return {
    ...test,
    app,
    port,
    sink,
    stop,
    session,
    queue() {
      pipeline ??= startPipeline(app);
      return pipeline;
    },
    async loggedIn(key = test.apiKey) {
      const dialogue = await session();
      const reply = await logIn(dialogue, key);
      if (!reply.startsWith('235 ')) throw new Error(`the login was refused: ${reply}`);
      return dialogue;
    },
    async key(input = { role: 'sender' }) {
      const { id, key } = await createKey(app, test.operator, input);
      return { id, plaintext: key ?? '' };
    },
    logged() {
      const text = String(lines.read() ?? '');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    async close() {
      for (const dialogue of dialogues) dialogue.end();
      await stop(0);
      await (await pipeline)?.close();
      await test.close();
      await sink.close();
    },
  };
}

export const base64 = (text: string) => Buffer.from(text).toString('base64');

export function logIn(dialogue: Dialogue, key: string, user = 'wordpress'): Promise<string> {
  return dialogue.say(`AUTH PLAIN ${base64(`\0${user}\0${key}`)}`);
}

/** Makes a small mail with these fields; null leaves a field out. */
export function mail(fields: Record<string, string | null> = {}, text = 'It works.\r\n'): string {
  const all: Record<string, string | null> = {
    From: 'Ada <hello@sandbox.test>',
    To: 'bob@example.com',
    Subject: 'Hello',
    'Message-ID': '<one@client.example>',
    Date: 'Mon, 05 Jan 2026 11:59:00 +0000',
    ...fields,
  };
  const header = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : `${name}: ${value}\r\n`,
  );
  return `${header.join('')}\r\n${text}`;
}

/** Sends MAIL, RCPTs and DATA; returns the last reply. */
export async function submit(
  dialogue: Dialogue,
  message: string | Buffer,
  to: string | readonly string[] = 'bob@example.com',
  parameters = '',
): Promise<string> {
  const replies = [await dialogue.say(`MAIL FROM:<bounces@client.example>${parameters}`)];
  for (const one of [to].flat()) replies.push(await dialogue.say(`RCPT TO:<${one}>`));
  const refusal = replies.find((reply) => !reply.startsWith('250 '));
  if (refusal !== undefined) {
    await dialogue.say('RSET');
    return refusal;
  }
  await dialogue.say('DATA');
  const stuffed = Buffer.from(message).toString('latin1').replace(/^\./gm, '..');
  dialogue.write(Buffer.from(`${stuffed}.\r\n`, 'latin1'));
  return dialogue.reply();
}

export function idIn(reply: string): string {
  return /^250 2\.0\.0 accepted as (msg_[0-9a-z]{24})$/.exec(reply)?.[1] ?? `no id in: ${reply}`;
}

/** Lists the outbound messages of the caller's organization, newest first. */
export async function outbound(app: App, caller: Caller): Promise<Message[]> {
  const query = { direction: 'outbound', page: 1, limit: 100 } as const;
  return (await listMessages(app, caller, query)).items;
}
