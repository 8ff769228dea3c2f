// The cost of counting, by hand: npx node test/bench/usage.ts. Batches as settle makes them, and each
// statistic over synthetic counters of a year, for a hundred thousand and for ten million messages.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addUsage } from '../../src/access/admission/queries.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { findOrganizationByName } from '../../src/access/organizations/queries.ts';
import type { Caller } from '../../src/core/api/route.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { countMail } from '../../src/identity/reputation/count.ts';
import { countHealth } from '../../src/identity/reputation/health.ts';
import { dayMs, dayOf, emptyTally, hourMs, hourOf } from '../../src/identity/reputation/metrics.ts';
import { addCounters, addDomainCounters } from '../../src/identity/reputation/queries.ts';
import {
  channelStats,
  domainStats,
  getUsage,
  timeseries,
} from '../../src/identity/reputation/stats.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';

const batch = 100;
const rounds = 200;

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const { config } = loadConfig({ env: {}, cwd: dataDir, overrides: { dataDir } });
const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
await firstStart(app);
const organizationId = (await findOrganizationByName(app.store.db, 'default'))?.id ?? '';
const now = app.clock.now();

async function measure(domains: number): Promise<number> {
  return app.store.write(async (trx) => {
    const started = process.cpuUsage();
    for (let round = 0; round < rounds; round++) {
      const indexes = Array.from({ length: batch }, (_, index) => index);
      await countMail(
        app,
        trx,
        indexes.map((index) => ({
          organizationId,
          acceptedAt: now,
          domain: `d${index % domains}.example`,
          counts: { attempted: 1, sent: 1, delivered: 1 },
        })),
      );
      const health = { organizationId, sender: 'a@b.example', fromDomain: 'b.example' };
      await countHealth(
        app,
        trx,
        indexes.map(() => ({ ...health, counts: { attempted: 1 } })),
      );
    }
    const { user, system } = process.cpuUsage(started);
    return (user + system) / (rounds * batch);
  });
}

for (const domains of [1, 10, 100]) {
  await measure(domains);
  const cost = (await measure(domains)).toFixed(1);
  process.stdout.write(
    `settle, ${batch} a batch to ${domains} domains: ${cost} µs of a core a message\n`,
  );
}

/** A year of counters, as full as they get: every hour, and the most recipient domains every day. */
const days = 366;
const domainsADay = 200;

async function fillYear(owner: string, messages: number): Promise<void> {
  const start = hourOf(now) - (days * 24 - 1) * hourMs;
  const tally = (part: number) => {
    const count = Math.ceil(messages / part);
    return { ...emptyTally(), accepted: count, emails: count, attempted: count, delivered: count };
  };
  const hourly = Array.from({ length: days * 24 }, (_, index) => ({
    organization_id: owner,
    bucket_start: start + index * hourMs,
    ...tally(days * 24),
  }));
  const daily = Array.from({ length: days * domainsADay }, (_, index) => ({
    organization_id: owner,
    bucket_start: dayOf(start) + Math.floor(index / domainsADay) * dayMs,
    domain: `d${index % domainsADay}.example`,
    ...tally(days * domainsADay),
  }));
  const quota = Array.from({ length: days }, (_, index) => ({
    organization_id: owner,
    day: dayOf(start) + index * dayMs,
    emails: Math.ceil(messages / days),
    shard: 0,
    messages: Math.ceil(messages / days),
  }));
  await app.store.write(async (trx) => {
    await addCounters(trx, hourly);
    await addDomainCounters(trx, daily);
    await addUsage(trx, quota);
  });
}

const startDate = new Date(now - (days - 1) * dayMs).toISOString();
const thirtyDays = new Date(now - 30 * dayMs).toISOString();
const questions: Record<string, (caller: Caller) => Promise<unknown>> = {
  'usage of a month': (caller) => getUsage(app, caller, {}),
  'channel stats, 30 days': (caller) => channelStats(app, caller, {}),
  'channel stats, 366 days': (caller) => channelStats(app, caller, { startDate }),
  'time series, 30 days by hour': (caller) =>
    timeseries(app, caller, { interval: 'hour', startDate: thirtyDays }),
  'time series, 366 days by day': (caller) =>
    timeseries(app, caller, { interval: 'day', startDate }),
  'recipient domains, 30 days': (caller) => domainStats(app, caller, { limit: 100 }),
  'recipient domains, 366 days': (caller) => domainStats(app, caller, { limit: 100, startDate }),
};

/** The median of some runs, in milliseconds. */
async function timeOf(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 21; run++) {
    const started = performance.now();
    await ask();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[10] ?? 0;
}

const sizes = [100_000, 10_000_000];
const callers: Caller[] = [];
for (const messages of sizes) {
  const { id } = await createOrganization(app, { name: `of ${messages}`, plan: 'scale' });
  await fillYear(id, messages);
  callers.push(operatorOf(id));
}
process.stdout.write(`statistics over counters of ${sizes.join(' and ')} messages, median ms:\n`);
for (const [what, ask] of Object.entries(questions)) {
  const times: string[] = [];
  for (const caller of callers) times.push((await timeOf(() => ask(caller))).toFixed(2));
  process.stdout.write(`  ${what}: ${times.join(' and ')}\n`);
}
await app.close();
rmSync(dataDir, { recursive: true, force: true });
