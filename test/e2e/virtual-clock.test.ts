// A daemon with a virtual clock, as a process: what falls due by an advance has settled when it
// returns. Slow: daemons start again for each of their clocks.
import { existsSync, mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { MailboxAction } from '../../src/inbox/approvals/schema.ts';
import type { ReplyResult } from '../../src/inbox/replies/schema.ts';
import type { Thread } from '../../src/inbox/threads/schema.ts';
import type { Message, TimelineEvent } from '../../src/outbound/messages/schema.ts';
import { stores } from '../support/command.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  relayTo,
} from '../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

const at = '2026-03-02T09:00:00.000Z';
const later = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
const dayMs = 86_400_000;
const flags = ['--clock', 'virtual', '--allow-network'];

describe.each(stores)('a virtual clock on %s', (store) => {
  let schema: PostgresSchema | null = null;
  let sink: SmtpSink;
  let receiver: Server;
  /** Kinds of events and their times, as posted. */
  const posted: { type: string; timestamp: string }[] = [];
  let refusedPosts = 0;
  let home: DaemonHome;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    schema = store === 'postgres' ? await postgresSchema(inject('postgresUrl')) : null;
    sink = await startSmtpSink();
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk;
      });
      request.on('end', () => {
        const isRefused = refusedPosts > 0;
        if (isRefused) refusedPosts -= 1;
        else posted.push(JSON.parse(body));
        response.writeHead(isRefused ? 503 : 200).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const env = {
      ...relayTo(sink),
      SVC_DELIVERY_RETRY_SCHEDULE_MINUTES: '[4320]',
      SVC_DELIVERY_RETRY_MAX_AGE_HOURS: '200',
      SVC_RETENTION_MESSAGES_DAYS: '20',
      SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true',
      ...(schema && { SVC_DATABASE_URL: schema.url }),
    };
    home = daemonHome(env, { isEmpty: true });
    daemon = await home.start({ flags: [...flags, '--at', at] });
    const { status } = await daemon.request('POST', '/v1/webhooks', {
      body: {
        url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
        events: ['message.delivered', 'message.sent'],
      },
    });
    expect(status).toBe(201);
  });
  afterAll(async () => {
    await home.close();
    await sink.close();
    receiver.close();
    await schema?.drop();
  });

  const move = (body: object) =>
    daemon.request<Record<string, unknown>>('POST', '/dev/clock', { body });
  const send = async (extra: object = {}, path = '/v1/messages') => {
    const { status, body } = await daemon.request<Message>('POST', path, {
      body: {
        channel: 'email',
        to: [{ email: 'ada@example.com' }],
        email: { subject: 'Clock', text: 'tick' },
        ...extra,
      },
    });
    expect(status).toBe(201);
    return body;
  };
  const timeline = async (id: string) => {
    const { body } = await daemon.request<TimelineEvent[]>('GET', `/v1/messages/${id}/events`);
    return body.map(({ status, timestamp }) => `${status} ${timestamp}`);
  };

  it('shows its time, at which resources are made', async () => {
    const { status, body } = await daemon.request('GET', '/dev/clock');
    expect({ status, body }).toEqual({ status: 200, body: { now: at, mode: 'virtual' } });
    expect((await send()).createdAt).toBe(at);
    expect((await move({ advance: '0s' })).body).toEqual({ now: at, mode: 'virtual' });
    expect(sink.received).toBe(1);
  });

  it('retries after three days once they have passed, and posts the event again a while later', async () => {
    const stop = sink.on({ verb: 'RCPT', times: 1 }, '451 4.7.1 later');
    const { id } = await send();
    await move({ advance: '0s' });
    stop();
    const before = sink.received;
    refusedPosts = 1;
    const began = performance.now();
    const { status, body } = await move({ advance: '4d' });
    const tookMs = performance.now() - began;
    expect({ status, body }).toEqual({
      status: 200,
      body: { now: later(4 * dayMs), mode: 'virtual' },
    });
    expect(sink.received).toBe(before + 1);
    const events = await timeline(id);
    const sentAt = Date.parse(events.find((one) => one.startsWith('sent '))?.split(' ')[1] ?? '');
    // The schedule has jitter.
    expect(Math.abs(sentAt - Date.parse(later(3 * dayMs)))).toBeLessThan(0.25 * 3 * dayMs);
    expect(tookMs).toBeLessThan(5_000);
    expect(posted.filter(({ type }) => type === 'message.sent')).toHaveLength(2);
  });

  it('sends scheduled mail exactly at its time, and not before', async () => {
    const { body: now } = await daemon.request<{ now: string }>('GET', '/dev/clock');
    const scheduledAt = new Date(Date.parse(now.now) + 7_200_000).toISOString();
    const { id } = await send({ scheduledFor: scheduledAt }, '/v1/messages/scheduled');
    const before = sink.received;
    await move({ to: new Date(Date.parse(scheduledAt) - 1).toISOString() });
    expect(sink.received).toBe(before);
    await move({ advance: '1s' });
    expect(sink.received).toBe(before + 1);
    expect(await timeline(id)).toContain(`sent ${scheduledAt}`);
  });

  it('wakes a snoozed thread, ends a proposal and deletes old messages, each at its time', async () => {
    const { body: clock } = await daemon.request<{ now: string }>('GET', '/dev/clock');
    // Jobs run at whole minutes.
    const started = Math.ceil(Date.parse(clock.now) / 3_600_000) * 3_600_000;
    const past = (ms: number) => ({ to: new Date(started + ms).toISOString() });
    await move(past(0));
    const { body: mailboxes } = await daemon.request<{ items: { id: string }[] }>(
      'GET',
      '/v1/mailboxes',
    );
    const mailbox = `/v1/mailboxes/${mailboxes.items[0]?.id}`;
    const { id: messageId } = await send();
    const { body: sent } = await daemon.request<ReplyResult>('POST', `${mailbox}/messages`, {
      body: { to: ['ada@example.com'], subject: 'Snoozed', text: 'Good night' },
    });
    const thread = `${mailbox}/threads/${sent.threadId}`;
    const snoozedUntil = past(dayMs).to;
    expect((await daemon.request('PATCH', thread, { body: { snoozedUntil } })).status).toBe(200);
    const { body: agent } = await daemon.request<{ key: string }>('POST', '/v1/api-keys', {
      body: {
        name: 'Agent',
        sendMode: 'approval',
        permissions: { mailboxes: ['read', 'write', 'send'] },
        constraints: { mailboxIds: [mailboxes.items[0]?.id] },
      },
    });
    const { body: proposed } = await daemon.request<ReplyResult>('POST', `${mailbox}/messages`, {
      apiKey: agent.key,
      body: { to: ['ada@example.com'], subject: 'Proposed', text: 'May I?' },
    });
    const states = async () => {
      const { body: one } = await daemon.request<Thread>('GET', thread);
      const { body: action } = await daemon.request<MailboxAction>(
        'GET',
        `${mailbox}/actions/${proposed.actionId}`,
      );
      const { status: message } = await daemon.request('GET', `/v1/messages/${messageId}`);
      return {
        snoozedUntil: one.snoozedUntil,
        state: action.state,
        expiresAt: action.expiresAt,
        message,
      };
    };
    const expiresAt = past(7 * dayMs).to;
    const waiting = { snoozedUntil, state: 'proposed', expiresAt, message: 200 };
    await move(past(dayMs - 1));
    expect(await states()).toEqual(waiting);
    await move(past(dayMs));
    const awake = { ...waiting, snoozedUntil: null };
    expect(await states()).toEqual(awake);
    await move(past(7 * dayMs - 1));
    expect(await states()).toEqual(awake);
    await move(past(7 * dayMs));
    const expired = { ...awake, state: 'expired' };
    expect(await states()).toEqual(expired);
    await move(past(20 * dayMs - 1));
    expect(await states()).toEqual(expired);
    // Old messages are deleted once each hour.
    await move(past(20 * dayMs + 3_600_000));
    expect((await daemon.request('GET', `/v1/messages/${messageId}`)).status).toBe(404);
  });

  it('refuses times that cannot be, each by its field', async () => {
    const refusals: [object, string][] = [
      [{ to: '2020-01-01T00:00:00Z' }, 'to'],
      [{ to: '2126-01-01T00:00:00Z' }, 'to'],
      [{ to: 'tomorrow' }, 'to'],
      [{ advance: '36500d' }, 'advance'],
      [{ advance: '-3d' }, 'advance'],
      [{ advance: 3 }, 'advance'],
      [{ follow: false }, 'follow'],
      [{ back: '3d' }, 'back'],
    ];
    for (const [body, field] of refusals) {
      const answer = await move(body);
      expect(answer.status, JSON.stringify(body)).toBe(422);
      expect(answer.body.fields, JSON.stringify(body)).toHaveProperty(field);
    }
    expect((await move({})).status).toBe(422);
    expect((await move({ advance: '1s', follow: true })).status).toBe(422);
  });

  it('takes owner keys of the first organization only', async () => {
    await home.cli.json(['orgs', 'create', '--name', 'other', '--plan', 'scale']);
    const foreign = await home.cli.json<{ key: string }>([
      ...['keys', 'create', '--name', 'Owner', '--role', 'owner', '--org', 'other'],
    ]);
    const moved = await daemon.request('POST', '/dev/clock', {
      apiKey: foreign.key,
      body: { advance: '1d' },
    });
    expect(moved.status).toBe(403);
    const none = await daemon.request('POST', '/dev/clock', { apiKey: null, body: {} });
    expect(none.status).toBe(401);
    const { body } = await daemon.request<{ key: string }>('POST', '/v1/api-keys', {
      body: { name: 'Admin', role: 'admin' },
    });
    const admin = await daemon.request('GET', '/dev/clock', { apiKey: body.key });
    expect(admin.status).toBe(403);
  });

  it('is the clock of commands too, and continues after a restart', async () => {
    const { now } = await home.cli.json<{ now: string }>(['dev', 'clock', 'advance', '1d']);
    const made = await home.cli.json<Message>([
      ...['messages', 'send', '--to', 'bob@example.com', '--subject', 'Hi', '--text', 'ho'],
    ]);
    expect(made.createdAt).toBe(now);
    await daemon.stop();
    expect((await home.cli.run(['dev', 'clock'])).code).toBe(7);
    for (const [wrong, words] of [
      [[], 'The times of this store are virtual'],
      [[...flags, '--at', at], 'time never goes back'],
      [['--clock', 'virtual'], '--allow-network'],
      [['--at', at], 'needs --clock virtual'],
    ] as const) {
      const { code, stderr } = await home.cli.run(['daemon', ...wrong]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
    }
    daemon = await home.start({ flags });
    const { body } = await daemon.request<{ now: string }>('GET', '/dev/clock');
    expect(body.now).toBe(now);
  });

  it('keeps the store of a configuration whose mail leaves; else a reset makes a first start', async () => {
    const captured = { env: { SVC_DELIVERY_MODE: 'capture' } };
    const leaving = await home.cli.run(['dev', 'reset', '--yes']);
    expect(leaving).toMatchObject({ code: 2, stderr: expect.stringContaining('delivery.mode') });
    const running = await home.cli.run(['dev', 'reset', '--yes'], captured);
    expect(running).toMatchObject({ code: 7, stderr: expect.stringContaining('already runs') });
    await daemon.stop();
    const files = join(home.cli.directory, 'data/blobs/org_x');
    mkdirSync(files, { recursive: true });
    expect((await home.cli.run(['dev', 'reset'], captured)).code).toBe(2);
    expect(existsSync(files)).toBe(true);
    expect((await home.cli.run(['dev', 'reset', '--yes'], captured)).code).toBe(0);
    if (store === 'sqlite') {
      expect((await home.cli.run(['dev', 'reset', '--yes'], captured)).code).toBe(7);
    }
    expect(existsSync(files)).toBe(false);
    daemon = await home.start({ flags: [...flags, '--at', at] });
    const old = await daemon.request('GET', '/v1/messages');
    expect(old.status).toBe(401);
  });
});
