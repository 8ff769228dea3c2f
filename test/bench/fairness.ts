// `npm run bench -- --fairness`: one organization has 100,000 messages ready to go; another sends
// single ones. How long each of those takes to leave, by the times that the API shows for its
// delivery.
import { setTimeout as wait } from 'node:timers/promises';
import { startBenchSink } from './processes.ts';
import { say } from './progress.ts';
import { seedStore } from './seed.ts';
import { type BenchMail, bodyOf, startBenchService } from './svc-contender.ts';

const backlogRows = 100_000;
const probes = 10;
const betweenProbesMs = 500;
const pollMs = 20;
const targetMs = 1_000;
const deadlineMs = 60_000;

interface Sent {
  createdAt: string;
  sentAt: string | null;
}

export async function benchFairness(mail: BenchMail): Promise<void> {
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port);
  try {
    await service.contender('ed25519', mail);
    const job = { rows: backlogRows, organizations: 1, domainsEach: 1, text: mail.text };
    await service.restart(() => seedStore(service.env, { ...job, state: 'ready' }));
    const body = bodyOf('bench@ed25519.bench.example', mail.text);
    const before = await sink.count();
    const started = performance.now();
    const took: number[] = [];
    for (let probe = 0; probe < probes; probe++) {
      await wait(betweenProbesMs);
      took.push(await leavesAfterMs(service.daemon.httpPort, service.apiKey, body(probe)));
    }
    const seconds = (performance.now() - started) / 1000;
    const { received } = await sink.count();
    const worst = Math.max(...took);
    say(
      `${backlogRows} messages of one organization, of which ${received - before.received} left meanwhile`,
    );
    say(
      `(${Math.round((received - before.received) / seconds)}/s). Single ones of another left after`,
    );
    say(`${took.join(', ')} ms; the target is ${targetMs}: ${worst <= targetMs ? 'ok' : 'short'}.`);
  } finally {
    await service.stop();
    sink.close();
  }
}

/** Milliseconds from the 201 to the 250 of the sink, as the delivery records them. */
async function leavesAfterMs(port: number, apiKey: string, body: string): Promise<number> {
  const url = `http://127.0.0.1:${port}/v1/messages`;
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const posted = await fetch(url, { method: 'POST', headers, body });
  if (posted.status !== 201) throw new Error(`POST answered ${posted.status}`);
  const { id } = (await posted.json()) as { id: string };
  const deadline = performance.now() + deadlineMs;
  while (performance.now() < deadline) {
    const answer = await fetch(`${url}/${id}/deliveries`, { headers });
    const [delivery] = (await answer.json()) as Sent[];
    if (delivery?.sentAt) return Date.parse(delivery.sentAt) - Date.parse(delivery.createdAt);
    await wait(pollMs);
  }
  throw new Error(`message ${id} did not leave within ${deadlineMs / 1000} s`);
}
