// `npm run bench -- --inbound`: how fast the real daemon takes mail (250 after the durable commit),
// and when this mail is parsed. Figures are printed, never asserted.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { percentile } from './http-load.ts';
import { say } from './progress.ts';
import { submitAll } from './smtp-load.ts';
import { startBenchService } from './svc-contender.ts';

const warmUpMessages = 2_000;
const pollMs = 50;
/** A port without a server: nothing is delivered. */
const noSinkPort = 1;

export interface InboundOptions {
  connections: number;
  messages: number;
  rounds: number;
  text: string;
}

/** Counts the mails queued for parsing. */
function unparsed(file: string): number {
  const database = new Database(file, { readonly: true });
  try {
    const count = database.prepare<[], { n: number }>(
      'select count(*) as n from email_projections where due_at is not null',
    );
    return count.get()?.n ?? 0;
  } catch {
    return 0;
  } finally {
    database.close();
  }
}

/**
 * Returns the core time of each kind of thread for one of `count` messages; a worker of ours
 * parses.
 */
function coreMsByThread(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  messages: number,
): Record<string, number> {
  const used = [...after].map(([name, ms]) => {
    const perMessage = (ms - (before.get(name) ?? 0)) / messages;
    return [`${name}: core-ms`, Number(perMessage.toFixed(3))] as const;
  });
  return Object.fromEntries(used.filter(([, ms]) => ms > 0));
}

export async function benchInbound(options: InboundOptions): Promise<void> {
  const { connections, messages, rounds, text } = options;
  const service = await startBenchService(noSinkPort, {
    SVC_SMTP_INBOUND_TRUSTED_NETWORKS: '["127.0.0.1"]',
  });
  const file = join(service.dataDir, 'svc.db');
  const rows: Record<string, number>[] = [];
  const body = text.replaceAll('\n', '\r\n');
  const head = 'From: ada@example.com\r\nTo: inbox@sandbox.test\r\nMIME-Version: 1.0\r\n';
  try {
    for (let round = 0; round <= rounds; round++) {
      say(round === 0 ? 'warming up …' : `round ${round} …`);
      const cpuBefore = service.daemon.cpuMs();
      const threadsBefore = service.daemon.threads();
      await service.daemon.stallMs();
      const started = performance.now();
      const load = await submitAll({
        port: service.daemon.smtpPort,
        connections,
        total: round === 0 ? warmUpMessages : messages,
        from: 'ada@example.com',
        to: () => 'inbox@sandbox.test',
        message: (index) =>
          `${head}Message-ID: <${round}.${index}@example.com>\r\nSubject: ${index}\r\n\r\n${body}`,
      });
      const acceptCpuMs = service.daemon.cpuMs() - cpuBefore;
      while (unparsed(file) > 0) await wait(pollMs);
      const seconds = (performance.now() - started) / 1000;
      if (round === 0) continue;
      rows.push({
        'accept/s': Math.round(messages / load.seconds),
        'p50 ms': Number(percentile(load.latenciesMs, 0.5).toFixed(1)),
        'p99 ms': Number(percentile(load.latenciesMs, 0.99).toFixed(1)),
        'parsed/s': Math.round(messages / seconds),
        'core-ms until the 250': Number((acceptCpuMs / messages).toFixed(3)),
        'core-ms': Number(((service.daemon.cpuMs() - cpuBefore) / messages).toFixed(3)),
        ...coreMsByThread(threadsBefore, service.daemon.threads(), messages),
        'peak MB': service.daemon.memoryMb('peak'),
        'stall ms': await service.daemon.stallMs(),
      });
    }
  } finally {
    await service.stop();
  }
  console.table(rows);
}
