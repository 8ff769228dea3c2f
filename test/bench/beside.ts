// `npm run bench -- --beside`: sends beside work in the background, in turns with sends alone: a
// backup on both engines, and the deletion of old messages among many.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { findOrganizationByName } from '../../src/access/organizations/queries.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { openService } from '../../src/service/service.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Contender, combine, type Figures, figuresRow, runRound } from './contender.ts';
import { makeTemplate, seedMessages } from './lists.ts';
import { emptyDatabase } from './postgres.ts';
import { type BenchSink, startBenchSink, svcJson } from './processes.ts';
import { say } from './progress.ts';
import { type BenchMail, type BenchService, startBenchService } from './svc-contender.ts';

const dayMs = 86_400_000;
const lookMs = 500;
/**
 * Share of the seeded messages that are old enough to be deleted: more than a run of the bench
 * deletes.
 */
const oldShare = 0.5;

interface BesideOptions extends BenchMail {
  messages: number;
  rounds: number;
  /** Messages in the store beforehand. */
  rows: number;
}

export async function benchBeside(options: BesideOptions): Promise<void> {
  const sink = await startBenchSink();
  const server = await startPostgres(true);
  const table: Record<string, string | number>[] = [];
  try {
    for (const engine of ['SQLite', 'PostgreSQL'] as const) {
      const store =
        engine === 'SQLite'
          ? {}
          : { SVC_DATABASE_URL: await emptyDatabase(server.url, `beside_${Date.now()}`) };
      const service = await startBenchService(sink.port, {}, store);
      try {
        const contender = await service.contender('ed25519', options);
        await service.restart(() => seed(service, options.rows));
        say(`${engine}: ${options.rows} messages are there`);
        for (let round = 0; round < contender.warmUpRounds; round++) {
          await runRound(contender, sink, options.messages);
        }
        const inTurns = { sink, contender, ...options };
        table.push(...(await besideBackups(engine, service, inTurns)));
        table.push(...(await besideDeletions(engine, service, inTurns)));
      } finally {
        await service.stop();
      }
    }
  } finally {
    sink.close();
    await server.stop();
  }
  console.table(table);
}

interface InTurns {
  sink: BenchSink;
  contender: Contender;
  messages: number;
  rounds: number;
}

async function besideBackups(
  engine: string,
  service: BenchService,
  { sink, contender, messages, rounds }: InTurns,
) {
  const file = join(service.dataDir, 'backup.db');
  const alone: Figures[] = [];
  const beside: Figures[] = [];
  let backups = 0;
  for (let round = 0; round < rounds; round++) {
    alone.push(await runRound(contender, sink, messages));
    let isOver = false;
    const work = (async () => {
      while (!isOver) {
        await svcJson(service.env, 'backup', file, '--overwrite');
        backups += 1;
      }
    })();
    beside.push(await runRound(contender, sink, messages));
    isOver = true;
    await work;
  }
  say(`${engine}: ${backups} backups, one after the other`);
  return rowsOf(`${engine}, backup`, alone, beside);
}

async function besideDeletions(
  engine: string,
  service: BenchService,
  { sink, contender, messages, rounds }: InTurns,
) {
  const alone: Figures[] = [];
  const beside: Figures[] = [];
  const warmUp = async () => {
    for (let round = 0; round < contender.warmUpRounds; round++) {
      await runRound(contender, sink, messages);
    }
  };
  // Both after a restart: a daemon is compiled while it runs.
  await service.restart(async () => {});
  await warmUp();
  for (let round = 0; round < rounds; round++)
    alone.push(await runRound(contender, sink, messages));
  await svcJson(service.env, 'orgs', 'update', 'default', '--messages-days', '30');
  await service.restart(() =>
    withService(service, async ({ store }) => {
      await store.write((trx) =>
        sql`update scheduled_jobs set next_at = 0 where name = 'delete old messages'`.execute(trx),
      );
    }),
  );
  await untilDeleting(service);
  await warmUp();
  const before = await messagesIn(service);
  for (let round = 0; round < rounds; round++)
    beside.push(await runRound(contender, sink, messages));
  const deleted = before + rounds * messages - (await messagesIn(service));
  say(`${engine}: ${deleted} messages were deleted meanwhile`);
  return rowsOf(`${engine}, deletion`, alone, beside);
}

/** Waits for the job, which begins at a full minute. */
async function untilDeleting({ daemon }: BenchService): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${daemon.httpPort}/readyz?verbose`);
    const { jobs } = (await answer.json()) as { jobs: { name: string; isRunning: boolean }[] };
    if (jobs.some(({ name, isRunning }) => isRunning && name === 'delete old messages')) return;
    await wait(lookMs);
  }
}

function rowsOf(name: string, alone: readonly Figures[], beside: readonly Figures[]) {
  const [one, other] = [combine(alone), combine(beside)];
  const ratio = (field: 'acceptPerSecond' | 'endToEndPerSecond') =>
    (other[field] / one[field]).toFixed(2);
  say(`${name}: accept ${ratio('acceptPerSecond')} x, end to end ${ratio('endToEndPerSecond')} x`);
  return [figuresRow(`${name}: alone`, one), figuresRow(`${name}: beside`, other)];
}

async function withService<T>({ env }: BenchService, work: (app: App) => Promise<T>): Promise<T> {
  const { config } = loadConfig({ env: { ...process.env, ...env }, cwd: env.SVC_DATA_DIR ?? '' });
  const app = await openService(config, await createLogger({ level: 'warn', pretty: false }));
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

/** Fills the store with delivered messages, of which some are over a month old. */
function seed(service: BenchService, rows: number): Promise<void> {
  return withService(service, async (app) => {
    const { id = '' } = (await findOrganizationByName(app.store.db, 'default')) ?? {};
    const template = await makeTemplate(app, operatorOf(id));
    const now = app.clock.now();
    const old = Math.round(rows * oldShare);
    const month = 30 * dayMs;
    await seedMessages(app, template, old, { from: now - 2 * month, to: now - month });
    await seedMessages(app, template, rows - old, { from: now - month + dayMs, to: now });
    if (app.store.kind === 'postgres') await sql`vacuum analyze`.execute(app.store.db);
  });
}

function messagesIn(service: BenchService): Promise<number> {
  return withService(service, async ({ store }) => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from messages`.execute(store.db);
    return Number(rows[0]?.n);
  });
}
