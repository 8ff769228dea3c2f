// One round of a race: hands messages to a contender, waits until the sink has them, and measures
// the time and cost. Knows neither our API nor SMTP.
import { setTimeout as wait } from 'node:timers/promises';
import { type LoadResult, percentile } from './http-load.ts';
import { cpuMs } from './process-cost.ts';
import type { BenchSink } from './processes.ts';
import { median } from './progress.ts';

/** A program that takes part in a race. */
export interface Contender {
  name: string;
  isSigned: boolean;
  /** Rounds of warming up until its speed is stable. */
  warmUpRounds: number;
  /** Submits `total` messages; resolves when each has its durable answer. */
  submit(total: number): Promise<LoadResult>;
  /** Core-milliseconds of all of its processes and threads so far. */
  cpuMs(): number;
  /** Returns its memory in MB at the height of the load. */
  memoryMb(): number;
  /** Longest stall of its event loop in ms since the last call; null without an event loop. */
  stallMs(): Promise<number | null>;
}

/** Figures of one round, or of several. */
export interface Figures {
  acceptPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  endToEndPerSecond: number;
  coreMsPerMessage: number;
  /** Core time of sink and load, which share the cores. */
  benchCoreMs: number;
  memoryMb: number;
  stallMs: number | null;
}

/** Time for the work after the last delivery: settling it, removing files. */
const settleMs = 400;

function benchCpuMs(sink: BenchSink): number {
  const own = process.cpuUsage();
  return (own.user + own.system) / 1000 + cpuMs(sink.pid);
}

/** @throws Error when something was refused, lost or not signed */
export async function runRound(
  contender: Contender,
  sink: BenchSink,
  total: number,
): Promise<Figures> {
  const before = await sink.count();
  await contender.stallMs();
  const cpuBefore = contender.cpuMs();
  const benchBefore = benchCpuMs(sink);
  const started = performance.now();
  const load = await contender.submit(total);
  if (load.refused.size > 0) throw new Error(`${contender.name} refused: ${[...load.refused]}`);
  const memoryMb = contender.memoryMb();
  const label = `${contender.name}: accepted ${total}, delivering`;
  const after = await sink.waitFor(before.received + total, label);
  const seconds = (performance.now() - started) / 1000;
  await wait(settleMs);
  const signed = after.signed - before.signed;
  if (signed !== (contender.isSigned ? total : 0)) {
    throw new Error(`${contender.name}: of ${total} messages ${signed} came signed`);
  }
  return {
    acceptPerSecond: total / load.seconds,
    p50Ms: percentile(load.latenciesMs, 0.5),
    p99Ms: percentile(load.latenciesMs, 0.99),
    endToEndPerSecond: total / seconds,
    coreMsPerMessage: (contender.cpuMs() - cpuBefore) / total,
    benchCoreMs: (benchCpuMs(sink) - benchBefore) / total,
    memoryMb,
    stallMs: await contender.stallMs(),
  };
}

/** The medians; of memory and stall the worst. */
export function combine(rounds: readonly Figures[]): Figures {
  const middle = (field: Exclude<keyof Figures, 'stallMs'>) =>
    median(rounds.map((round) => round[field]));
  const stalls = rounds.flatMap(({ stallMs }) => stallMs ?? []);
  return {
    acceptPerSecond: middle('acceptPerSecond'),
    p50Ms: middle('p50Ms'),
    p99Ms: middle('p99Ms'),
    endToEndPerSecond: middle('endToEndPerSecond'),
    coreMsPerMessage: middle('coreMsPerMessage'),
    benchCoreMs: middle('benchCoreMs'),
    memoryMb: Math.max(...rounds.map((round) => round.memoryMb)),
    stallMs: stalls.length > 0 ? Math.max(...stalls) : null,
  };
}

export function figuresRow(name: string, figures: Figures): Record<string, string | number> {
  return {
    contender: name,
    'accept/s': Math.round(figures.acceptPerSecond),
    'p50 ms': Number(figures.p50Ms.toFixed(1)),
    'p99 ms': Number(figures.p99Ms.toFixed(1)),
    'end to end/s': Math.round(figures.endToEndPerSecond),
    'core-ms': Number(figures.coreMsPerMessage.toFixed(3)),
    'bench core-ms': Number(figures.benchCoreMs.toFixed(3)),
    'peak MB': figures.memoryMb,
    'stall ms': figures.stallMs ?? '-',
  };
}
