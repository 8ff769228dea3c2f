// `npm run bench -- --submission`: how fast the real daemon takes mail over SMTP submission, in
// turns with its HTTP API and with a Postfix, and the cost of idle connections that have logged in.
// Figures are printed, never asserted.
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type LoadResult, percentile, postAll } from './http-load.ts';
import { startPostfix, submission, whyNoPostfix } from './postfix.ts';
import { startBenchSink } from './processes.ts';
import { say } from './progress.ts';
import { submitAll } from './smtp-load.ts';
import { type BenchMail, type BenchService, bodyOf, startBenchService } from './svc-contender.ts';

const warmUpRounds = 2;
const idleConnections = 1_000;
const restMs = 3_000;
const from = 'bench@ed25519.bench.example';

export interface SubmissionOptions extends BenchMail {
  messages: number;
  rounds: number;
}

interface Way {
  name: string;
  cpuMs(): number;
  accept(total: number): Promise<LoadResult>;
}

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Prints the cost of idle connections to a fresh daemon: memory reserved by a load would hide it.
 */
async function printIdleCost(daemon: BenchService['daemon'], apiKey: string): Promise<void> {
  const hold = () => holdLoggedIn(daemon.submissionPort, apiKey);
  const first = await hold();
  const before = daemon.memoryMb('now');
  const held = await Promise.all(Array.from({ length: idleConnections }, hold));
  await wait(restMs);
  const grown = daemon.memoryMb('now') - before;
  say(`${held.length} idle connections that have logged in cost ${grown.toFixed(0)} MB.`);
  for (const socket of [first, ...held]) socket.destroy();
}

/** Opens an idle connection that has logged in. */
function holdLoggedIn(port: number, apiKey: string): Promise<Socket> {
  const token = Buffer.from(`\0bench\0${apiKey}`).toString('base64');
  const lines = [`EHLO bench.example\r\n`, `AUTH PLAIN ${token}\r\n`];
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', reject);
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      if (text.startsWith('235')) resolve(socket);
      else if (/^[45]/.test(text)) reject(new Error(text));
      else socket.write(lines.shift() ?? 'NOOP\r\n');
    });
  });
}

export async function benchSubmission(options: SubmissionOptions): Promise<void> {
  const { messages, rounds, connections, text } = options;
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port, {
    SVC_SMTP_SUBMISSION_ENABLED: 'true',
    SVC_SMTP_SUBMISSION_PORT: '0',
  });
  const noPostfix = whyNoPostfix();
  const postfix = noPostfix ? null : await startPostfix(sink.port, connections);
  if (noPostfix) say(`Skipped, Postfix: ${noPostfix}.`);
  try {
    await service.contender('ed25519', options);
    const { apiKey, daemon } = service;
    const body = bodyOf(from, text);
    const mail = { ...submission(options), from };
    let sent = 0;
    const first = (total: number) => {
      sent += total;
      return sent - total;
    };
    const ways: Way[] = [
      {
        name: 'http',
        cpuMs: () => daemon.cpuMs(),
        accept(total) {
          const start = first(total);
          const load = { apiKey, path: '/v1/messages', connections, total };
          return postAll(daemon.httpPort, load, (index) => body(start + index));
        },
      },
      {
        name: 'submission',
        cpuMs: () => daemon.cpuMs(),
        accept(total) {
          const start = first(total);
          const message = (index: number) =>
            mail.message(start + index).replace(/^From: .*/, `From: ${from}`);
          const port = daemon.submissionPort;
          return submitAll({ ...mail, apiKey, port, total, message });
        },
      },
    ];
    if (postfix) {
      const contender = await postfix.contender('postfix', options);
      ways.push({
        name: 'postfix',
        cpuMs: () => contender.cpuMs(),
        accept: (total) => contender.submit(total),
      });
    }
    await printIdleCost(daemon, apiKey);
    const rates = new Map(ways.map(({ name }) => [name, [] as number[]]));
    const costs = new Map(ways.map(({ name }) => [name, [] as number[]]));
    const latencies = new Map<string, number>();
    for (let round = -warmUpRounds; round < rounds; round++) {
      for (const { name, accept, cpuMs } of ways) {
        const cpuBefore = cpuMs();
        const { received } = await sink.count();
        const load = await accept(messages);
        await sink.waitFor(received + messages, name);
        if (round < 0) continue;
        rates.get(name)?.push(messages / load.seconds);
        costs.get(name)?.push((cpuMs() - cpuBefore) / messages);
        latencies.set(name, percentile(load.latenciesMs, 0.99));
        say(`round ${round + 1}  ${name.padEnd(10)} ${Math.round(messages / load.seconds)}/s`);
      }
    }
    const http = median(rates.get('http') ?? []);
    console.table(
      ways.map(({ name }) => {
        const rate = median(rates.get(name) ?? []);
        return {
          way: name,
          'accept/s': Math.round(rate),
          'of http': Number((rate / http).toFixed(2)),
          'core-ms until delivered': Number(median(costs.get(name) ?? []).toFixed(3)),
          'p99 ms': Number((latencies.get(name) ?? 0).toFixed(1)),
        };
      }),
    );
  } finally {
    await postfix?.stop();
    await service.stop();
    sink.close();
  }
}
