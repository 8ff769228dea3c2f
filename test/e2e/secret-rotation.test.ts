// `svc secret rotate` beside real daemons under load: mail is signed and posts continue, without an
// error. Slow: two daemons rotate the key under load.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { stores } from '../support/command.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  relayTo,
  until,
} from '../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type Receiver, receiver } from '../webhooks/engine.ts';

const byText = (a = '', b = '') => (a < b ? -1 : 1);

/** Mails that are waited for after the rotation. */
const sentAfter = 20;

let schema: PostgresSchema | null = null;
let home: DaemonHome;
let sink: SmtpSink;
let hooks: Receiver;
afterEach(async () => {
  await home.close();
  await sink.close();
  await hooks.close();
  await schema?.drop();
  schema = null;
});

interface Rotated {
  key: string;
  rows: number;
}

/** Sends until `isOver`; returns the subjects. Sends to both daemons in turn, if there are two. */
async function sendOn(daemons: readonly DaemonProcess[], isOver: () => boolean): Promise<string[]> {
  const subjects: string[] = [];
  while (!isOver()) {
    const subject = `beside ${subjects.length}`;
    const daemon = daemons[subjects.length % daemons.length] ?? daemons[0];
    const answer = await daemon?.request('POST', '/v1/messages', {
      body: { channel: 'email', to: [{ email: 'ann@example.com' }], email: { subject, text: '.' } },
    });
    expect(answer?.status).toBe(201);
    subjects.push(subject);
  }
  return subjects;
}

describe.each(stores)('svc secret rotate on %s', (store) => {
  it('replaces the key of running daemons without an error', async () => {
    sink = await startSmtpSink();
    hooks = await receiver();
    const isShared = store === 'postgres';
    schema = isShared ? await postgresSchema(inject('postgresUrl')) : null;
    home = daemonHome({
      ...relayTo(sink),
      ...(schema && { SVC_DATABASE_URL: schema.url }),
      SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true',
    });
    const first = await home.start();
    const daemons = isShared ? [first, await home.start()] : [first];
    await home.cli.json(['webhooks', 'create', '--url', hooks.url, '--event', 'message.sent']);
    let isOver = false;
    const sending = sendOn(daemons, () => isOver);
    await until(() => sink.messages.length > 0, 'the first mail');
    const { key, rows } = await home.cli.json<Rotated>(['secret', 'rotate']);
    expect(rows).toBeGreaterThan(2);
    const count = sink.messages.length;
    await until(() => sink.messages.length > count + sentAfter, 'mail after the rotation');
    isOver = true;
    const subjects = await sending;
    await until(() => sink.messages.length >= subjects.length, 'all mail');
    const raw = sink.messages.map((mail) => mail.raw.toString());
    const arrived = raw.map((text) => /^Subject: (.*)\r$/m.exec(text)?.[1]);
    expect(arrived.toSorted(byText)).toEqual(subjects.toSorted(byText));
    for (const text of raw) expect(text).toContain('DKIM-Signature: ');
    await until(() => hooks.received.length >= subjects.length, 'all posts');
    for (const { headers } of hooks.received) expect(headers['webhook-signature']).toMatch(/^v1,/);
    for (const daemon of daemons) {
      const bad = daemon.log().filter(({ level }) => Number(level) >= 50 || level === 'error');
      expect(bad).toEqual([]);
    }
    const { items } = await home.cli.json<{ items: unknown[] }>(['secret', 'list']);
    expect(items).toMatchObject([{ id: key, status: 'in-force' }, { status: 'verifies' }]);
    // A daemon starts with the newest key alone, but not with an earlier one.
    const keys = readFileSync(join(home.cli.env.SVC_DATA_DIR ?? '', 'secret.key'));
    for (const daemon of daemons) await daemon.stop();
    const keyAt = (at: number) => keys.subarray(32 * at, 32 * at + 32).toString('base64');
    const wrong = await home.cli.run(['senders', 'list'], { env: { SVC_SECRET_KEY: keyAt(0) } });
    expect(wrong).toMatchObject({ code: 7 });
    expect(wrong.stderr).toContain('SVC_SECRET_KEY is not the key of this store');
    const restarted = await home.start({ env: { SVC_SECRET_KEY: keyAt(1) } });
    const sent = sink.messages.length;
    await sendOn([restarted], () => sink.messages.length > sent);
  });
});
