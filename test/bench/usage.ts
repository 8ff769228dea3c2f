// What counting costs, by hand: node test/bench/usage.ts. Batches as settle makes them, and the
// statistics of a year over synthetic counters of ten million messages.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { firstStart } from '../../src/first-start.ts';
import { operatorOf } from '../../src/keys/roles.ts';
import { createLogger } from '../../src/log.ts';
import { findOrganizationByName } from '../../src/organizations/queries.ts';
import { countMail } from '../../src/usage/count.ts';
import { countHealth } from '../../src/usage/health.ts';
import { emptyTally, hourMs, hourOf } from '../../src/usage/metrics.ts';
import { addCounters } from '../../src/usage/queries.ts';
import { channelStats } from '../../src/usage/stats.ts';

const batch = 100;
const rounds = 200;

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const { config } = loadConfig({ env: {}, cwd: dataDir, overrides: { dataDir } });
const app = await openApp(config, await createLogger({ level: 'silent', pretty: false }));
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

const hours = 366 * 24;
await app.store.write(async (trx) => {
  const perHour = Math.ceil(10_000_000 / hours);
  const tally = { ...emptyTally(), accepted: perHour, attempted: perHour, delivered: perHour };
  const rows = Array.from({ length: hours }, (_, index) => ({
    organization_id: organizationId,
    bucket_start: hourOf(now) - index * hourMs,
    ...tally,
  }));
  await addCounters(trx, rows);
});
const caller = operatorOf(organizationId);
const startDate = new Date(now - 365 * 24 * hourMs).toISOString();
for (const query of [{}, { startDate }]) {
  await channelStats(app, caller, query);
  const started = performance.now();
  const { email } = await channelStats(app, caller, query);
  const ms = (performance.now() - started).toFixed(1);
  process.stdout.write(`channel stats over ${email.sent.toLocaleString('en')}: ${ms} ms\n`);
}
await app.close();
rmSync(dataDir, { recursive: true, force: true });
