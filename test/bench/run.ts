// `npm run bench`: how fast the real daemon accepts (durable, SQLite FULL) and delivers signed mail
// to a loopback sink, and what a message costs. Figures are printed, never asserted.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { percentile, postAll } from './http-load.ts';
import { startBenchDaemon, startBenchSink, svcJson } from './processes.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '32' },
    size: { type: 'string', default: '2048' },
    only: { type: 'string' },
  },
});
const total = Number(values.messages);
const connections = Number(values.connections);
const text = `${'The quick brown fox jumps over the lazy dog. '.repeat(2)}\n`.repeat(
  Math.ceil(Number(values.size) / 92),
);

interface Figures {
  signing: string;
  acceptPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  endToEndPerSecond: number;
  coreMsPerMessage: number;
  memoryMb: number;
}

/** Signing of the run: the keys of the sending domain. */
const signings = ['ed25519', 'rsa', 'both'] as const;

async function race(signing: (typeof signings)[number]): Promise<Figures> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const sink = await startBenchSink();
  const env = {
    SVC_DATA_DIR: dataDir,
    SVC_HTTP_PORT: '0',
    SVC_SMTP_INBOUND_PORT: '0',
    SVC_DELIVERY_MODE: 'relay',
    SVC_DELIVERY_RELAY_HOST: '127.0.0.1',
    SVC_DELIVERY_RELAY_PORT: String(sink.port),
  };
  const daemon = await startBenchDaemon(env);
  try {
    const from = `bench@${await sendingDomain(env, signing)}`;
    const { key } = await svcJson<{ key: string }>(env, 'keys', 'create', '--name', 'bench');
    const body = (index: number) =>
      JSON.stringify({
        channel: 'email',
        from: { email: from },
        to: [{ email: `user${index}@example.com` }],
        email: { subject: `Message ${index}`, text: `${index}\n${text}` },
      });
    const load = { apiKey: key, path: '/v1/messages', connections };
    const warmUp = Math.min(1_000, total);
    await postAll(daemon.httpPort, { ...load, total: warmUp }, body);
    await sink.waitFor(warmUp);

    const cpuBefore = daemon.cpuMs();
    const started = performance.now();
    const accepted = await postAll(daemon.httpPort, { ...load, total }, body);
    if (accepted.refused.size > 0) throw new Error(`refused: ${[...accepted.refused]}`);
    await sink.waitFor(warmUp + total);
    const seconds = (performance.now() - started) / 1000;
    return {
      signing,
      acceptPerSecond: Math.round(total / accepted.seconds),
      p50Ms: Number(percentile(accepted.latenciesMs, 0.5).toFixed(1)),
      p99Ms: Number(percentile(accepted.latenciesMs, 0.99).toFixed(1)),
      endToEndPerSecond: Math.round(total / seconds),
      coreMsPerMessage: Number(((daemon.cpuMs() - cpuBefore) / total).toFixed(3)),
      memoryMb: daemon.memoryMb(),
    };
  } finally {
    await daemon.stop();
    sink.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function sendingDomain(env: Record<string, string>, signing: string): Promise<string> {
  const domain = `${signing}.bench.example`;
  const { id } = await svcJson<{ id: string }>(env, 'domains', 'add', domain, '--dkim', signing);
  await svcJson(env, 'domains', 'verify', id, '--force');
  return domain;
}

console.log(`${total} messages of about ${values.size} bytes over ${connections} connections,`);
console.log(
  `SQLite synchronous=FULL on ${tmpdir()}, ${cpus().length} cores, Node ${process.version}\n`,
);
const figures: Figures[] = [];
for (const signing of signings) {
  if (values.only && values.only !== signing) continue;
  console.log(`racing: signing ${signing} …`);
  figures.push(await race(signing));
}
console.table(figures);
