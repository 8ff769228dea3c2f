// Specification 4.2, rules 5 to 8: one message for one key, from any caller and any number of
// times.

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { type SendPayload, sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { fingerprint } from '../../../src/outbound/sending/fingerprint.ts';
import { sendMessage, sweepIdempotencyKeys } from '../../../src/outbound/sending/send.ts';
import { conversationNoun } from '../../../src/people/conversations/schema.ts';
import { canonicalJson } from '../../../src/platform/runtime/canonical-json.ts';
import { bothStores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import {
  heldWrite,
  noRows,
  oneMessage,
  otherOrganization,
  payload,
  rowCounts,
  send,
  someoneWaits,
  timeline,
} from '../messages/fixtures.ts';

const keyed = (key: string) => ({ 'idempotency-key': key });
const oneClaimedMessage = { ...oneMessage, idempotency_claims: 1 };
const hourMs = 3_600_000;
const otherContent = {
  _tag: 'ConflictError',
  message: 'This Idempotency-Key was used with different content: use a new key for a new message',
  resource: 'idempotency-key',
};

describe.each(bothStores)('idempotent sends on %s', (store) => {
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

  const post = (body: unknown, key: string, face = api) =>
    face.post<Message>('/v1/messages', body, { headers: keyed(key) });

  async function verifiedSender(face: { caller: TestApp['caller'] }, domain: string) {
    const { id } = await addDomain(test.app, face.caller, { domain, dkim: 'ed25519' });
    await verifyDomain(test.app, face.caller, id, { force: true });
    await createSender(test.app, face.caller, { email: `news@${domain}`, isDefault: true });
    return id;
  }

  describe('rule 5: a repeat', () => {
    it('answers 201 with the same body, without storing or publishing anything', async () => {
      const first = await post(payload(), 'order-1');
      await test.clock.advance(1_000);
      const second = await post(payload(), 'order-1');
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body).toEqual(first.body);
      expect(await rowCounts(test.app)).toEqual(oneClaimedMessage);
      expect(await timeline(api, first.body.id)).toEqual(['accepted pending']);
    });

    it('is recognized with its fields in another order and its addresses in another form', async () => {
      const first = await post(payload({ html: 'x' }, { metadata: { a: 1, b: 2 } }), 'k');
      const turned = {
        metadata: { b: 2, a: 1 },
        email: { html: 'x', text: 'It works.', subject: 'Hello' },
        to: [{ email: 'ada@EXAMPLE.com' }],
        channel: 'email',
      };
      expect((await post(turned, 'k')).body).toEqual(first.body);
    });

    it('answers the message as accepted, even after later changes', async () => {
      const first = await send(api, payload(), keyed('k'));
      await test.app.store.write((trx) =>
        sql`update messages set status = 'delivered' where id = ${first.id}`.execute(trx),
      );
      expect((await post(payload(), 'k')).body).toEqual(first);
    });

    it('at the same time makes one message, in one batch', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(payload(), 'k')));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(await rowCounts(test.app)).toEqual(oneClaimedMessage);
    });

    it('at the same time on two daemons makes one message', async () => {
      const other = httpApi({ app: await test.another(), apiKey: test.apiKey });
      const keys = Array.from({ length: 20 }, (_, i) => `order-${i}`);
      const answers = await Promise.all(
        keys.flatMap((key) => [post(payload(), key), post(payload(), key, other)]),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(keys.length);
      const counts = await rowCounts(test.app);
      expect([counts.messages, counts.events, counts.idempotency_claims]).toEqual([20, 20, 20]);
      await other.close();
    });

    it('is recognized for a day at least, and its key is forgotten after two', async () => {
      const first = await send(api, payload(), keyed('k'));
      await test.clock.advance(24 * hourMs);
      await sweepIdempotencyKeys(test.app);
      expect((await post(payload(), 'k')).body.id).toBe(first.id);
      await test.clock.advance(24 * hourMs + 1);
      await sweepIdempotencyKeys(test.app);
      expect((await post(payload(), 'k')).body.id).not.toBe(first.id);
    });

    it('without a key is a new message', async () => {
      const [first, second] = [await send(api), await send(api)];
      expect(second.id).not.toBe(first.id);
      expect((await rowCounts(test.app)).idempotency_claims).toBe(0);
    });
  });

  describe('rule 6: the same key with other content', () => {
    it('answers 409 for any difference, and leaves nothing', async () => {
      await send(api, payload(), keyed('k'));
      for (const [what, body] of [
        ['another subject', payload({ subject: 'Other' })],
        ['another recipient', payload({}, { to: [{ email: 'bob@example.com' }] })],
        ['one field more', payload({}, { tags: ['x'] })],
        ['the recipient as a copy too', payload({}, { cc: [{ email: 'ada@example.com' }] })],
      ] as [string, object][]) {
        const { status, body: answer } = await post(body, 'k');
        expect([what, status, answer]).toEqual([what, 409, otherContent]);
        expect(await rowCounts(test.app)).toEqual(oneClaimedMessage);
      }
    });

    it('answers 409 for all but the first of concurrent requests', async () => {
      const bodies = ['A', 'B', 'C'].map((subject) => payload({ subject }));
      const answers = await Promise.all(bodies.map((body) => post(body, 'k')));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
      expect(await rowCounts(test.app)).toEqual(oneClaimedMessage);
    });

    it('answers 409 too for concurrent requests to two daemons', async () => {
      const other = httpApi({ app: await test.another(), apiKey: test.apiKey });
      const answers = await Promise.all([
        post(payload({ subject: 'A' }), 'k'),
        post(payload({ subject: 'B' }), 'k', other),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect(await rowCounts(test.app)).toEqual(oneClaimedMessage);
      await other.close();
    });

    it('answers 409 without details after the message was deleted', async () => {
      const { id } = await send(api, payload({ subject: 'Secret' }), keyed('k'));
      await api.delete(`/v1/messages/${id}`);
      const { status, body } = await post(payload({ subject: 'Secret' }), 'k');
      expect([status, body]).toEqual([
        409,
        {
          _tag: 'ConflictError',
          message: `This Idempotency-Key made the message ${id}, which has been deleted`,
          resource: 'idempotency-key',
        },
      ]);
      expect(await rowCounts(test.app)).toEqual({ ...noRows, idempotency_claims: 1 });
      const rows = await sql<{ response: string }>`select response from idempotency_claims`.execute(
        test.app.store.db,
      );
      expect(rows.rows).toEqual([{ response: '' }]);
    });
  });

  describe('rule 7: a key belongs to its organization', () => {
    it('is free for another organization', async () => {
      const other = await otherOrganization(test.app);
      await verifiedSender(other, 'acme.example');
      const theirs = api.as(other.apiKey);
      const [mine, their] = await Promise.all([
        post(payload(), 'k'),
        post(payload({ subject: 'Theirs' }), 'k', theirs),
      ]);
      expect([mine.status, their.status]).toEqual([201, 201]);
      expect(their.body.organizationId).toBe(other.caller.organizationId);
      expect((await post(payload(), 'k')).body).toEqual(mine.body);
      expect((await post(payload({ subject: 'Theirs' }), 'k', theirs)).body).toEqual(their.body);
    });
  });

  describe('rule 8: the claim of a failed attempt', () => {
    it('is free for the corrected request after a 422', async () => {
      expect((await post(payload({ text: 1 }), 'k')).status).toBe(422);
      expect(await rowCounts(test.app)).toEqual(noRows);
      expect((await post(payload(), 'k')).status).toBe(201);
    });

    it('is free for the corrected request after a 403', async () => {
      const from = { email: 'ceo@elsewhere.example' };
      expect((await post(payload({}, { from }), 'k')).status).toBe(403);
      expect(await rowCounts(test.app)).toEqual(noRows);
      expect((await post(payload(), 'k')).status).toBe(201);
    });

    it('is free for the corrected request after a 404', async () => {
      const conversationId = test.app.newId(conversationNoun);
      expect((await post(payload({}, { conversationId }), 'k')).status).toBe(404);
      expect(await rowCounts(test.app)).toEqual(noRows);
      expect((await post(payload(), 'k')).status).toBe(201);
    });

    it('is not taken by a bad one of concurrent requests', async () => {
      const from = { email: 'ceo@elsewhere.example' };
      const [bad, good] = await Promise.all([
        post(payload({}, { from }), 'k'),
        post(payload(), 'k'),
      ]);
      expect([bad.status, good.status]).toEqual([403, 201]);
      expect(await rowCounts(test.app)).toEqual(oneClaimedMessage);
    });

    it('is not kept when the store fails in the middle of the write', async () => {
      const broken = store === 'sqlite' ? breakOnSqlite : breakOnPostgres;
      const repair = await broken(test.app);
      const { status } = await post(payload(), 'k');
      expect(status).toBe(500);
      await repair();
      expect(await rowCounts(test.app)).toEqual(noRows);
      expect((await post(payload(), 'k')).status).toBe(201);
      expect(await rowCounts(test.app)).toEqual(oneClaimedMessage);
    });
  });

  describe('the Idempotency-Key header', () => {
    it.each([1, 255])('may have %i characters', async (length) => {
      const key = 'k'.repeat(length);
      const first = await post(payload(), key);
      expect(first.status).toBe(201);
      expect((await post(payload(), key)).body.id).toBe(first.body.id);
    });

    it.each([
      [0, 'must not be empty'],
      [256, 'must have at most 255 characters'],
    ])('may not have %i characters', async (length, problem) => {
      const { status, body } = await post(payload(), 'k'.repeat(length));
      expect([status, body]).toEqual([
        422,
        {
          _tag: 'ValidationError',
          message: `Invalid headers: idempotency-key: ${problem}`,
          fields: { 'idempotency-key': [problem] },
        },
      ]);
      expect(await rowCounts(test.app)).toEqual(noRows);
    });

    it('are told apart by case and by every character', async () => {
      const keys = ['k', 'K', 'k k', "k'", 'k"', 'k%', 'k_', 'k\\', 'k\u00e9', '*', 'k,k'];
      for (const key of keys) expect((await post(payload(), key)).status).toBe(201);
      expect((await rowCounts(test.app)).messages).toBe(keys.length);
    });
  });
});

describe('idempotent sends of two daemons on postgres', () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await testApp({ store: 'postgres' });
  });
  afterEach(() => test.close());

  it("rule 5: replay another daemon's message to all callers of a batch that loses its key to it", async () => {
    const other = await test.another();
    const { app, caller } = test;
    const original = await sendMessage(other, caller, parsed(), 'first');
    // The other daemon inserts the key in a transaction that is still open.
    const theirs = await heldWrite(other, (trx) =>
      sql`insert into idempotency_claims select organization_id, 'k', fingerprint,
        message_id, response, created_at from idempotency_claims`.execute(trx),
    );
    // Sent in one turn of the event loop, so that one batch takes them all.
    const ours = Promise.allSettled([
      sendMessage(app, caller, parsed(), 'k'),
      sendMessage(app, caller, parsed(), 'k'),
      sendMessage(app, caller, parsed({ subject: 'Other' }), 'k'),
      sendMessage(app, caller, parsed({ text: 'Mine' }), null),
    ]);
    await someoneWaits(other, 'idempotency_claims');
    await theirs.commit();
    const answers = await ours;
    expect(answers).toEqual([
      { status: 'fulfilled', value: original },
      { status: 'fulfilled', value: original },
      { status: 'rejected', reason: expect.objectContaining({ _tag: 'ConflictError' }) },
      { status: 'fulfilled', value: expect.objectContaining({ status: 'pending' }) },
    ]);
    expect((await rowCounts(app)).messages).toBe(2);
  });
});

function parsed(email: Record<string, unknown> = {}): SendPayload {
  return sendPayload.parse(payload(email));
}

async function breakOnSqlite({ store }: App): Promise<() => Promise<void>> {
  await store.write((trx) =>
    sql`create trigger broken before insert on events
      begin select raise(abort, 'broken by the test'); end`.execute(trx),
  );
  return async () => {
    await store.write((trx) => sql`drop trigger broken`.execute(trx));
  };
}

async function breakOnPostgres({ store }: App): Promise<() => Promise<void>> {
  await store.write((trx) =>
    sql`alter table events add constraint broken check (event_type <> 'accepted')`.execute(trx),
  );
  return async () => {
    await store.write((trx) => sql`alter table events drop constraint broken`.execute(trx));
  };
}

describe('the fingerprint of a request', () => {
  const body = { channel: 'email', to: [{ email: 'a@b.example' }], email: { b: 1, a: [1, 2] } };

  it('is SHA-256 over method, path and canonical JSON', () => {
    expect(canonicalJson(body)).toBe(
      '{"channel":"email","email":{"a":[1,2],"b":1},"to":[{"email":"a@b.example"}]}',
    );
    expect(fingerprint('POST', '/v1/messages', body)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('ignores the order of keys and undefined values', () => {
    const turned = { email: { a: [1, 2], b: 1, c: undefined }, to: body.to, channel: 'email' };
    expect(fingerprint('POST', '/v1/messages', turned)).toBe(
      fingerprint('POST', '/v1/messages', body),
    );
  });

  it.each([
    ['a value', { ...body, channel: 'sms' }],
    ['the order of a list', { ...body, email: { b: 1, a: [2, 1] } }],
    ['null for missing', { ...body, tags: null }],
    ['a number for its text', { ...body, email: { b: '1', a: [1, 2] } }],
  ])('covers %s', (_what, changed) => {
    expect(fingerprint('POST', '/v1/messages', changed)).not.toBe(
      fingerprint('POST', '/v1/messages', body),
    );
  });

  it('covers method and path', () => {
    const prints = [
      fingerprint('POST', '/v1/messages', body),
      fingerprint('PUT', '/v1/messages', body),
      fingerprint('POST', '/v1/messages/batch', body),
    ];
    expect(new Set(prints).size).toBe(3);
  });
});
