// The count in the open window of a domain: the recipients of every send from it, in the
// transaction that accepts them, under a plan started by any process.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { cancelWarming, getWarming, startWarming } from '../../../src/identity/warming/warming.ts';
import { moveWindows } from '../../../src/identity/warming/windows.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { heldWrite, payload, someoneWaits } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { startPipeline } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { dayMs, hourMs, inShort, outcomes, provenDomain, ramp, sendTo, warm } from './fixtures.ts';

const from = { email: `news@${warm}` };

describe.each(stores)('the count of recipients in the window of a domain on %s', (store) => {
  const { test, api } = eachApi({ store });
  let domainId: string;
  beforeEach(async () => {
    domainId = await provenDomain(test.app, test.operator);
  });

  const begin = (app: App = test.app) => startWarming(app, test.operator, domainId, ramp);
  async function accepted(): Promise<number[]> {
    const { batches } = await getWarming(test.app, test.operator, domainId);
    return batches.map(({ acceptedRecipients }) => acceptedRecipients);
  }
  const three = { to: ['a', 'b', 'A'].map((name) => ({ email: `${name}@example.com` })), from };
  const post = (body: unknown, headers = {}) =>
    api.post<Message>('/v1/messages', body, { headers });

  it('includes those of each send, deduplicated, blocked ones too', async () => {
    await begin();
    await createBlock(test.app, test.operator, { address: 'b@example.com', reason: 'manual' });
    expect((await post(payload({}, three))).status).toBe(201);
    expect(await accepted()).toEqual([2, 0]);
    expect((await post(payload({}, { ...three, cc: [{ email: 'c@example.com' }] }))).status).toBe(
      201,
    );
    expect(await accepted()).toEqual([5, 0]);
  });

  it('includes those of a batch, without refused entries', async () => {
    await begin();
    const refused = payload({}, { from: { email: 'news@unknown.example' } });
    const batch = [payload({}, three), refused, payload({}, { from }), payload()];
    await api.post('/v1/messages/batch', batch);
    expect(await accepted()).toEqual([3, 0]);
  });

  it('includes a repeated request once', async () => {
    await begin();
    const headers = { 'idempotency-key': 'once' };
    const [first, again] = [
      await post(payload({}, { from }), headers),
      await post(payload({}, { from }), headers),
    ];
    expect(again.body.id).toBe(first.body.id);
    expect(await accepted()).toEqual([1, 0]);
  });

  it('excludes other domains and other organizations', async () => {
    await begin();
    await provenDomain(test.app, test.operator, 'other.example');
    await post(payload({}, { from: { email: 'news@other.example' } }));
    await post(payload());
    expect(await accepted()).toEqual([0, 0]);
  });

  it('includes scheduled mail at its time, in the window of that time', async () => {
    await begin();
    const scheduledFor = new Date(test.clock.now() + dayMs + hourMs).toISOString();
    const { status } = await api.post(
      '/v1/messages/scheduled',
      payload({}, { ...three, scheduledFor }),
    );
    expect([status, await accepted()]).toEqual([201, [0, 0]]);
    const pipeline = await startPipeline(test.app);
    try {
      await test.clock.advance(dayMs);
      await moveWindows(test.app);
      expect(await accepted()).toEqual([0, 0, 0]);
      await test.clock.advance(hourMs + 60_000);
      await pipeline.idle();
    } finally {
      await pipeline.close();
    }
    expect(await accepted()).toEqual([0, 2, 0]);
  });

  it('neither refuses nor delays mail beyond the allowance', async () => {
    await begin();
    await sendTo(test.app, test.operator, 250);
    expect(await accepted()).toEqual([250, 0]);
    const { items } = (await api.get<{ items: Message[] }>('/v1/messages?limit=100')).body;
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['pending']));
  });

  it('includes sends right after the start of the plan in this process', async () => {
    await sendTo(test.app, test.operator, 3);
    await begin();
    await sendTo(test.app, test.operator, 4);
    expect(await accepted()).toEqual([4, 0]);
  });

  it('begins and ends within a second after another process starts or ends the plan', async () => {
    await sendTo(test.app, test.operator, 3);
    const other = await test.another();
    await begin(other);
    await test.clock.advance(500);
    await sendTo(test.app, test.operator, 4);
    expect(await accepted()).toEqual([4, 0]);
    await cancelWarming(other, test.operator, domainId, {});
    await sendTo(test.app, test.operator, 5);
    await test.clock.advance(500);
    await sendTo(test.app, test.operator, 5);
    expect(await accepted()).toEqual([4, 0]);
    await begin(other);
    await test.clock.advance(500);
    await sendTo(test.app, test.operator, 6);
    expect(await accepted()).toEqual([6, 0]);
  });

  it('costs no query for a domain without a plan, once that is known', async () => {
    const other = await provenDomain(test.app, test.operator, 'other.example');
    await startWarming(test.app, test.operator, other, ramp);
    const queries = watchQueries();
    try {
      const asked = async () => {
        queries.take();
        await sendTo(test.app, test.operator, 1);
        return queries.take().filter(({ text }) => text.includes('warming')).length;
      };
      await asked();
      expect(await asked()).toBe(0);
      await test.clock.advance(500);
      // The read of the counter of changes.
      expect(await asked()).toBe(1);
      expect(await asked()).toBe(0);
    } finally {
      queries.stop();
    }
  });

  it('costs one statement for all sends of a transaction', async () => {
    await begin();
    await sendTo(test.app, test.operator, 1);
    const queries = watchQueries();
    try {
      await sendTo(test.app, test.operator, 500);
      const asked = queries.take().filter(({ text }) => text.includes('warming'));
      expect(asked.map(({ text }) => text)).toEqual([expect.stringMatching(/^update/)]);
    } finally {
      queries.stop();
    }
    expect(await accepted()).toEqual([501, 0]);
  });

  it('stops while the plan is held without an open window', async () => {
    await begin();
    await outcomes(test.app, test.operator, { attempted: 100, hard_bounced: 4 + 1 });
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
    await sendTo(test.app, test.operator, 3);
    expect(inShort(await getWarming(test.app, test.operator, domainId))).toEqual([
      '1 closed 100 0',
      '2 cancelled 200 0',
    ]);
  });

  it.runIf(store === 'postgres')(
    'goes to the window that opened while the transaction waited for the close of another',
    async () => {
      await begin();
      await sendTo(test.app, test.operator, 1);
      const other = await test.another();
      const held = await heldWrite(other, async (trx) => {
        for (const [state, sequence] of [
          ['closed', 1],
          ['open', 2],
        ]) {
          await sql`update warming_batches set state = ${state} where sequence = ${sequence}`.execute(
            trx,
          );
        }
      });
      const sent = sendTo(test.app, test.operator, 5);
      await someoneWaits(other, 'warming_batches');
      await held.commit();
      await sent;
      expect(await accepted()).toEqual([1, 5]);
    },
  );
});
