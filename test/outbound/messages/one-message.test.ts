// One message: get, delete, events, deliveries (specification 4.1), and that no other
// organization reaches it.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { Method } from '../../../src/core/api/route.ts';
import {
  claimDeliveries,
  findDue,
  findReady,
} from '../../../src/outbound/deliveries/claim-queries.ts';
import { settleDelivery } from '../../../src/outbound/deliveries/queries.ts';
import { getMessageRow } from '../../../src/outbound/messages/messages.ts';
import { deleteMessageRow } from '../../../src/outbound/messages/queries.ts';
import type { Delivery, Message } from '../../../src/outbound/messages/schema.ts';
import { sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { sendMessage } from '../../../src/outbound/sending/send.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import {
  heldWrite,
  noRows,
  otherOrganization,
  payload,
  rowCounts,
  send,
  someoneWaits,
  timeline,
} from './fixtures.ts';

const now = '2026-01-05T12:00:00.000Z';
const unknownId = 'msg_0123456789abcdefghjkmnpq';
const notFound = (id: string) => ({ _tag: 'ResourceNotFoundError', resource: 'message', id });

/** Every operation on one message. */
const operations: [method: Method, path: string][] = [
  ['GET', ''],
  ['DELETE', ''],
  ['GET', '/email'],
  ['GET', '/events'],
  ['GET', '/deliveries'],
];

describe.each(stores)('one message on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeEach(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  describe('each operation on one message', () => {
    it('answers 404 for an unknown message and for one of another organization', async () => {
      const { id } = await send(api);
      const before = await rowCounts(test.app);
      const other = api.as((await otherOrganization(test.app)).apiKey);
      for (const [method, path] of operations) {
        for (const [asked, face] of [
          [unknownId, api],
          [id, other],
        ] as const) {
          const { status, body } = await face.request(method, `/v1/messages/${asked}${path}`);
          expect([method, path, status, body]).toEqual([method, path, 404, notFound(asked)]);
        }
        expect(await rowCounts(test.app), method).toEqual(before);
      }
    });

    it('answers 422 for a malformed message id', async () => {
      const ids = [
        'x',
        'msg_1',
        'MSG_0123456789abcdefghjk',
        'contact_0123456789abcdefghjk',
        'msg_%00',
      ];
      const refusal = {
        _tag: 'ValidationError',
        message: 'Invalid path: id: is not a message id',
        fields: { id: ['is not a message id'] },
      };
      for (const [method, path] of operations) {
        for (const id of ids) {
          const url = `/v1/messages/${id}${path}`;
          const { status, body } = await api.request(method, url);
          expect([method, url, status, body]).toEqual([method, url, 422, refusal]);
        }
      }
    });

    it('answers 401 without a key and 403 without the permission', async () => {
      const { id } = await send(api);
      const { key } = await createKey(test.app, test.operator, {
        permissions: { messages: ['send'] },
      });
      for (const [method, path] of operations) {
        const url = `/v1/messages/${id}${path}`;
        const { status: keyless } = await api.request(method, url, { apiKey: null });
        expect([method, url, keyless]).toEqual([method, url, 401]);
        const { status, body } = await api.request(method, url, { apiKey: key });
        const permission = method === 'DELETE' ? 'messages:delete' : 'messages:read';
        const message = `This key lacks the permission ${permission}`;
        expect([method, url, status, body]).toEqual([
          method,
          url,
          403,
          { _tag: 'ForbiddenError', message },
        ]);
        expect((await rowCounts(test.app)).messages).toBe(1);
      }
    });
  });

  it('is answered by GET as by the send', async () => {
    const sent = await send(api, payload({}, { cc: [{ email: 'bob@example.com' }] }));
    const { status, headers, body } = await api.get(`/v1/messages/${sent.id}`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(body).toEqual(sent);
  });

  it('has a timeline that begins with its acceptance', async () => {
    const { id } = await send(api);
    const { status, body } = await api.get(`/v1/messages/${id}/events`);
    expect([status, body]).toEqual([
      200,
      [
        {
          id: expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{24}$/),
          messageId: id,
          eventType: 'accepted',
          status: 'pending',
          timestamp: now,
          metadata: {},
        },
      ],
    ]);
  });

  it('has a delivery for each recipient, in their order', async () => {
    const people = Array.from({ length: 12 }, (_, i) => ({ email: `p${i}@example.com` }));
    const sent = await send(api, payload({}, { to: people }));
    const { status, body } = await api.get<Delivery[]>(`/v1/messages/${sent.id}/deliveries`);
    expect(status).toBe(200);
    expect(body).toEqual(sent.deliveries);
    expect(body.map(({ recipientId }) => recipientId)).toEqual(sent.recipients.map(({ id }) => id));
  });

  /** Claims a ready delivery as a worker does. */
  async function claimOne() {
    const at = test.clock.now();
    const [claimed] = await findReady(test.app.store.db, 10);
    if (!claimed) throw new Error('nothing was ready');
    const lease = { ids: [claimed.id], worker: 'wrk_1', now: at, leaseUntil: at + 60_000 };
    await test.app.store.write((trx) => claimDeliveries(trx, lease));
    return { at, claimed };
  }

  it('is due since its claim while it is attempted, and hides the end of the lease', async () => {
    const { id } = await send(api);
    await test.clock.advance(1_000);
    const claimedAt = new Date((await claimOne()).at).toISOString();
    const { body } = await api.get<Delivery[]>(`/v1/messages/${id}/deliveries`);
    expect(body).toMatchObject([
      { claimedAt, nextRetryAt: null, scheduling: { dueAt: claimedAt, waitReason: null } },
    ]);
  });

  describe('deleting a message', () => {
    const remove = (id: string) => api.delete(`/v1/messages/${id}`);

    it('removes its rows and files', async () => {
      const attachments = [{ filename: 'a.txt', content: 'aGk=' }];
      const { id } = await send(
        api,
        payload({ attachments }, { cc: [{ email: 'bob@example.com' }] }),
      );
      const { status, body } = await remove(id);
      expect([status, body]).toEqual([
        200,
        { success: true, message: `Message ${id} was deleted` },
      ]);
      expect(await rowCounts(test.app)).toEqual(noRows);
      for (const [method, path] of operations) {
        expect((await api.request(method, `/v1/messages/${id}${path}`)).body).toEqual(notFound(id));
      }
      expect((await api.get('/v1/messages')).body).toMatchObject({ items: [] });
    });

    it('keeps a body shared with other messages until the last one is deleted', async () => {
      const body = payload({ attachments: [{ filename: 'a.txt', content: 'aGk=' }] });
      const [first, second] = [await send(api, body), await send(api, body)];
      await remove(first.id);
      expect(await rowCounts(test.app)).toMatchObject({ messages: 1, contents: 1, blobs: 1 });
      expect((await api.get(`/v1/messages/${second.id}/email`)).body).toMatchObject({
        text: 'It works.',
        attachments: [{ filename: 'a.txt', size: 2 }],
      });
      await remove(second.id);
      expect(await rowCounts(test.app)).toEqual(noRows);
    });

    it('leaves other messages alone', async () => {
      const kept = await send(api, payload({ subject: 'Kept', text: 'Kept.' }));
      const { id } = await send(api);
      await remove(id);
      expect((await api.get(`/v1/messages/${kept.id}`)).body).toEqual(kept);
      expect(await timeline(api, kept.id)).toEqual(['accepted pending']);
    });

    it('lets the next message with the same body store it again', async () => {
      const { id } = await send(api);
      await remove(id);
      const again = await send(api);
      expect((await api.get(`/v1/messages/${again.id}/email`)).body).toMatchObject({
        text: 'It works.',
      });
    });

    it('during a send of the same body loses no body', async () => {
      for (let round = 0; round < 20; round++) {
        const { id } = await send(api);
        const [removed, sent] = await Promise.all([
          remove(id),
          api.post<Message>('/v1/messages', payload()),
        ]);
        expect([removed.status, sent.status]).toEqual([200, 201]);
        expect((await api.get(`/v1/messages/${sent.body.id}/email`)).body).toMatchObject({
          text: 'It works.',
        });
      }
    });

    it('twice at once answers 200 and 404', async () => {
      const { id } = await send(api);
      const answers = await Promise.all([remove(id), remove(id)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    });

    it('stops its deliveries, and an attempt under way settles nothing', async () => {
      const { id } = await send(api);
      const { at, claimed } = await claimOne();
      await remove(id);
      const change = { ...claimed, status: 'delivered' as const, due_at: null };
      const { store: db } = test.app;
      expect(await db.write((trx) => settleDelivery(trx, claimed.id, 'wrk_1', change))).toBe(false);
      expect(await findDue(db.db, at + 90_000, 10)).toEqual([]);
      expect(await rowCounts(test.app)).toEqual(noRows);
    });

    it('removes the raw mail of a received message', async () => {
      const { id } = await sendMessage(test.app, test.caller, sendPayload.parse(payload()), null);
      await test.app.store.write(async (trx) => {
        await sql`insert into blobs (id, organization_id, size, data, created_at)
          select 'blob_raw', organization_id, 2, ${Buffer.from('hi')}, created_at
          from messages`.execute(trx);
        await sql`update messages set direction = 'inbound', raw_blob_id = 'blob_raw'`.execute(trx);
      });
      expect((await rowCounts(test.app)).blobs).toBe(1);
      await remove(id);
      expect(await rowCounts(test.app)).toEqual(noRows);
    });
  });
});

describe('deleting on two daemons of one postgres', () => {
  let test: TestApp;
  let api: HttpApi;
  beforeEach(async () => {
    test = await testApp({ store: 'postgres' });
    api = httpApi(test);
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  /** Deletes the message on the other daemon, in a transaction that is still open. */
  async function deletedElsewhere(id: string) {
    return heldWrite(await test.another(), async (trx) =>
      deleteMessageRow(trx, await getMessageRow(trx, test.caller.organizationId, id)),
    );
  }

  it('removes the body of the last two messages', async () => {
    const body = payload({ attachments: [{ filename: 'a.txt', content: 'aGk=' }] });
    const [first, second] = [await send(api, body), await send(api, body)];
    const theirs = await deletedElsewhere(first.id);
    const ours = api.delete(`/v1/messages/${second.id}`);
    await someoneWaits(test.app, 'contents');
    await theirs.commit();
    expect((await ours).status).toBe(200);
    expect(await rowCounts(test.app)).toMatchObject({ messages: 0, contents: 0, blobs: 0 });
  });

  it('answers 404 for a message deleted elsewhere', async () => {
    const { id } = await send(api);
    const theirs = await deletedElsewhere(id);
    const ours = api.delete(`/v1/messages/${id}`);
    await someoneWaits(test.app, 'messages');
    await theirs.commit();
    expect([(await ours).status, (await ours).body]).toEqual([404, notFound(id)]);
  });

  it('lets a concurrent send store a body again that another daemon deletes', async () => {
    const { id } = await send(api);
    const theirs = await deletedElsewhere(id);
    const ours = send(api);
    await someoneWaits(test.app, 'contents');
    await theirs.commit();
    const again = await ours;
    expect((await api.get(`/v1/messages/${again.id}/email`)).body).toMatchObject({
      text: 'It works.',
    });
  });
});
