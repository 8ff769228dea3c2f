// `npx node test/bench/claims.ts`: claims without carrying on one durable PostgreSQL, by one process and by four at once:
// rows for a second of all cores, server and claimers together. Target: four take 0.85 times as many as one.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { startPostgres } from '../support/postgres.ts';
import type { ClaimReport } from './claims-process.ts';
import { emptyDatabase } from './postgres.ts';
import { parentOf, treeCpuMs } from './process-cost.ts';
import { startBenchSink } from './processes.ts';
import { median, say } from './progress.ts';
import { seedStore } from './seed.ts';
import { startBenchService } from './svc-contender.ts';

const claimers = [1, 4];
const rounds = 3;
const limit = 100;
const claimsOfRound = 120;
const target = 0.85;

const sink = await startBenchSink();
const server = await startPostgres(true);
const database = await emptyDatabase(server.url, 'bench_claims');
const service = await startBenchService(sink.port, {}, { SVC_DATABASE_URL: database });
const watch = new pg.Client({ connectionString: database });
await watch.connect();
const { rows: backends } = await watch.query('select pg_backend_pid() as pid');
const postmaster = parentOf(Number(backends[0].pid));
const found = new Map<number, number[]>(claimers.map((count) => [count, []]));
await service.restart(async () => {
  const rows = (rounds + 1) * claimers.length * claimsOfRound * limit;
  const job = { rows, organizations: 100, domainsEach: 2, state: 'ready', text: 'x' } as const;
  await seedStore(service.env, job);
  await watch.query('vacuum analyze');
  say(`${rows} rows are ready, each claim takes ${limit}`);
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const count of claimers) {
      const perSecond = await claimedPerCoreSecond(count);
      if (round > 0) found.get(count)?.push(perSecond);
    }
  }
});
const [one = 0, four = 0] = claimers.map((count) => median(found.get(count) ?? []));
say(`rows per core-second: ${one.toFixed(0)} by one, ${four.toFixed(0)} by four at once`);
say(`${(four / one).toFixed(2)} x (target: ${target})`);
await watch.end();
await service.stop();
sink.close();
await server.stop();

/** Lets processes claim at once. Returns the claimed rows for a second of core time. */
async function claimedPerCoreSecond(count: number): Promise<number> {
  const args = [String(claimsOfRound / count), String(limit)];
  const children = Array.from({ length: count }, () =>
    fork(new URL('claims-process.ts', import.meta.url), args, {
      env: { ...process.env, ...service.env },
    }),
  );
  await Promise.all(children.map(reportOf));
  const before = treeCpuMs(postmaster);
  const reports = children.map(reportOf);
  for (const child of children) child.send('claim');
  let coreMs = 0;
  let rows = 0;
  for (const report of await Promise.all(reports)) {
    if (report === 'ready') throw new Error('a claimer did not claim');
    coreMs += report.coreMs;
    rows += report.rows;
  }
  coreMs += treeCpuMs(postmaster) - before;
  if (rows < claimsOfRound * limit) throw new Error(`only ${rows} rows were claimed`);
  return rows / (coreMs / 1_000);
}

async function reportOf(child: ChildProcess): Promise<ClaimReport> {
  const [report] = await once(child, 'message');
  return report as ClaimReport;
}
