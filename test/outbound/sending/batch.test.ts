// `POST /v1/messages/batch` (specification 4.2 rules 5 to 8, 8.1, 8.2) on both
// stores: a result for each entry, one key for the whole, the quota and the buckets at their edges.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import type { BatchResult, Message } from '../../../src/outbound/messages/schema.ts';
import { sendBatch } from '../../../src/outbound/sending/batch.ts';
import { sweepIdempotencyKeys } from '../../../src/outbound/sending/send.ts';
import { onPlan, usedToday, useToday } from '../../access/admission/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { heldWrite, noRows, payload, rowCounts } from '../messages/fixtures.ts';
import { type ServedApi, servedApi } from './fixtures.ts';

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const to = (email: string) => payload({}, { to: [{ email }] });
const stranger = payload({}, { from: { email: 'someone@unverified.example' } });

function messageOf(result: BatchResult | undefined): Message {
  if (!result || !('message' in result)) throw new Error(JSON.stringify(result));
  return result.message;
}

/** Lists `pending` or the tag of the error for each result. */
function short(results: readonly BatchResult[]): string[] {
  return results.map((one) => ('message' in one ? one.message.status : String(one.error._tag)));
}

describe.each(stores)('batches on %s', (store) => {
  let test: TestApp;
  let api: ServedApi;
  beforeEach(async () => {
    test = await testApp({ store });
    api = servedApi(test);
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  const post = (body: unknown, options = {}) =>
    api.post<BatchResult[]>('/v1/messages/batch', body, options);

  it('keep a shared content until its last message is deleted', async () => {
    const { app, caller } = test;
    const { body } = await post(['a', 'b', 'c'].map((name) => to(`${name}@example.com`)));
    const ids = body.map((result) => messageOf(result).id);
    const left = async () => (await rowCounts(app)).contents;
    const counts: unknown[] = [await left()];
    for (const id of ids) {
      await deleteMessage(app, caller, id);
      counts.push(await left());
    }
    expect(counts).toEqual([1, 1, 1, 0]);
  });

  it('answer 200 with one result for each entry, in order, each a separate message', async () => {
    const { status, body } = await post([to('a@example.com'), to('b@example.com')]);
    expect(status).toBe(200);
    expect(body.map(({ index }) => index)).toEqual([0, 1]);
    const messages = body.map(messageOf);
    expect(messages.map((one) => [one.status, one.to[0]?.email])).toEqual([
      ['pending', 'a@example.com'],
      ['pending', 'b@example.com'],
    ]);
    // The store holds equal contents once.
    expect(await rowCounts(test.app)).toMatchObject({ messages: 2, deliveries: 2, contents: 1 });
  });

  it('give a refused or malformed entry the error of a single send', async () => {
    const wrong = { ...payload(), nonsense: 1 };
    const missing = payload({}, { conversationId: 'conv_0000000000000000' });
    const { status, body } = await post([stranger, to('a@example.com'), wrong, 7, missing]);
    expect(status).toBe(200);
    expect(short(body)).toEqual([
      'ForbiddenError',
      'pending',
      'ValidationError',
      'ValidationError',
      'ResourceNotFoundError',
    ]);
    expect(body[2]).toEqual({
      index: 2,
      error: {
        _tag: 'ValidationError',
        message: 'Invalid entry: nonsense: unknown field',
        fields: { nonsense: ['unknown field'] },
      },
    });
    expect((await rowCounts(test.app)).messages).toBe(1);
  });

  it('answer 422 as a whole when not an array, empty, or over 100 entries', async () => {
    for (const body of [{}, [], Array.from({ length: 101 }, () => payload())]) {
      const answer = await api.post('/v1/messages/batch', body);
      expect([answer.status, answer.body._tag]).toEqual([422, 'ValidationError']);
      expect(Object.keys(answer.body.fields as object)).toEqual(['body']);
    }
    expect(await rowCounts(test.app)).toEqual(noRows);
  });

  it('take 100 entries', async () => {
    const entries = Array.from({ length: 100 }, (_, index) => to(`r${index}@example.com`));
    const { body } = await post(entries, keyed('hundred'));
    expect(new Set(body.map((one) => messageOf(one).id)).size).toBe(100);
    expect((await post(entries, keyed('hundred'))).body).toEqual(body);
  });

  describe('idempotency of a batch', () => {
    it('returns the whole answer to a repeat, errors too, and sends nothing again', async () => {
      const batch = [to('a@example.com'), stranger, to('b@example.com')];
      const first = await post(batch, keyed('k'));
      const before = await rowCounts(test.app);
      await test.clock.advance(1_000);
      const second = await post(batch, keyed('k'));
      expect([second.status, second.body]).toEqual([200, first.body]);
      expect(await rowCounts(test.app)).toEqual(before);
    });

    it('answers a conflict for other content, or for a single send with the same key', async () => {
      await post([to('a@example.com')], keyed('k'));
      const conflict = { _tag: 'ConflictError', resource: 'idempotency-key' };
      const other = await api.post('/v1/messages/batch', [to('b@example.com')], keyed('k'));
      expect([other.status, other.body]).toMatchObject([409, conflict]);
      const single = await api.post('/v1/messages', to('a@example.com'), keyed('k'));
      expect([single.status, single.body]).toMatchObject([409, conflict]);
      await api.post('/v1/messages', to('a@example.com'), keyed('own'));
      const batch = await api.post('/v1/messages/batch', [to('a@example.com')], keyed('own'));
      expect([batch.status, batch.body]).toMatchObject([409, conflict]);
      expect((await rowCounts(test.app)).messages).toBe(2);
    });

    it('rule 8: frees the key when no entry was accepted', async () => {
      expect(short((await post([stranger], keyed('k'))).body)).toEqual(['ForbiddenError']);
      expect(await rowCounts(test.app)).toEqual(noRows);
      expect(short((await post([to('a@example.com')], keyed('k'))).body)).toEqual(['pending']);
    });

    it('sends equal concurrent batches on two daemons once', async () => {
      const other = await test.another();
      const batch = Array.from({ length: 5 }, (_, index) => to(`r${index}@example.com`));
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          sendBatch(index % 2 === 0 ? test.app : other, test.caller, batch, 'k'),
        ),
      );
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect((await rowCounts(test.app)).messages).toBe(5);
    });

    it('leaves nothing after a crash in the middle, and the repeat sends everything once', async () => {
      const batch = [to('a@example.com'), to('b@example.com')];
      const { store } = test.app;
      const write: typeof store.write = (work, durability) =>
        store.write(async (trx) => {
          await work(trx);
          throw new Error('crashed');
        }, durability);
      const crashing = { ...test.app, store: { ...store, write } };
      await expect(sendBatch(crashing, test.caller, batch, 'k')).rejects.toThrow('crashed');
      expect(await rowCounts(test.app)).toEqual(noRows);
      expect(short((await post(batch, keyed('k'))).body)).toEqual(['pending', 'pending']);
      expect((await rowCounts(test.app)).messages).toBe(2);
    });

    it('reports a message deleted since without its content', async () => {
      const batch = [to('a@example.com'), to('b@example.com')];
      const { body } = await post(batch, keyed('k'));
      const [gone, kept] = body.map((one) => messageOf(one).id);
      await deleteMessage(test.app, test.caller, gone ?? '');
      const again = (await post(batch, keyed('k'))).body;
      expect(again[0]).toMatchObject({ index: 0, error: { _tag: 'ConflictError' } });
      expect(JSON.stringify(again[0])).not.toContain('a@example.com');
      expect(messageOf(again[1]).id).toBe(kept);
      const { rows } = await sql<{ n: number }>`select count(*) as n from idempotency_claims
        where response like '%a@example.com%'`.execute(test.app.store.db);
      expect(Number(rows[0]?.n)).toBe(0);
    });

    it('ends after two days', async () => {
      await post([to('a@example.com')], keyed('k'));
      await test.clock.advance(48 * 3_600_000 + 1);
      await sweepIdempotencyKeys(test.app);
      expect((await rowCounts(test.app)).idempotency_claims).toBe(0);
    });
  });

  it('8.2: accept the fitting entries in order at the edge of the quota', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 97);
    const two = payload({}, { to: [{ email: 'a@example.com' }, { email: 'b@example.com' }] });
    const { body } = await post([two, two, to('c@example.com'), to('d@example.com')]);
    expect(short(body)).toEqual([
      'pending',
      'PaymentRequiredError',
      'pending',
      'PaymentRequiredError',
    ]);
    expect(body[1]).toEqual({
      index: 1,
      error: {
        _tag: 'PaymentRequiredError',
        resource: 'daily-emails',
        currentUsage: 99,
        limit: 100,
        operation: 'sendMessage',
      },
    });
    expect((await usedToday(test)).emails).toBe(100);
  });

  it('8.2: never exceed the quota in concurrent batches', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 60);
    const batch = Array.from({ length: 9 }, (_, index) => to(`r${index}@example.com`));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        sendBatch(test.app, test.caller, batch, `key-${index}`),
      ),
    );
    expect(short(answers.flat()).filter((status) => status === 'pending').length).toBe(40);
    expect((await usedToday(test)).emails).toBe(100);
  });

  it('7.4: are refused entry by entry for a paused organization', async () => {
    await pauseOrganization(test.app, 'default', { note: 'too many bounced' });
    const { body } = await post([to('a@example.com'), to('b@example.com')]);
    expect(short(body)).toEqual(['ForbiddenError', 'ForbiddenError']);
  });

  it('8.1: draw one token for each entry, and are told when to retry', async () => {
    await onPlan(test, 'free');
    const batch = (count: number) => Array.from({ length: count }, () => to('a@example.com'));
    expect((await post(batch(4))).status).toBe(200);
    const refused = await api.post('/v1/messages/batch', batch(3));
    expect([refused.status, refused.body]).toEqual([
      429,
      { _tag: 'RateLimitedError', operation: 'sendMessageBatch', retryAfterSeconds: 1 },
    ]);
    // The refused batch drew nothing: one token of the key's five is left.
    expect((await post(batch(1))).status).toBe(200);
    expect((await post(batch(1))).status).toBe(429);
    await test.clock.advance(1_000);
    const large = await post(batch(100));
    expect([large.status, large.headers['ratelimit-remaining']]).toEqual([200, '0']);
    // A debt of 95: 20 seconds until the next one, to the second.
    await test.clock.advance(19_000);
    expect((await post(batch(1))).status).toBe(429);
    await test.clock.advance(1_000);
    expect((await post(batch(1))).status).toBe(200);
  });

  it.runIf(store === 'postgres')('wait for a claim that another daemon is making', async () => {
    const batch = [to('a@example.com')];
    const other = await test.another();
    const held = await heldWrite(other, (trx) =>
      sql`insert into idempotency_claims values
        (${test.caller.organizationId}, 'k', 'another', '', '[]', ${test.clock.now()})`.execute(
        trx,
      ),
    );
    const sending = sendBatch(test.app, test.caller, batch, 'k');
    await held.commit();
    await expect(sending).rejects.toThrow('different content');
    expect((await rowCounts(test.app)).messages).toBe(0);
  });
});
