// A list of messages reads 16 MB at most, however long the attempts of their deliveries are.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { eachApi } from '../../support/each-app.ts';
import { watchBytes } from '../../support/watched-queries.ts';
import { payload, send } from './fixtures.ts';

const mostBytes = 16 * 1024 * 1024;
const { test, api } = eachApi();

/** 20 attempts, each with a transcript and a reply of the longest kind. */
const attempts = JSON.stringify(
  Array.from({ length: 20 }, (_, number) => ({
    ...{ number: number + 1, at: '2026-01-05T12:00:00.000Z', durationMs: 1, host: 'mx.example' },
    ...{ address: '192.0.2.1', tls: null, outcome: 'deferred', code: 451, enhancedCode: '4.3.0' },
    ...{ reply: 'r'.repeat(1_000), verb: 'DATA', transcript: 't'.repeat(4_000) },
  })),
);

it.each(['/v1/messages?limit=100', '/v1/events?limit=100'])(
  '%s reads 16 MB at most when every delivery has 20 attempts of the longest kind',
  async (url) => {
    const to = Array.from({ length: 50 }, (_, n) => ({ email: `ada${n}@example.com` }));
    for (let n = 0; n < 20; n += 1) await send(api, { ...payload({ subject: `${n}` }), to });
    await test.app.store.write(async (trx) => {
      await sql`update deliveries set attempts = ${attempts}, attempt_count = 20`.execute(trx);
    });
    const watch = watchBytes();
    try {
      expect((await api.get(url)).status).toBe(200);
      expect(watch.take()).toBeLessThan(mostBytes);
    } finally {
      watch.stop();
    }
  },
);

it('a list keeps the attempts of the newest deliveries', async () => {
  const to = Array.from({ length: 50 }, (_, n) => ({ email: `ada${n}@example.com` }));
  for (let n = 0; n < 3; n += 1) await send(api, { ...payload({ subject: `${n}` }), to });
  await test.app.store.write(async (trx) => {
    await sql`update deliveries set attempts = ${attempts}, attempt_count = 20`.execute(trx);
  });
  const { body } = await api.get<Page<Message>>('/v1/messages?limit=100');
  const shown = body.items.map(({ deliveries }) =>
    deliveries.reduce((sum, one) => sum + one.attempts.length, 0),
  );
  expect([shown[0], shown[2]]).toEqual([1_000, 0]);
  expect(body.items[2]?.deliveries[0]?.attemptCount).toBe(20);
});
