// The log of events: in order, by organization, with the data of each kind; and sinks that take
// events in the transaction that records them.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventKinds } from '../../../daemon/http/event-kinds.ts';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import type { EventSink, LoggedEvent } from '../../../src/history/events/hooks.ts';
import { logBetween, readEvents } from '../../../src/history/events/log.ts';
import { recordEvents } from '../../../src/history/events/record.ts';
import type { LogItem } from '../../../src/history/events/schema.ts';
import { addDomain, getDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { resumeDomain, resumeSending } from '../../../src/outbound/queue/desk/resume.ts';
import { hooks } from '../../../src/service/service.ts';
import {
  complaint,
  late,
  lateBounce,
  many,
  type Outcomes,
  startOutcomes,
} from '../../identity/reputation/fixtures.ts';
import {
  noRows,
  otherOrganization,
  payload,
  rowCounts,
  send,
} from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

interface LogPage {
  items: LogItem[];
  nextCursor: string | null;
}

/** The first start creates the mailbox of the sandbox. */
const firstStartEvents = ['mailbox.created'];

describe.each(stores)('the log of events on %s', (store) => {
  const { test, api } = eachApi({ store });
  let outcomes: Outcomes;
  beforeEach(async () => {
    outcomes = await startOutcomes(test.app, { relay: true });
  });
  afterEach(() => outcomes.close());

  const read = async (query = ''): Promise<LogPage> => {
    const { status, body } = await api.get<LogPage>(`/v1/events${query}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body;
  };
  const types = async (query = '') => (await read(query)).items.map(({ type }) => type);
  const readAll = async (query: string): Promise<LogItem[]> => {
    const items: LogItem[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: LogPage = await read(`${query}${cursor && `&cursor=${cursor}`}`);
      items.push(...page.items);
      cursor = page.nextCursor;
    }
    return items;
  };
  const addIll = async () => {
    const { id } = await addDomain(test.app, test.operator, {
      domain: 'ill.example',
      dkim: 'ed25519',
    });
    await verifyDomain(test.app, test.operator, id, { force: true });
    return id;
  };
  const count = (fromDomain: string, attempted: number, hard_bounced = 0) => {
    const { organizationId } = test.caller;
    const counted = {
      organizationId,
      sender: null,
      fromDomain,
      counts: { attempted, hard_bounced },
    };
    return test.app.store.write((trx) => countHealth(test.app, trx, [counted]));
  };

  it('contains events of messages and other resources in one order', async () => {
    const domain = await addIll();
    const [message] = await outcomes.deliver(test.caller, ['ada@example.com']);
    await pauseOrganization(test.app, 'default', {});
    await resumeSending(test.app, 'default');
    expect(await types('?order=asc')).toEqual([
      ...firstStartEvents,
      'domain.verified',
      'message.accepted',
      'message.sent',
      'workspace.paused',
      'workspace.resumed',
    ]);
    expect(await types()).toEqual((await types('?order=asc')).reverse());
    const [newest] = (await read('?limit=1')).items;
    expect(newest).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'workspace.resumed',
      timestamp: '2026-01-05T12:00:00.000Z',
      organizationId: test.caller.organizationId,
      data: expect.objectContaining({ id: test.caller.organizationId, sendingStatus: 'enabled' }),
    });
    expect(await types(`?subject=${message?.id}`)).toEqual(['message.sent', 'message.accepted']);
    expect(await types(`?subject=${domain}`)).toEqual(['domain.verified']);
    expect(await types('?type=message.sent')).toEqual(['message.sent']);
    expect(await types('?type=message.*,workspace.paused&order=asc')).toEqual([
      'message.accepted',
      'message.sent',
      'workspace.paused',
    ]);
    expect(await types('?type=*')).toEqual(await types());
    expect(await types(`?subject=${domain}&type=message.sent`)).toEqual([]);
  });

  it('shows a message with its status and fields as of the event', async () => {
    const [message] = await outcomes.deliver(test.caller, ['dead@example.com']);
    const [bounced, accepted] = (await read(`?subject=${message?.id}`)).items;
    expect(accepted?.data).toMatchObject({ id: message?.id, status: 'pending' });
    expect(accepted?.data.event).toMatchObject({ recipient: null, reply: null });
    expect(bounced?.type).toBe('message.bounced');
    expect(bounced?.data).toMatchObject({
      status: 'bounced',
      subject: 'Hello',
      recipients: [{ email: 'dead@example.com', status: 'bounced' }],
      event: { recipient: 'dead@example.com', errorCode: 'unknown', reply: 'User unknown' },
    });
  });

  it('has data that fits the schema of each kind', async () => {
    const id = await addIll();
    await createMailbox(test.app, test.operator, {
      slug: 'support',
      displayName: null,
      address: 'support@sandbox.test',
    });
    await api.post(
      '/v1/messages/scheduled',
      payload({}, { scheduledFor: '2026-02-01T00:00:00Z', idempotencyKey: 'later' }),
    );
    const deliver = (...addresses: string[]) => outcomes.deliver(test.caller, addresses);
    await deliver('dead@example.com', 'wait@example.com', 'ours@example.com');
    const [first, second] = await deliver('a@example.com', 'b@example.com');
    await late(test.app, first?.id ?? '', complaint);
    await late(test.app, second?.id ?? '', lateBounce);
    await count('sandbox.test', 300);
    await count('ill.example', 90);
    await outcomes.deliver(test.caller, many(10, 'dead'), 'news@ill.example');
    await resumeDomain(test.app, test.operator, id, {});
    await pauseOrganization(test.app, 'default', {});
    await resumeSending(test.app, 'default');
    const logged = await readAll('?order=asc&limit=7');
    for (const { type, data } of logged) {
      const kind = eventKinds.find((candidate) => candidate.type === type);
      expect([type, kind?.schema.parse(data)]).toEqual([type, data]);
    }
    expect([...new Set(logged.map(({ type }) => type))].sort()).toEqual([
      ...['domain.held', 'domain.resumed', 'domain.verified', 'mailbox.created'],
      ...['message.accepted', 'message.bounced', 'message.complained', 'message.deferred'],
      ...['message.failed', 'message.scheduled', 'message.sent'],
      ...['workspace.paused', 'workspace.resumed', 'workspace.warning'],
    ]);
  });

  it('contains the hold of a domain and its end', async () => {
    const id = await addIll();
    await count('sandbox.test', 300);
    await count('ill.example', 90);
    await outcomes.deliver(test.caller, many(10, 'dead'), 'news@ill.example');
    await resumeDomain(test.app, test.operator, id, {});
    const { items } = await read(`?subject=${id}&order=asc`);
    expect(items.map(({ type, data }) => [type, data.sendingStatus])).toEqual([
      ['domain.verified', 'enabled'],
      ['domain.held', 'held'],
      ['domain.resumed', 'enabled'],
    ]);
    expect(items[1]?.data).toMatchObject({
      ...(await getDomain(test.app, test.operator, id)),
      sendingStatus: 'held',
      heldAt: '2026-01-05T12:00:00.000Z',
      holdReason: '10% of the last 100 messages bounced (limit 5%).',
    });
    const [held] = await readEvents(test.app.store.db, test.caller.organizationId, [
      items[1]?.id ?? '',
    ]);
    expect(held?.facts).toEqual({ of: 'bounces', count: 10, attempted: 100, limit: 0.05 });
  });

  it('pages in both orders without a miss or a repeat', async () => {
    for (let round = 0; round < 4; round++) {
      await send(api);
      await pauseOrganization(test.app, 'default', {});
      await resumeSending(test.app, 'default');
      await test.clock.advance(1_000);
    }
    await outcomes.idle();
    const { items } = await read('?limit=100');
    expect(items.length).toBeGreaterThanOrEqual(12);
    expect(items).toEqual(items.toSorted((a, b) => (a.id < b.id ? 1 : -1)));
    for (const limit of [1, 5, 12]) {
      expect(await readAll(`?limit=${limit}`)).toEqual(items);
      expect(await readAll(`?limit=${limit}&order=asc`)).toEqual(items.toReversed());
    }
    const accepted = items.filter(({ type }) => type === 'message.accepted');
    expect(await readAll('?limit=3&type=message.accepted')).toEqual(accepted);
    const late = items.filter(({ timestamp }) => timestamp >= '2026-01-05T12:00:02.000Z');
    expect(late.length).toBeLessThan(items.length);
    expect(await readAll('?limit=2&since=2026-01-05T12:00:02.000Z')).toEqual(late);
  });

  it('provides ranges for replays', async () => {
    await send(api);
    await test.clock.advance(1_000);
    const until = test.clock.now();
    await send(api);
    const { db } = test.app.store;
    const { organizationId } = test.caller;
    const first = await logBetween(
      db,
      organizationId,
      { until, types: ['message.accepted'] },
      null,
      10,
    );
    expect(first.entries.map(({ type }) => type)).toEqual(['message.accepted']);
    const all = await logBetween(db, organizationId, { types: ['message.accepted'] }, null, 1);
    expect(all.entries).toEqual(first.entries);
    const rest = await logBetween(
      db,
      organizationId,
      { since: until, types: ['message.accepted', 'domain.held'] },
      all.next,
      10,
    );
    expect([rest.entries.length, rest.next]).toEqual([1, null]);
  });

  it('finds each event once in a table too long for one call', async () => {
    const { app, caller } = test;
    const { organizationId } = caller;
    const event = { type: 'domain.failing', data: {}, facts: null };
    const long = Array.from({ length: 5_100 }, () => ({ subject: 'dom_1', event }));
    await app.store.write((trx) => recordEvents(app, trx, organizationId, long));
    await send(api);
    const range = { types: ['message.accepted', 'domain.failed'] };
    const calls: string[][] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const part = await logBetween(app.store.db, organizationId, range, after ?? null, 10);
      calls.push(part.entries.map(({ type }) => type));
      after = part.next;
    }
    expect(calls).toEqual([[], ['message.accepted']]);
    const held = { subject: 'dom_1', event: { ...event, type: 'domain.held' } };
    await app.store.write((trx) => recordEvents(app, trx, organizationId, [held]));
    const pages = await readAll('?type=domain.held&order=asc');
    expect(pages.map(({ type }) => type)).toEqual(['domain.held']);
  });

  it("contains the organization's own events only", async () => {
    const message = await send(api);
    const other = api.as((await otherOrganization(test.app)).apiKey);
    for (const query of ['', `?subject=${message.id}`, '?type=message.accepted']) {
      expect((await other.get<LogPage>(`/v1/events${query}`)).body.items).toEqual([]);
    }
    const { cursor } = { cursor: (await read('?limit=1&order=asc')).nextCursor };
    await send(api);
    const page = await read('?limit=1');
    const foreign = await other.get(`/v1/events?limit=1&cursor=${page.nextCursor ?? cursor}`);
    expect(foreign.status).toBe(422);
  });

  it('loses the events of a deleted message', async () => {
    const { id } = await send(api);
    await deleteMessage(test.app, test.caller, id);
    expect(await read(`?subject=${id}`)).toEqual({ items: [], nextCursor: null });
    expect(await types()).toEqual(firstStartEvents);
  });

  it('rejects each invalid filter with 422', async () => {
    for (const [field, query] of [
      ['type', 'type=message.nope'],
      ['type', 'type=message.queued'],
      ['type', 'type=message'],
      ['type', 'type=message.*,nope'],
      ['order', 'order=newest'],
      ['subject', 'subject=*'],
      ['since', 'since=yesterday'],
      ['order', 'order=up'],
      ['limit', 'limit=101'],
      ['cursor', 'cursor=x'],
    ] as const) {
      const { status, body } = await api.get<{ fields: object }>(`/v1/events?${query}`);
      expect([query, status, Object.keys(body.fields)]).toEqual([query, 422, [field]]);
    }
  });
});

describe.each(stores)('a sink of events on %s', (store) => {
  const deaf: EventSink = { wants: () => false, take: async () => {} };
  let sink: EventSink;
  beforeEach(() => {
    sink = deaf;
  });
  const ownSink: EventSink = {
    wants: (...asked) => sink.wants(...asked),
    take: (...events) => sink.take(...events),
  };
  const { test, api } = eachApi({ store, hooks: { eventSinks: [...hooks.eventSinks, ownSink] } });

  it('takes the events that it wants in the transaction that records them', async () => {
    const taken: LoggedEvent[] = [];
    const { caller: other, apiKey } = await otherOrganization(test.app);
    sink = {
      wants: (_app, organizationId) => organizationId !== other.organizationId,
      async take(_app, trx, events) {
        for (const { organizationId, id } of events) {
          expect(await readEvents(trx, organizationId, [id])).toMatchObject([{ id }]);
        }
        taken.push(...events);
      },
    };
    const { id } = await send(api);
    await pauseOrganization(test.app, 'default', {});
    await pauseOrganization(test.app, 'acme', {});
    expect((await api.as(apiKey).get('/v1/events')).status).toBe(200);
    const { organizationId } = test.caller;
    const about = { organizationId, recipientId: null, timestamp: test.clock.now() };
    expect(taken).toEqual([
      { ...about, id: expect.any(String), type: 'message.accepted', subject: id },
      { ...about, id: expect.any(String), type: 'workspace.paused', subject: organizationId },
    ]);
  });

  it('rolls back the change when it fails', async () => {
    const { id } = await addDomain(test.app, test.operator, {
      domain: 'a.example',
      dkim: 'ed25519',
    });
    const take = async () => {
      throw new Error('no room');
    };
    sink = { wants: () => true, take };
    const { status } = await api.post('/v1/messages', payload());
    expect([status, await rowCounts(test.app)]).toEqual([500, noRows]);
    await expect(verifyDomain(test.app, test.operator, id, { force: true })).rejects.toThrow(
      'no room',
    );
    expect((await getDomain(test.app, test.operator, id)).status).toBe('pending');
    const { body } = await api.get<LogPage>('/v1/events');
    expect(body.items.map(({ type }) => type)).toEqual(firstStartEvents);
  });
});
