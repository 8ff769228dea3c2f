// `npx node test/bench/domain-checks.ts [domains]`: the daily checks of 10,000 sending domains on SQLite, ten at once as
// by the schedule, against a DNS server in another process. Prints the checks a minute beside the 7 that 10,000 a day
// need, the questions of a check, and the longest stall of the event loop (at most 20 ms). `--all-due`: as after an
// outage, when all are due at once. Figures are never asserted.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sql } from 'kysely';
import { operatorOf } from '../../src/access/keys/roles.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { checkDueDomains } from '../../src/identity/domains/verification.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { startDnsServer } from '../support/dns-server.ts';

const count = Number(process.argv[2]) || 10_000;
const rounds = 100;

/** Serves the records of all domains, which are the same below each name; counts the questions. */
async function serve(): Promise<void> {
  const server = await startDnsServer();
  process.on(
    'message',
    ({ records }: { records?: { type: string; name: string; value: string }[] }) => {
      for (const { type, name, value } of records ?? []) {
        if (type === 'TXT') server.set(name, 'TXT', [value]);
        else server.set(name, 'MX', [{ preference: 10, exchange: value.split(' ')[1] ?? '' }]);
      }
      process.send?.({ address: server.address, asked: server.queries.length });
    },
  );
  process.send?.({ address: server.address, asked: 0 });
}

/** Makes ten domains due, as a minute of a day does. */
function makeTenDue({ store }: App, round: number) {
  const names = Array.from({ length: 10 }, (_, at) => `d${round * 10 + at}.example`);
  return store.write((trx) =>
    sql`update domains set next_check_at = 0 where domain in (${sql.join(names)})`.execute(trx),
  );
}

async function measure(): Promise<void> {
  const child = fork(import.meta.filename, ['--serve']);
  const [{ address }] = await once(child, 'message');
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const { config } = loadConfig({
    env: {},
    cwd: dataDir,
    overrides: {
      dataDir,
      dns: { servers: [address] },
      http: { port: 0 },
      smtp: { inbound: { port: 0 } },
      delivery: { hostname: 'mail.host.example' },
    },
  });
  const app = await openService(config, await createLogger({ level: 'error', pretty: false }));
  await firstStart(app);
  const { rows } = await sql<{ id: string }>`select id from organizations`.execute(app.store.db);
  const caller = operatorOf(rows[0]?.id ?? '');
  const started = performance.now();
  for (let at = 0; at < count; at++) {
    const domain = `d${at}.example`;
    const { dnsRecords } = await addDomain(app, caller, { domain, dkim: 'ed25519' });
    if (at % 2 === 0 && at < rounds * 20) child.send({ records: dnsRecords });
  }
  console.log(`${count} domains added in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const isOutage = process.argv.includes('--all-due');
  await app.store.write((trx) =>
    sql`update domains set next_check_at = ${isOutage ? 0 : 8e12} where is_local = 0`.execute(trx),
  );
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  let checked = 0;
  for (let round = 0; round < rounds; round++) {
    if (!isOutage) await makeTenDue(app, round);
    checked += await checkDueDomains(app);
  }
  const minutes = (performance.now() - begun) / 60_000;
  delay.disable();
  child.send({});
  const answered = new Promise<number>((resolve) => {
    child.on('message', ({ asked }: { asked: number }) => asked > 0 && resolve(asked));
  });
  console.log(
    `${checked} checks: ${(checked / minutes).toFixed(0)} a minute (needed: ${(count / 1440).toFixed(1)})`,
  );
  console.log(`questions of a check: ${((await answered) / checked).toFixed(1)} (at most 200)`);
  console.log(
    `longest stall: ${(delay.max / 1e6).toFixed(1)} ms, p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`,
  );
  child.kill();
  await app.close();
  rmSync(dataDir, { recursive: true });
}

await (process.argv.includes('--serve') ? serve() : measure());
