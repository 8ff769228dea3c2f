// Usage and analytics over HTTP and at the command line: one shape, one set of rules.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withPercents } from '../../../commands/stats.ts';
import { getOrganization } from '../../../src/access/organizations/organizations.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import { createLogger } from '../../../src/platform/runtime/log.ts';
import { openService } from '../../../src/service/service.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { accept } from './fixtures.ts';

describe('usage over HTTP', () => {
  let test: TestApp;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp();
    api = httpApi(test);
    await accept(test.app, test.caller, ['ada@example.com', 'bob@example.net']);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  async function get(url: string) {
    const { status, body } = await api.get<Record<string, unknown>>(url);
    return { status, body };
  }

  it('shows the usage of this month', async () => {
    expect(await get('/v1/organizations/usage')).toEqual({
      status: 200,
      body: {
        usage: {
          periodStart: '2026-01-01T00:00:00.000Z',
          periodEnd: '2026-02-01T00:00:00.000Z',
          emailCount: 2,
          totalMessages: 2,
        },
        billing: {
          currency: 'USD',
          planName: 'self-hosted',
          includedEmails: null,
          usedEmails: 2,
          overageEmails: 0,
          overageCost: '0',
        },
      },
    });
  });

  it('shows channel stats, series and domains', async () => {
    const range = 'startDate=2026-01-05T12:00:00Z&endDate=2026-01-05T13:00:00Z';
    const stats = await get(`/v1/analytics/channel-stats?${range}`);
    expect(stats).toMatchObject({ status: 200, body: { email: { sent: 2, deliveryRate: 0 } } });
    const series = await get(`/v1/analytics/timeseries?${range}&interval=hour`);
    expect(series.body.items).toMatchObject([{ start: '2026-01-05T12:00:00.000Z', emails: 2 }]);
    const domains = await get('/v1/analytics/domains?limit=1');
    expect(domains.body.items).toMatchObject([{ domain: 'example.com', emails: 1 }]);
  });

  it.each([
    ['/v1/organizations/usage?period=2026-13', 'period'],
    ['/v1/organizations/usage?period=last', 'period'],
    ['/v1/analytics/channel-stats?startDate=yesterday', 'startDate'],
    ['/v1/analytics/timeseries?interval=minute', 'interval'],
    ['/v1/analytics/domains?limit=0', 'limit'],
    ['/v1/analytics/channel-stats?startDate=2026-02-01&endDate=2026-01-01', 'endDate'],
  ])('%s answers 422 that names %s', async (url, field) => {
    const { status, body } = await get(url);
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, [field]]);
  });
});

describe('usage at the command line', () => {
  let cli: CliWorkspace;
  beforeAll(async () => {
    cli = await initializedWorkspace();
    const args = ['--to', 'delivered@simulator.test', '--subject', 'Hi', '--text', 'Hi'];
    await cli.json(['messages', 'send', ...args]);
  });
  afterAll(() => cli.close());

  it('svc usage prints the month', async () => {
    expect(await cli.json(['usage'])).toMatchObject({ usage: { emailCount: 1 } });
    const { stdout } = await cli.run(['usage', '--period', '2020-01']);
    expect(stdout).toMatch(/usage\.emailCount +0\n/);
    expect((await cli.run(['usage', '--period', 'soon'])).code).toBe(2);
  });

  it('svc stats prints rates with bars, and tables by day and domain', async () => {
    expect(await cli.json(['stats'])).toMatchObject({ email: { sent: 1 } });
    const { stdout } = await cli.run(['stats']);
    expect(stdout).toMatch(/email\.sent +1\n/);
    expect(stdout).toMatch(/▁{29}█ {2}emails by day/);
    const days = await cli.json<{ items: unknown[] }>(['stats', '--by', 'day']);
    expect(days.items).toHaveLength(30);
    expect((await cli.run(['stats', '--by', 'domain'])).stdout).toMatch(/simulator\.test +1 /);
    expect((await cli.run(['stats', '--by', 'year'])).code).toBe(2);
  });

  it('svc stats names its period, and rounds rates', async () => {
    const month = ['--start', '2026-01-01', '--end', '2026-01-31'];
    const period = '2026-01-01 to 2026-01-31, UTC';
    const { stdout } = await cli.run(['stats', ...month]);
    expect(stdout).toMatch(new RegExp(`^${period}\n\n`));
    expect(stdout).toMatch(/email\.bounceRate +0%\n/);
    expect((await cli.run(['stats', '--by', 'day', ...month])).stdout).toContain(period);
    const hours = await cli.run([
      'stats',
      '--by',
      'hour',
      '--start',
      '2026-01-01',
      ...month.slice(2),
    ]);
    expect(hours.stdout).toContain('2026-01-01 00:00 to 2026-01-31 23:00, UTC');
    expect(withPercents({ sent: 3, bounceRate: 1 / 3, deliveryRate: 1 })).toEqual({
      sent: 3,
      bounceRate: '33.3%',
      deliveryRate: '100%',
    });
  });

  it('svc domains show explains a hold, and resume ends it', async () => {
    const domain = 'sandbox.test';
    expect((await cli.run(['domains', 'resume', domain])).code).toBe(5);
    await holdDomain(domain);
    const held = {
      sendingStatus: 'held',
      holdReason: '10% of the last 100 messages bounced (limit 5%).',
    };
    expect(await cli.json(['domains', 'show', domain])).toMatchObject(held);
    const { stdout } = await cli.run(['domains', 'show', domain]);
    expect(stdout).toMatch(/holdReason +10% of the last 100 messages bounced/);
    const args = ['domains', 'resume', domain, '--note', 'An old list was removed'];
    const free = { domain, sendingStatus: 'enabled', holdReason: null };
    expect(await cli.json(args)).toMatchObject(free);
    expect((await cli.run(['domains', 'resume', 'other.example'])).code).toBe(3);
    const { items } = await cli.json<{ items: unknown[] }>(['audit', '--action', 'domain.resumed']);
    expect(items).toMatchObject([{ details: { domain, note: 'An old list was removed' } }]);
  });

  /** Counts bounces of the domain, and good mail of another. */
  async function holdDomain(fromDomain: string): Promise<void> {
    const { config } = loadConfig({ env: { ...cli.env }, cwd: cli.directory });
    const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
    const { id: organizationId } = await getOrganization(app, 'default');
    const observation = { organizationId, sender: null };
    await app.store.write((trx) =>
      countHealth(app, trx, [
        { ...observation, fromDomain: 'well.example', counts: { attempted: 200 } },
        { ...observation, fromDomain, counts: { attempted: 100, hard_bounced: 10 } },
      ]),
    );
    await app.close();
  }
});
