// Statistics by calendar day (specification 2.14) over changes of daylight saving, in zones with 30
// and 45 minutes, and when the zone of the organization changes.
import { describe, expect, it } from 'vitest';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import { moveCounts } from '../../src/webhooks/deliveries/counters.ts';
import { webhookStats } from '../../src/webhooks/deliveries/stats.ts';
import type { DeliveryStatus } from '../../src/webhooks/rows.ts';
import type { WebhookStats } from '../../src/webhooks/schema.ts';
import { cliWorkspace } from '../support/cli.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import { endpoint, publishEvent } from './fixtures.ts';

const quarterMs = 900_000;
const dayMs = 86_400_000;
const statuses: readonly DeliveryStatus[] = ['pending', 'delivered', 'exhausted', 'cancelled'];

/** Returns the day in the zone, by another library. */
function dayOf(timeMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(timeMs);
}

describe.each(stores)('statistics of a webhook on %s', (store) => {
  const { test, api } = eachApi({ store });

  const inZone = (timezone: string) =>
    updateOrganization(test.app, test.operator.organizationId, { timezone });

  /** Counts a delivery for each of these times, all in one transaction. */
  const count = (endpointId: string, times: readonly number[]) =>
    test.app.store.write(async (trx) => {
      moveCounts(
        trx,
        times.map((madeAt, index) => {
          return { endpointId, madeAt, from: null, to: statuses[index % 4] ?? 'pending' };
        }),
      );
    });

  it.each([
    ['Europe/Berlin', '2026-03-29', '2026-10-25'],
    ['America/New_York', '2026-03-08', '2026-11-01'],
    ['Australia/Lord_Howe', '2026-04-05', '2026-10-04'],
    ['Asia/Kathmandu', '2026-03-29', '2026-10-25'],
    ['America/Santiago', '2026-04-05', '2026-09-06'],
  ])('follow the days of %s, where clocks change on %s and %s', async (timezone, ...changes) => {
    const { id } = await endpoint(test);
    await inZone(timezone);
    for (const change of changes) {
      const at = Date.parse(`${change}T12:00:00Z`);
      test.clock.set(at + 3 * dayMs);
      const times: number[] = [];
      // One delivery in each quarter hour, in each of the four states in turn.
      for (let t = at - 3 * dayMs; t <= at + 3 * dayMs; t += quarterMs) times.push(t + 1);
      await count(id, times);
      const { daily } = await webhookStats(test.app, test.operator, id, 7);
      const expected = new Map<string, Record<string, number>>();
      for (const [index, time] of times.entries()) {
        const day = dayOf(time, timezone);
        const sums = expected.get(day) ?? { pending: 0, delivered: 0, exhausted: 0, cancelled: 0 };
        const status = statuses[index % 4] ?? 'pending';
        sums[status] = (sums[status] ?? 0) + 1;
        expected.set(day, sums);
      }
      const wanted = [...expected].map(([date, sums]) => ({ date, ...sums }));
      expect(daily.filter(({ date }) => expected.has(date))).toEqual(wanted.slice(-7));
      expect(daily.at(-1)?.date).toBe(dayOf(test.clock.now(), timezone));
    }
  });

  it('are cut into other days after a change of zone, and lose nothing', async () => {
    const { id } = await endpoint(test);
    // 12:00 UTC: the day before 03:00 in Kathmandu is 21:15 UTC.
    const now = test.clock.now();
    await count(id, [now - dayMs + 9 * 3_600_000 + 1_000_000, now]);
    const days = async () => {
      const { total, daily } = await webhookStats(test.app, test.operator, id, 7);
      return [total, daily.slice(-2).map((day) => statuses.reduce((sum, of) => sum + day[of], 0))];
    };
    expect(await days()).toEqual([2, [1, 1]]);
    await inZone('Asia/Kathmandu');
    expect(await days()).toEqual([2, [0, 2]]);
    await inZone('UTC');
    expect(await days()).toEqual([2, [1, 1]]);
  });

  it('count a delivery on the day of its creation, whenever it ends', async () => {
    const { id } = await endpoint(test);
    const madeAt = test.clock.now();
    await publishEvent(test);
    await test.clock.advance(dayMs);
    await publishEvent(test);
    await test.app.store.write(async (trx) => {
      moveCounts(trx, [{ endpointId: id, madeAt, from: 'pending', to: 'delivered' }]);
    });
    const { body } = await api.get<WebhookStats>(`/v1/webhooks/${id}/stats?period=7`);
    const none = { pending: 0, delivered: 0, exhausted: 0, cancelled: 0 };
    expect(body).toMatchObject({ ...none, total: 2, pending: 1, delivered: 1 });
    expect(body.daily).toHaveLength(7);
    expect(body.daily.slice(-2)).toEqual([
      { date: '2026-01-05', ...none, delivered: 1 },
      { date: '2026-01-06', ...none, pending: 1 },
    ]);
  });

  it.each(['', '?period=7', '?period=30', '?period=90'])(
    'have the requested number of days: "%s"',
    async (query) => {
      const { id } = await endpoint(test);
      const { body } = await api.get<WebhookStats>(`/v1/webhooks/${id}/stats${query}`);
      expect(body.daily).toHaveLength(Number(query.slice(8) || 30));
      expect(body.daily.at(-1)?.date).toBe('2026-01-05');
    },
  );

  it.each(['0', '1', '31', '-7', '7.5', 'week', '', '1e1'])(
    'refuse the period "%s"',
    async (period) => {
      const { id } = await endpoint(test);
      const url = `/v1/webhooks/${id}/stats?period=${period}`;
      const { status, body } = await api.get<{ fields: object }>(url);
      expect([status, Object.keys(body.fields)]).toEqual([422, ['period']]);
    },
  );

  it('have bars at the command line, and the same object as JSON', async () => {
    const { id } = await endpoint(test);
    await publishEvent(test);
    const { dataDir, database } = test.app.config;
    const cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
    try {
      const args = ['webhooks', 'stats', id, '--period', '7'];
      const printed = await cli.json<WebhookStats>(args);
      expect(printed.daily).toHaveLength(7);
      const { stdout } = await cli.run(args);
      expect(stdout).toMatch(/^pending +\d+ +[▁█]{7}$/m);
    } finally {
      cli.close();
    }
  });
});
