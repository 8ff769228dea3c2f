// `npm run bench -- --store postgres`: one daemon on SQLite, then several on one PostgreSQL that is
// durable, all with the same load. Beside the rates: commits, bytes of WAL and waits for locks of
// the server, and its core time.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../support/postgres.ts';
import { type Contender, figuresRow, runRound } from './contender.ts';
import { type LoadResult, postAll } from './http-load.ts';
import { parentOf, treeCpuMs } from './process-cost.ts';
import { type BenchDaemon, startBenchDaemon, startBenchSink, svcJson } from './processes.ts';
import { say } from './progress.ts';
import {
  type BenchMail,
  bodyOf,
  relayEnv,
  sendingDomain,
  startBenchService,
} from './svc-contender.ts';

const warmUpMessages = 2_000;
const sampleMs = 20;

export interface PostgresOptions extends BenchMail {
  messages: number;
  /** Numbers of daemons, one round each. */
  daemons: readonly number[];
}

/** Figures of the server over a round. */
interface ServerFigures {
  commits: number;
  walBytes: number;
  /** Part of the samples of working connections that waited for a lock. */
  lockWaits: number;
}

export async function benchPostgres(options: PostgresOptions): Promise<void> {
  const sink = await startBenchSink();
  const given = process.env.TEST_PG_URL;
  const server = given ? { url: given, stop: async () => {} } : await startPostgres(true);
  const rows: Record<string, string | number>[] = [];
  try {
    say('SQLite, one daemon …');
    const sqlite = await startBenchService(sink.port);
    const contender = await sqlite.contender('ed25519', options);
    await runRound(contender, sink, Math.min(warmUpMessages, options.messages));
    const figures = await runRound(contender, sink, options.messages);
    rows.push(figuresRow('SQLite', figures));
    await sqlite.stop();
    for (const count of options.daemons) {
      say(`PostgreSQL, ${count} daemon${count === 1 ? '' : 's'} …`);
      rows.push(await benchDaemons(server.url, sink, count, options));
    }
  } finally {
    sink.close();
    await server.stop();
  }
  console.table(rows);
}

async function benchDaemons(
  url: string,
  sink: Awaited<ReturnType<typeof startBenchSink>>,
  count: number,
  options: PostgresOptions,
): Promise<Record<string, string | number>> {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-pg-'));
  const remove = () => rmSync(home, { recursive: true, force: true });
  process.once('exit', remove);
  const database = await emptyDatabase(url, `bench_${count}_${Date.now()}`);
  const watch = new pg.Client({ connectionString: database });
  await watch.connect();
  const daemons: BenchDaemon[] = [];
  try {
    const folder = (n: number) => {
      const path = join(home, `daemon-${n}`);
      mkdirSync(path);
      return path;
    };
    const first = folder(0);
    const env = { ...relayEnv(first, sink.port), SVC_DATABASE_URL: database };
    daemons.push(await startBenchDaemon(env));
    const { key } = await svcJson<{ key: string }>(env, 'keys', 'create', '--name', 'bench');
    const from = `bench@${await sendingDomain(env, 'ed25519')}`;
    for (let n = 1; n < count; n++) {
      const own = { SVC_DATA_DIR: folder(n) };
      const secret = { SVC_SECRET_FILE: join(first, 'secret.key') };
      daemons.push(await startBenchDaemon({ ...env, ...own, ...secret }));
    }
    const contender = await contenderOf(daemons, watch, { ...options, key, from, count });
    await runRound(contender, sink, Math.min(warmUpMessages, options.messages));
    const measured = await watchServer(watch);
    const figures = await runRound(contender, sink, options.messages);
    const { commits, walBytes, lockWaits } = await measured();
    return {
      ...figuresRow(contender.name, figures),
      commits: Number((commits / options.messages).toFixed(2)),
      'WAL bytes': Math.round(walBytes / options.messages),
      'lock waits %': Number((lockWaits * 100).toFixed(2)),
    };
  } finally {
    for (const daemon of daemons) await daemon.stop();
    await watch.end();
    process.off('exit', remove);
    remove();
  }
}

/** Makes a database, and returns its URL. */
export async function emptyDatabase(url: string, name: string): Promise<string> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

/** All daemons as one contender: each gets its part of the messages and of the connections. */
async function contenderOf(
  daemons: readonly BenchDaemon[],
  watch: pg.Client,
  {
    key,
    from,
    count,
    connections,
    text,
  }: PostgresOptions & { key: string; from: string; count: number },
): Promise<Contender> {
  const { rows } = await watch.query('select pg_backend_pid() as pid');
  const postmaster = parentOf(Number(rows[0].pid));
  const body = bodyOf(from, text);
  let submitted = 0;
  return {
    name: `PostgreSQL, ${count}`,
    isSigned: true,
    warmUpRounds: 1,
    async submit(total) {
      const results = await Promise.all(
        daemons.map(({ httpPort }, n) => {
          const own = Math.floor(total / count) + (n < total % count ? 1 : 0);
          const first = submitted;
          submitted += own;
          const load = { apiKey: key, path: '/v1/messages', total: own };
          const each = Math.max(1, Math.floor(connections / count));
          return postAll(httpPort, { ...load, connections: each }, (index) => body(first + index));
        }),
      );
      return joined(results);
    },
    cpuMs: () => treeCpuMs(postmaster) + daemons.reduce((sum, daemon) => sum + daemon.cpuMs(), 0),
    memoryMb: () => daemons.reduce((sum, daemon) => sum + daemon.memoryMb('peak'), 0),
    async stallMs() {
      return Math.max(...(await Promise.all(daemons.map((daemon) => daemon.stallMs()))));
    },
  };
}

function joined(results: readonly LoadResult[]): LoadResult {
  return {
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
    accepted: results.reduce((sum, { accepted }) => sum + accepted, 0),
    refused: new Map(results.flatMap(({ refused }) => [...refused])),
    latenciesMs: results.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b),
  };
}

/** Begins to watch the server. The returned function ends that. */
async function watchServer(watch: pg.Client): Promise<() => Promise<ServerFigures>> {
  const totals = async () => {
    const { rows } = await watch.query(
      `select (select sum(xact_commit) from pg_stat_database where datname = current_database()) as commits,
         pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal`,
    );
    return { commits: Number(rows[0].commits), wal: Number(rows[0].wal) };
  };
  const before = await totals();
  let working = 0;
  let waiting = 0;
  let isOver = false;
  const sample = async () => {
    while (!isOver) {
      const { rows } = await watch.query(
        `select count(*) as working, count(*) filter (where wait_event_type = 'Lock') as waiting
         from pg_stat_activity where datname = current_database() and state = 'active'
           and pid <> pg_backend_pid()`,
      );
      working += Number(rows[0].working);
      waiting += Number(rows[0].waiting);
      await new Promise((resolve) => setTimeout(resolve, sampleMs));
    }
  };
  const sampling = sample();
  return async () => {
    isOver = true;
    await sampling;
    const { commits, wal } = await totals();
    return {
      commits: commits - before.commits,
      walBytes: wal - before.wal,
      lockWaits: working === 0 ? 0 : waiting / working,
    };
  };
}
