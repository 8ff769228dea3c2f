// `npm run bench -- --connections-idle`: the effect of thousands of idle connections and hundreds
// of slow ones on a normal send, and their cost for the daemon in memory and processor time.
import { setTimeout as wait } from 'node:timers/promises';
import { heldConnectionsObstacle, holdConnections } from '../support/held-connections.ts';
import { percentile, postAll } from './http-load.ts';
import { startBenchSink } from './processes.ts';
import { say } from './progress.ts';
import { type BenchMail, bodyOf, startBenchService } from './svc-contender.ts';

const idle = 5_000;
const slow = 500;
const sends = 300;
const targetMs = 100;
const restMs = 5_000;

export async function benchConnections(mail: BenchMail): Promise<void> {
  const obstacle = heldConnectionsObstacle(idle + slow);
  if (obstacle) {
    say(`Skipped: ${obstacle}.`);
    return;
  }
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port);
  try {
    await service.contender('ed25519', mail);
    const { daemon, apiKey } = service;
    const body = bodyOf('bench@ed25519.bench.example', mail.text);
    let sent = 0;
    const sendOnes = async (label: string) => {
      const load = { apiKey, path: '/v1/messages', connections: 1, total: sends };
      const first = sent;
      sent += sends;
      const { latenciesMs } = await postAll(daemon.httpPort, load, (index) => body(first + index));
      const [p50 = 0, p99 = 0, worst = 0] = [0.5, 0.99, 1].map((share) =>
        percentile(latenciesMs, share),
      );
      const figures = [p50, p99, worst].map((ms) => ms.toFixed(1)).join(', ');
      say(`${label}: p50, p99, longest ${figures} ms; ${daemon.memoryMb('now')} MB resident`);
      return p99;
    };
    await sendOnes('warm-up');
    await sendOnes('without them');
    const before = { cpuMs: daemon.cpuMs(), mb: daemon.memoryMb('now') };
    const held = await holdConnections(daemon.httpPort, { idle, slow, apiKey });
    const openingMs = daemon.cpuMs() - before.cpuMs;
    const p99 = await sendOnes(`with ${held.idle()} idle and ${held.slow()} slow ones`);
    const restedFrom = daemon.cpuMs();
    await wait(restMs);
    const restPercent = ((daemon.cpuMs() - restedFrom) / restMs) * 100;
    const kb = ((daemon.memoryMb('peak') - before.mb) * 1024) / (idle + slow);
    say(
      `Each cost ${(openingMs / (idle + slow)).toFixed(2)} core-ms to open and ${kb.toFixed(0)} KB at the ` +
        `peak; left alone, all cost ${restPercent.toFixed(0)} % of a core.`,
    );
    say(`The target is ${targetMs} ms: ${p99 < targetMs ? 'ok' : 'short'}.`);
    held.close();
  } finally {
    await service.stop();
    sink.close();
  }
}
