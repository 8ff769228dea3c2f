// `npm run bench`: how fast the real daemon accepts (durable, SQLite FULL) and delivers signed mail
// to a loopback sink, and the cost of a message. Figures are printed, never asserted.
import { figuresRow, runRound } from './contender.ts';
import { prepareProfiling, profileClock, type Span } from './cpu-profile.ts';
import { startBenchSink } from './processes.ts';
import { say } from './progress.ts';
import { type BenchMail, type Signing, signings, startBenchService } from './svc-contender.ts';

export interface QuickOptions extends BenchMail {
  messages: number;
  only: Signing | null;
  profile: boolean;
  /** Delay of the sink's answers in ms. */
  sinkDelayMs: number;
  /** Limit of the daemon's connections to the sink. */
  sinkConnections: number;
}

const warmUpMessages = 2_000;

export async function benchQuickly(options: QuickOptions): Promise<void> {
  const { messages, only } = options;
  const profiling = options.profile ? prepareProfiling() : null;
  const sink = await startBenchSink(options.sinkDelayMs);
  const service = await startBenchService(sink.port, {
    ...profiling?.env,
    SVC_DELIVERY_MAX_CONNECTIONS_PER_DOMAIN: String(options.sinkConnections),
  });
  const rows: Record<string, string | number>[] = [];
  const spans: Span[] = [];
  const threadRows: Record<string, string | number>[] = [];
  try {
    for (const signing of signings) {
      if (only && only !== signing) continue;
      say(`signing ${signing} …`);
      const contender = await service.contender(signing, options);
      await runRound(contender, sink, Math.min(warmUpMessages, messages));
      const threadsBefore = service.daemon.threads();
      const from = profileClock();
      const figures = await runRound(contender, sink, messages);
      spans.push({ name: contender.name, from, to: profileClock(), messages });
      rows.push(figuresRow(contender.name, figures));
      threadRows.push(threadRow(contender.name, threadsBefore, service.daemon.threads(), messages));
    }
  } finally {
    await service.stop();
    sink.close();
  }
  console.table(rows);
  if (!profiling) return;
  say('\nCore-ms per message by thread:');
  console.table(threadRows);
  profiling.report(spans);
}

function threadRow(
  contender: string,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  messages: number,
): Record<string, string | number> {
  const row: Record<string, string | number> = { contender };
  for (const [name, ms] of after) {
    const perMessage = (ms - (before.get(name) ?? 0)) / messages;
    if (perMessage >= 0.001) row[name] = Number(perMessage.toFixed(3));
  }
  return row;
}
