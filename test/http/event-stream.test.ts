// The streams of events over real sockets: permissions, events, mailboxes of bound keys,
// heartbeats, the end; and their bounds.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey, revokeKey, updateKey } from '../../src/access/keys/keys.ts';
import type { CreateKey } from '../../src/access/keys/schema.ts';
import type { MessagePresenter } from '../../src/history/events/hooks.ts';
import { recordTimeline } from '../../src/history/events/record.ts';
import type { LogItem } from '../../src/history/events/schema.ts';
import { createMailbox, updateMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { createNamespace } from '../../src/identity/mailboxes/namespaces.ts';
import type { Mailbox } from '../../src/identity/mailboxes/schema.ts';
import { stores } from '../support/command.ts';
import { eachApp } from '../support/each-app.ts';
import { passingTime } from '../support/virtual-clock.ts';
import { type RawConnection, rawConnection } from './raw-socket.ts';

/** Parses the events in these bytes. */
function eventsIn(text: string): LogItem[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as LogItem);
}

describe.each(stores)('the stream of events on %s', (store) => {
  const test = eachApp({ store });
  let http: HttpServer;
  let url: string;
  let open: RawConnection[];
  beforeEach(async () => {
    const authenticator = createAuthenticator(test.app);
    http = createHttpServer(test.app, {
      routes,
      authenticate: (plaintext) => authenticator.authenticate(plaintext),
      isQueueRunning: () => true,
    });
    ({ url } = await http.listen());
    open = [];
  });
  afterEach(async () => {
    for (const { socket } of open) socket.destroy();
    await http.close(0);
  });

  const all = '/v1/events/stream';
  const connect = (
    query = '',
    headers: Record<string, string> = {},
    key = test.apiKey,
    path = all,
  ) => {
    const fields = Object.entries({ 'x-api-key': key, ...headers }).map((field) =>
      field.join(': '),
    );
    const head = [`GET ${path}${query} HTTP/1.1`, 'host: svc', ...fields];
    const connection = rawConnection(url, `${head.join('\r\n')}\r\n\r\n`);
    open.push(connection);
    return connection;
  };
  const opened = async (...given: Parameters<typeof connect>) => {
    const stream = connect(...given);
    await stream.untilReceived('retry: ');
    return stream;
  };
  const happen = (messageId: string, padding = '') =>
    test.app.store.write((trx) =>
      recordTimeline(test.app, trx, [
        {
          organizationId: test.caller.organizationId,
          messageId,
          recipientId: null,
          eventType: 'sent',
          status: 'sent',
          timestamp: test.clock.now(),
          metadata: null,
        },
      ]).then(() => padding),
    );
  const received = (stream: RawConnection, text: string) =>
    passingTime(test.clock, stream.untilReceived(text), 100);
  const refusal = async (...given: Parameters<typeof connect>) => {
    const text = await connect(...given).untilReceived('}');
    return Number(text.split(' ')[1]);
  };

  it('delivers events as they happen, each with its id and kind', async () => {
    const stream = await opened();
    await happen('msg_1');
    const text = await received(stream, 'msg_1');
    expect(text).toContain('content-type: text/event-stream');
    const [item] = eventsIn(text);
    expect(item).toMatchObject({ type: 'message.sent', data: { id: 'msg_1', deleted: true } });
    expect(text).toContain(`id: ${item?.id}\nevent: message.sent\ndata: `);
  });

  it("continues after the client's last event", async () => {
    const stream = await opened();
    await happen('msg_1');
    const [first] = eventsIn(await received(stream, 'msg_1'));
    stream.socket.destroy();
    await happen('msg_2');
    const again = await opened('', { 'last-event-id': first?.id ?? '' });
    await happen('msg_3');
    const resumed = eventsIn(await received(again, 'msg_3'));
    expect(resumed.map(({ data }) => data.id)).toEqual(['msg_2', 'msg_3']);
  });

  it('delivers only events that match the filter', async () => {
    const stream = await opened('?subject=msg_2&type=domain.failed,message.*');
    await happen('msg_1');
    await happen('msg_2');
    expect(eventsIn(await received(stream, 'msg_2')).map(({ data }) => data.id)).toEqual(['msg_2']);
  });

  it('rejects callers without permission, and invalid parameters', async () => {
    const { key } = await createKey(test.app, test.operator, {
      permissions: { messages: ['read'] },
    });
    expect(await refusal('', {}, '')).toBe(401);
    expect(await refusal('', {}, key ?? '')).toBe(403);
    expect(await refusal('?type=message.nope')).toBe(422);
    expect(await refusal('?limit=1')).toBe(422);
    expect(await refusal('', { 'last-event-id': 'x' })).toBe(422);
  });

  describe('of a key bound to mailboxes', () => {
    let desk: Mailbox;
    let other: Mailbox;
    let agents: string;
    beforeEach(async () => {
      const { app, operator } = test;
      agents = (await createNamespace(app, operator, { name: 'agents' })).id;
      desk = await createMailbox(app, operator, { slug: 'desk', namespaceId: agents });
      other = await createMailbox(app, operator, { slug: 'other' });
    });
    const make = (constraints: CreateKey['constraints'], resource = 'mailboxes') =>
      createKey(test.app, test.operator, { permissions: { [resource]: ['read'] }, constraints });
    const rename = ({ id }: Mailbox, displayName: string) =>
      updateMailbox(test.app, test.operator, id, { displayName });
    const namesIn = (text: string) => eventsIn(text).map(({ data }) => data.displayName);

    it.each([
      ['mailboxIds', () => ({ mailboxIds: [desk.id] })],
      ['a namespace', () => ({ namespaceId: agents })],
    ])('shows the events of its own alone, with %s', async (_kind, constraints) => {
      const { key } = await make(constraints());
      const stream = await opened('', {}, key ?? '');
      await rename(other, 'hidden');
      await happen('msg_1');
      await rename(desk, 'shown');
      expect(namesIn(await received(stream, 'shown'))).toEqual(['shown']);
      const past = await opened('?since=2026-01-01T00:00:00Z', {}, key ?? '');
      expect(namesIn(await received(past, 'shown'))).toEqual([null, 'shown']);
    });

    it('shows a mailbox that joins its namespace later', async () => {
      const { key } = await make({ namespaceId: agents });
      const stream = await opened('', {}, key ?? '');
      const { app, operator } = test;
      const later = await createMailbox(app, operator, { slug: 'later', namespaceId: agents });
      expect(eventsIn(await received(stream, later.id))[0]).toMatchObject({
        type: 'mailbox.created',
        data: { id: later.id },
      });
    });

    it('opens with mailboxes:read or webhooks:read, and with no other permission', async () => {
      const bound = { mailboxIds: [desk.id] };
      await opened('', {}, (await make(bound, 'webhooks')).key ?? '');
      expect(await refusal('', {}, (await make(bound, 'messages')).key ?? '')).toBe(403);
    });

    it('ends when the key is bound to other mailboxes', async () => {
      const { id, key } = await make({ mailboxIds: [desk.id] });
      const stream = await opened('', {}, key ?? '');
      const constraints = { mailboxIds: [other.id] };
      await updateKey(test.app, test.operator, id, { constraints });
      await test.clock.advance(15_000);
      await passingTime(test.clock, stream.untilReceived('0\r\n\r\n'), 1_000);
    });

    describe('of one mailbox', () => {
      const pathOf = ({ id }: { id: string }) => `/v1/mailboxes/${id}/events/stream`;

      it('shows the events of the mailbox in the path alone', async () => {
        const stream = await opened('', {}, test.apiKey, pathOf(desk));
        await rename(other, 'hidden');
        await rename(desk, 'shown');
        expect(namesIn(await received(stream, 'shown'))).toEqual(['shown']);
      });

      it('continues after the last event of the client', async () => {
        const { key } = await make({ mailboxIds: [desk.id] });
        const stream = await opened('', {}, key ?? '', pathOf(desk));
        await rename(desk, 'first');
        const [first] = eventsIn(await received(stream, 'first'));
        stream.socket.destroy();
        await rename(desk, 'second');
        const last = { 'last-event-id': first?.id ?? '' };
        const again = await opened('', last, key ?? '', pathOf(desk));
        expect(namesIn(await received(again, 'second'))).toEqual(['second']);
      });

      it('refuses other keys, unknown mailboxes and a subject', async () => {
        const { key } = await make({ mailboxIds: [desk.id] });
        const unknown = { id: test.app.newId('mailbox') };
        const reader = await createKey(test.app, test.operator, {
          permissions: { webhooks: ['read'] },
        });
        expect(await refusal('', {}, '', pathOf(desk))).toBe(401);
        expect(await refusal('', {}, reader.key ?? '', pathOf(desk))).toBe(403);
        expect(await refusal('', {}, key ?? '', pathOf(other))).toBe(403);
        expect(await refusal('', {}, key ?? '', pathOf(unknown))).toBe(403);
        expect(await refusal('', {}, test.apiKey, pathOf(unknown))).toBe(404);
        expect(await refusal('', {}, test.apiKey, pathOf({ id: 'x' }))).toBe(422);
        expect(await refusal('?subject=msg_1', {}, test.apiKey, pathOf(desk))).toBe(422);
      });
    });
  });

  it('sends a heartbeat each 15 seconds, and ends within a second when its key is revoked', async () => {
    const made = await createKey(test.app, test.operator, { permissions: { webhooks: ['read'] } });
    const stream = await opened('', {}, made.key ?? '');
    await test.clock.advance(14_000);
    const before = await stream.untilReceived('retry: ');
    expect(before).not.toMatch(/^:\n/m);
    await test.clock.advance(1_000);
    await stream.untilReceived('\n:\n\n');
    await revokeKey(test.app, test.operator, made.id);
    await test.clock.advance(1_000);
    expect(await passingTime(test.clock, stream.untilReceived('0\r\n\r\n'), 1_000)).toContain(
      ':\n',
    );
  });

  it('misses and repeats nothing across cuts, with four writers', async () => {
    // On SQLite one process writes at a time; on PostgreSQL two daemons do.
    const other = store === 'postgres' ? await test.another() : test.app;
    const each = 15;
    const writer = async (number: number) => {
      for (let index = 0; index < each; index++) {
        const app = number % 2 === 0 ? test.app : other;
        await app.store.write(async (trx) => {
          const step = { recipientId: null, metadata: null, timestamp: test.clock.now() };
          const { organizationId } = test.caller;
          const messageId = `msg_${number}x${index}`;
          const event = { ...step, organizationId, messageId, status: 'sent' };
          await recordTimeline(app, trx, [{ ...event, eventType: 'sent' }]);
        });
      }
    };
    await happen('msg_first');
    let last = '';
    const delivered: LogItem[] = [];
    let stream = await opened('?since=2026-01-01T00:00:00Z&type=message.sent');
    const writing = Promise.all([0, 1, 2, 3].map(writer));
    const wanted = 4 * each + 1;
    while (delivered.length < wanted) {
      const more = eventsIn(await received(stream, 'data: '));
      stream.socket.destroy();
      delivered.push(...more);
      last = more.at(-1)?.id ?? last;
      if (delivered.length < wanted) stream = await opened('', { 'last-event-id': last });
    }
    await writing;
    const ids = delivered.map(({ id }) => id);
    expect(new Set(ids).size).toBe(wanted);
    expect(new Set(delivered.map(({ data }) => data.id)).size).toBe(wanted);
  });

  it('ends when the server closes', async () => {
    const stream = await opened();
    await http.close(60_000);
    await stream.untilClosed();
  });
});

/** Messages of 64 KB each: a megabyte of events is soon there. */
const presentLarge: MessagePresenter = async (_app, _organization, events) =>
  new Map(events.map(({ id, subject }) => [id, { id: subject, text: 'x'.repeat(65_536) }]));

describe('the bounds of streams', () => {
  const test = eachApp({ hooks: { presentMessageEvents: presentLarge } });
  let http: HttpServer;
  beforeEach(() => {
    const authenticator = createAuthenticator(test.app);
    http = createHttpServer(test.app, {
      routes,
      authenticate: async (plaintext) => {
        const organizationId = /^org_/.test(plaintext) ? plaintext : null;
        if (organizationId) return { ...test.caller, organizationId };
        return authenticator.authenticate(plaintext);
      },
      isQueueRunning: () => true,
    });
  });
  afterEach(() => http.close(0));
  const head = (key = test.apiKey) =>
    `GET /v1/events/stream HTTP/1.1\r\nhost: svc\r\nx-api-key: ${key}\r\n\r\n`;
  const happen = (count: number) =>
    test.app.store.write((trx) =>
      recordTimeline(
        test.app,
        trx,
        Array.from({ length: count }, (_, index) => ({
          organizationId: test.caller.organizationId,
          messageId: `msg_${index}`,
          recipientId: null,
          eventType: 'sent' as const,
          status: 'sent',
          timestamp: test.clock.now(),
          metadata: null,
        })),
      ),
    );

  it('allow 71 streams per organization, and another once one has ended', async () => {
    const { url } = await http.listen();
    const streams = Array.from({ length: 71 }, () => rawConnection(url, head()));
    for (const stream of streams) await stream.untilReceived('retry: ');
    const refused = await rawConnection(url, head()).untilReceived('}');
    expect(refused).toContain(' 503 ');
    expect(refused).toContain('retry-after: 30');
    expect(await test.app.metrics.registry.metrics()).toContain('reason="capacity-streams"} 1');
    streams[0]?.socket.destroy();
    await expect
      .poll(() => rawConnection(url, head()).untilReceived('\r\n\r\n'))
      .toContain(' 200 ');
    for (const { socket } of streams) socket.destroy();
  });

  it('end a stream of the largest holder for a newcomer when all 100 are open', async () => {
    const { url } = await http.listen();
    const open = async (key: string) => {
      const stream = rawConnection(url, head(key));
      const isOpen = (await stream.untilReceived('\r\n\r\n')).includes(' 200 ');
      return isOpen ? stream : null;
    };
    const holders: string[] = [];
    const streams: RawConnection[] = [];
    for (let number = 0; holders.length < 100; number++) {
      const stream = await open(`org_${number}`);
      if (!stream) break;
      for (let next: typeof stream | null = stream; next; next = await open(`org_${number}`)) {
        streams.push(next);
        holders.push(`org_${number}`);
      }
    }
    expect([holders.length, new Set(holders).size]).toEqual([100, 10]);
    expect(await open('org_late')).not.toBeNull();
    await expect.poll(() => streams.filter(({ socket }) => socket.closed).length).toBe(1);
    expect(holders[streams.findIndex(({ socket }) => socket.closed)]).toBe('org_0');
    for (const { socket } of streams) socket.destroy();
  });

  it('cut a reader that takes nothing at a megabyte, not one that reads', async () => {
    const { url } = await http.listen();
    const slow = rawConnection(url, head());
    await slow.untilReceived('retry: ');
    slow.socket.pause();
    const quick = rawConnection(url, head());
    await quick.untilReceived('retry: ');
    await happen(400);
    await passingTime(test.clock, quick.untilReceived('"id":"msg_399"'), 100);
    const closed = new Promise((resolve) => slow.socket.once('close', resolve));
    // Bytes that the system took before the cut can still be read.
    await test.clock.advance(10_000);
    slow.socket.resume();
    await passingTime(test.clock, closed, 1_000);
    expect(slow.socket.bytesRead).toBeLessThan(400 * 65_536);
    quick.socket.destroy();
  });
});
