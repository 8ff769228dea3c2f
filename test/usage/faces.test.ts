// Usage and analytics over HTTP and at the command line: one shape, one set of rules.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/keys/authenticator.ts';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';
import { openApiCheck } from '../support/openapi-check.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { accept } from './fixtures.ts';

describe('over HTTP', () => {
  let test: TestApp;
  let http: HttpServer;
  const check = openApiCheck(routes);
  beforeAll(async () => {
    test = await testApp();
    const authenticator = createAuthenticator(test.app);
    http = createHttpServer(test.app, {
      routes,
      authenticate: (plaintext) => authenticator.authenticate(plaintext),
      isQueueRunning: () => true,
      onResponse: check.onResponse,
    });
    await accept(test.app, test.caller, ['ada@example.com', 'bob@example.net']);
  });
  afterAll(async () => {
    await http.close();
    await test.close();
  });

  async function get(url: string) {
    const response = await http.inject({
      method: 'GET',
      url,
      headers: { 'x-api-key': test.apiKey },
    });
    expect(check.faults).toEqual([]);
    return { status: response.statusCode, body: response.json() };
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
  ])('%s is a 422 that names %s', async (url, field) => {
    const { status, body } = await get(url);
    expect([status, Object.keys(body.fields)]).toEqual([422, [field]]);
  });
});

describe('at the command line', () => {
  let cli: CliWorkspace;
  beforeAll(async () => {
    cli = cliWorkspace();
    const args = ['--to', 'delivered@simulator.test', '--subject', 'Hi', '--text', 'Hi'];
    await cli.json(['messages', 'send', ...args]);
  });
  afterAll(() => cli.close());

  it('svc usage shows the month', async () => {
    expect(await cli.json(['usage'])).toMatchObject({ usage: { emailCount: 1 } });
    const { stdout } = await cli.run(['usage', '--period', '2020-01']);
    expect(stdout).toMatch(/usage\.emailCount +0\n/);
    expect((await cli.run(['usage', '--period', 'soon'])).code).toBe(2);
  });

  it('svc stats shows rates with a line of bars, and tables by day and domain', async () => {
    expect(await cli.json(['stats'])).toMatchObject({ email: { sent: 1 } });
    const { stdout } = await cli.run(['stats']);
    expect(stdout).toMatch(/email\.sent +1\n/);
    expect(stdout).toMatch(/▁{29}█ {2}emails by day/);
    const days = await cli.json<{ items: unknown[] }>(['stats', '--by', 'day']);
    expect(days.items).toHaveLength(30);
    expect((await cli.run(['stats', '--by', 'domain'])).stdout).toMatch(/simulator\.test +1 /);
    expect((await cli.run(['stats', '--by', 'year'])).code).toBe(2);
  });
});
