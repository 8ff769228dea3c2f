// `npm run bench -- --backlog`: the cost of a standing queue. The same store grows from row count
// to row count; first its rows wait for a retry while fresh messages pass, then all are ready to
// go.
import { setTimeout as wait } from 'node:timers/promises';
import { figuresRow, runRound } from './contender.ts';
import { percentile } from './http-load.ts';
import { type BenchSink, startBenchSink } from './processes.ts';
import { say } from './progress.ts';
import { claimMsOf, seedStore } from './seed.ts';
import { type BenchMail, type BenchService, startBenchService } from './svc-contender.ts';

export interface BacklogOptions extends BenchMail {
  /** Delivered in each measurement. */
  messages: number;
  /** Sizes of the queue, growing. */
  rows: readonly number[];
}

const organizations = 100;
const domainsEach = 2;
const warmUpMessages = 1_000;
/**
 * Few connections beside a ready queue: the queue itself is the load, and the latency of one POST
 * the question.
 */
const connectionsBesideReady = 4;
const targetShare = 0.8;

interface Point {
  rows: number;
  perSecond: number;
  coreMs: number;
  row: Record<string, string | number>;
}

export async function benchBacklog(options: BacklogOptions): Promise<void> {
  const sink = await startBenchSink();
  try {
    for (const state of ['waiting', 'ready'] as const) {
      say(
        `The queue ${state === 'waiting' ? 'waits for retries, fresh messages pass' : 'is ready'}:`,
      );
      const points = await grow(sink, state, options);
      console.table(points.map(({ row }) => row));
      sayRatio(points);
    }
  } finally {
    sink.close();
  }
}

async function grow(
  sink: BenchSink,
  state: 'waiting' | 'ready',
  options: BacklogOptions,
): Promise<Point[]> {
  const service = await startBenchService(sink.port);
  const points: Point[] = [];
  try {
    const connections = state === 'ready' ? connectionsBesideReady : options.connections;
    const contender = await service.contender('ed25519', { ...options, connections });
    let queued = 0;
    for (const rows of options.rows) {
      let claimMs = Number.NaN;
      let started = 0;
      await service.restart(async () => {
        const { text } = options;
        started = performance.now();
        const job = { rows: rows - queued, organizations, domainsEach, state, text };
        await seedStore(service.env, job);
        started = performance.now() - started;
        if (state === 'ready') claimMs = await claimMsOf(service.env);
      });
      say(`  ${rows} rows queued (written in ${(started / 1000).toFixed(0)} s), measuring …`);
      const measure = state === 'waiting' ? besideWaiting : throughReady;
      const { queuedAfter, ...point } = await measure(sink, service, contender, rows, options);
      queued = queuedAfter;
      if (state === 'ready') point.row['claim of 100, ms'] = Number(claimMs.toFixed(2));
      points.push(point);
    }
  } finally {
    await service.stop();
  }
  return points;
}

type Measured = Point & { queuedAfter: number };
type Contender = Parameters<typeof runRound>[0];

/** Fresh messages, accepted and delivered while all queued ones wait for their time. */
async function besideWaiting(
  sink: BenchSink,
  service: BenchService,
  contender: Contender,
  rows: number,
  { messages }: BacklogOptions,
): Promise<Measured> {
  await runRound(contender, sink, warmUpMessages);
  const figures = await runRound(contender, sink, messages);
  const row = {
    ...figuresRow(String(rows), figures),
    'MB now': service.daemon.memoryMb('now'),
  };
  const { endToEndPerSecond: perSecond, coreMsPerMessage: coreMs } = figures;
  return { rows, perSecond, coreMs, row, queuedAfter: rows };
}

/** The queue itself goes out; a tenth as many fresh messages come in meanwhile. */
async function throughReady(
  sink: BenchSink,
  service: BenchService,
  contender: Contender,
  rows: number,
  { messages }: BacklogOptions,
): Promise<Measured> {
  const before = await sink.count();
  await contender.stallMs();
  const cpuBefore = contender.cpuMs();
  const started = performance.now();
  const fresh = Math.ceil(messages / 10);
  const load = await contender.submit(fresh);
  const delivered = Math.min(messages, rows);
  await sink.waitFor(before.received + delivered, 'delivering the queue');
  const after = await sink.count();
  const seconds = (performance.now() - started) / 1000;
  const perSecond = (after.received - before.received) / seconds;
  const coreMs = (contender.cpuMs() - cpuBefore) / (after.received - before.received);
  const memory = service.daemon.memoryMb('now');
  const row = {
    contender: String(rows),
    'p50 ms': Number(percentile(load.latenciesMs, 0.5).toFixed(1)),
    'p99 ms': Number(percentile(load.latenciesMs, 0.99).toFixed(1)),
    'end to end/s': Math.round(perSecond),
    'core-ms': Number(coreMs.toFixed(3)),
    'peak MB': service.daemon.memoryMb('peak'),
    'MB now': memory,
    'stall ms': (await contender.stallMs()) ?? '-',
  };
  const gone = await drainedBy(sink, rows, before.received);
  return { rows, perSecond, coreMs, row, queuedAfter: Math.max(0, rows + fresh - gone) };
}

/**
 * Count of sent rows until now; a nearly empty queue is drained first, so that the next can be
 * counted.
 */
async function drainedBy(sink: BenchSink, rows: number, before: number): Promise<number> {
  if (rows <= 10_000) await wait(2_000);
  return (await sink.count()).received - before;
}

function sayRatio(points: readonly Point[]): void {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last || first === last) return;
  const verdict = (share: number) =>
    `${(100 * share).toFixed(0)} % (${share >= targetShare ? 'ok' : 'short'})`;
  say(
    `At ${last.rows} rows, of the rate at ${first.rows}: ${verdict(last.perSecond / first.perSecond)}, ` +
      `by core-ms ${verdict(first.coreMs / last.coreMs)}; the target is ${100 * targetShare} %.\n`,
  );
}
