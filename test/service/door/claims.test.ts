// Claims of idempotency keys (src/service/door/claims.ts): concurrent requests, crashes between the
// steps, other daemons and organizations.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { App } from '../../../src/core/app.ts';
import {
  type ClaimRow,
  findClaim,
  insertClaim,
  markClaim,
} from '../../../src/outbound/messages/idempotency-queries.ts';
import { sweepIdempotencyKeys } from '../../../src/outbound/sending/send.ts';
import { withoutJoining } from '../../../src/platform/store/changes/each-write.ts';
import { leaseMs, mostAnswerBytes, patienceMs, runOnce } from '../../../src/service/door/claims.ts';
import { otherOrganization, payload } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

interface Contact {
  id: string;
}

const contact = { name: 'Ada', email: 'ada@example.com' };
const conflict = (words: string) => ({
  _tag: 'ConflictError',
  resource: 'idempotency-key',
  message: `This Idempotency-Key ${words}`,
});
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

describe.each(bothStores)('the claims of idempotency keys on %s', (store) => {
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

  const create = (key: string, body: object = contact, face = api) =>
    face.post<Contact>('/v1/contacts', body, keyed(key));
  const made = async () => {
    const { rows } = await sql<{ n: unknown }>`select count(*) as n from contacts
      where organization_id = ${test.caller.organizationId}`.execute(test.app.store.db);
    return Number(rows[0]?.n);
  };
  const claimOf = (key: string) =>
    findClaim(test.app.store.db, test.caller.organizationId, key) as Promise<ClaimRow>;

  /** Leaves the claim of a daemon that died during the request `create(key)`. */
  async function crashed(key: string, isEffective: boolean): Promise<void> {
    const { app, caller } = test;
    const foreign = await otherOrganization(app);
    await create(key, contact, api.as(foreign.apiKey));
    const twin = await findClaim(app.store.db, foreign.caller.organizationId, key);
    const now = app.clock.now();
    const held = {
      ...(twin as ClaimRow),
      ...{ organization_id: caller.organizationId, message_id: '', response: '' },
      ...{ holder: 'the dead', created_at: now, lease_until: now + leaseMs },
    };
    await app.store.write(async (trx) => {
      await insertClaim(trx, held);
      if (isEffective) await markClaim(trx, held);
    });
  }

  it('gives two concurrent equal requests one effect and one answer', async () => {
    const [one, other] = await Promise.all([create('k'), create('k')]);
    expect([one.status, other.status]).toEqual([201, 201]);
    expect(other.body).toEqual(one.body);
    const marks = [one, other].map(({ headers }) => headers['idempotency-replayed']);
    expect(new Set(marks)).toEqual(new Set(['true', undefined]));
    expect(await made()).toBe(1);
  });

  it('gives requests to two daemons one effect and one answer', async () => {
    const second = httpApi({ app: await test.another(), apiKey: test.apiKey });
    const [one, other] = await Promise.all([create('k'), create('k', contact, second)]);
    expect([one.status, other.status]).toEqual([201, 201]);
    expect(other.body).toEqual(one.body);
    expect(await made()).toBe(1);
    await second.close();
  });

  it('refuses the key with other content, and at another path', async () => {
    await create('k');
    const refusal = conflict('was used with different content: use a new key for a new request');
    const other = await create('k', { ...contact, name: 'Grace' });
    expect([other.status, other.body]).toEqual([409, refusal]);
    const elsewhere = await api.post('/v1/unsubscribe-groups', { name: 'News' }, keyed('k'));
    expect([elsewhere.status, elsewhere.body]).toEqual([409, refusal]);
    const sent = await api.post('/v1/messages', payload(), keyed('k'));
    expect(sent.status).toBe(409);
    expect(await made()).toBe(1);
  });

  it('knows the key of a send as used with different content', async () => {
    await api.post('/v1/messages', payload(), keyed('k'));
    expect((await create('k')).status).toBe(409);
    expect(await made()).toBe(0);
  });

  it('keeps the keys of organizations apart', async () => {
    const foreign = await otherOrganization(test.app);
    const theirs = await create('k', contact, api.as(foreign.apiKey));
    const ours = await create('k');
    expect([theirs.status, ours.status]).toEqual([201, 201]);
    expect(ours.body.id).not.toBe(theirs.body.id);
  });

  it('shares its keys among all API keys of an organization', async () => {
    const plain = async (input: CreateKey) => {
      const operator = operatorOf(test.caller.organizationId);
      return api.as((await createKey(test.app, operator, input)).key ?? '');
    };
    const first = await create('k');
    const again = await create('k', contact, await plain({ role: 'admin' }));
    expect(again.body).toEqual(first.body);
    const reader = await create('k', contact, await plain({ role: 'viewer' }));
    expect(reader.status).toBe(403);
  });

  it('releases the key of a refused request', async () => {
    await api.post('/v1/contacts', contact);
    const taken = await create('k');
    expect(taken.status).toBe(409);
    const corrected = await create('k', { ...contact, email: 'grace@example.com' });
    expect(corrected.status).toBe(201);
  });

  it('keeps no key of a dry run', async () => {
    const dry = await api.post('/v1/messages', payload({}, { dryRun: true }), keyed('k'));
    expect(dry.status).toBe(200);
    expect(await claimOf('k')).toBeUndefined();
  });

  describe('a crash', () => {
    it('before the effect holds the key until the lease ends', async () => {
      await crashed('k', false);
      const waiting = create('k');
      await test.clock.advance(patienceMs + 1_000);
      const early = await waiting;
      expect([early.status, early.body]).toEqual([
        409,
        conflict('is still in progress: repeat the request later'),
      ]);
      await test.clock.advance(leaseMs);
      const later = await create('k');
      expect([later.status, later.headers['idempotency-replayed']]).toEqual([201, undefined]);
      expect((await create('k')).body).toEqual(later.body);
      expect(await made()).toBe(1);
    });

    it('after the effect permits no second effect', async () => {
      await crashed('k', true);
      await test.clock.advance(leaseMs);
      const repeat = await create('k');
      const words =
        'belongs to a request that took effect and has no answer: read the result before you repeat it';
      expect([repeat.status, repeat.body]).toEqual([409, conflict(words)]);
      expect(await made()).toBe(0);
    });
  });

  describe('an operation', () => {
    const asked = (key = 'k') => ({ key, fingerprint: 'same', digest: async () => 'same' });
    const once = (run: () => Promise<unknown>, key?: string, app: App = test.app) =>
      runOnce(app, test.caller, {}, asked(key), run);
    const touch = (app: App = test.app) =>
      app.store.write((trx) => sql`update probe set counter = counter + 1`.execute(trx));

    it('marks its claim in its own transaction', async () => {
      const seen: unknown[] = [];
      await once(async () => {
        seen.push((await claimOf('k')).took_effect);
        const undone = test.app.store.write(async (trx) => {
          await sql`update probe set counter = counter + 1`.execute(trx);
          throw new Error('undone');
        });
        await expect(undone).rejects.toThrow('undone');
        seen.push((await claimOf('k')).took_effect);
        await touch();
        seen.push((await claimOf('k')).took_effect);
        return {};
      });
      expect(seen).toEqual([null, null, 1]);
    });

    it('that fails before an effect releases the key', async () => {
      const fails = once(() => Promise.reject(new Error('a fault')));
      await expect(fails).rejects.toThrow('a fault');
      expect(await claimOf('k')).toBeUndefined();
    });

    it('that fails after an effect is not repeated', async () => {
      const fails = once(async () => {
        await touch();
        throw new Error('a fault');
      });
      await expect(fails).rejects.toThrow('a fault');
      await expect(once(() => Promise.resolve('again'))).rejects.toThrow(
        'belongs to a request that took effect',
      );
    });

    it('that lost its key to a later request writes nothing more', async () => {
      const counter = async () =>
        (await sql`select counter from probe`.execute(test.app.store.db)).rows;
      const before = await counter();
      const late = once(async () => {
        const take = sql`update idempotency_claims set holder = 'a later request'`;
        await withoutJoining(() => test.app.store.write((trx) => take.execute(trx)));
        await touch();
      });
      await expect(late).rejects.toThrow('was taken over by a later request');
      expect(await counter()).toEqual(before);
      expect((await claimOf('k')).holder).toBe('a later request');
    });

    it('renews its lease while it runs', async () => {
      let until = 0;
      await once(async () => {
        for (let step = 0; step < 6; step++) {
          await test.clock.advance(leaseMs / 3);
          const renewed = test.clock.now() + leaseMs;
          while (until < renewed) until = Number((await claimOf('k')).lease_until);
        }
        return {};
      });
      expect(until).toBeGreaterThan(test.clock.now());
    });

    it('with a long answer is named, and not repeated', async () => {
      const answer = { id: 'tpl_1', html: 'x'.repeat(mostAnswerBytes) };
      await once(async () => answer);
      await expect(once(async () => answer)).rejects.toThrow(
        'made tpl_1; its answer was too long to be kept: read it by its id',
      );
    });
  });

  it('forget the answer with a deleted contact', async () => {
    const { body } = await create('k');
    await api.delete(`/v1/contacts/${body.id}`);
    expect((await claimOf('k')).response).toBe('');
    const repeat = await create('k');
    expect([repeat.status, repeat.body]).toEqual([
      409,
      conflict(`made ${body.id}, which has been deleted`),
    ]);
  });

  it('end after two days', async () => {
    await create('k');
    await test.clock.advance(24 * 3_600_000);
    await sweepIdempotencyKeys(test.app);
    expect((await create('k')).headers['idempotency-replayed']).toBe('true');
    await test.clock.advance(25 * 3_600_000);
    await sweepIdempotencyKeys(test.app);
    expect(await claimOf('k')).toBeUndefined();
  });

  it('tell streamed bodies apart by their bytes', async () => {
    const file = (name: string) => `name,email\n${name},${name}@example.com\n`;
    const csv = (key: string, body: string) =>
      api.request('POST', '/v1/contacts/import', {
        body,
        headers: { 'idempotency-key': key, 'content-type': 'text/csv' },
      });
    const first = await csv('k', file('ada'));
    expect(first.status).toBe(200);
    const again = await csv('k', file('ada'));
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    const other = await csv('k', file('grace'));
    expect(other.status).toBe(409);
    expect(await made()).toBe(1);
  });
});
