// How an ordinary organization fares while another, an address and a bound key do their worst:
//   npx node test/bench/siege.ts [--minutes 10] [--seed 1] [--each [KIND …]]
// With --each every attack, or each named kind, runs alone for ten seconds, to see which of them
// hurts. The attacks run in a process of their own (siege/attackers.ts). Figures are printed beside
// their goals, never asserted.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startDnsServer } from '../support/dns-server.ts';
import { cpuMs } from './process-cost.ts';
import { type BenchDaemon, startBenchSink, svcJson } from './processes.ts';
import { say, sayLoad, showProgress } from './progress.ts';
import { type Neighbour, type NeighbourFigures, startNeighbour } from './siege/neighbour.ts';
import type { Siege } from './siege/siege.ts';
import { type LongStalls, longStalls, stallsIn } from './siege/stalls.ts';
import { startBenchService } from './svc-contender.ts';

const warmUpSeconds = 20;
const aloneSeconds = 60;
const eachSeconds = 10;
/** Between two kinds, for attacks that are under way. */
const restSeconds = 12;
const goals = { p99Ratio: 2, webhookMs: 1000, memoryMb: 800, workMs: 5000 };

const { values, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    each: { type: 'boolean', default: false },
  },
});
const siegeSeconds = Number(values.minutes) * 60;

/** The organization, domain, mailbox and keys of the attackers, made by commands. */
async function makeAttackers(env: Record<string, string>, daemon: BenchDaemon): Promise<Siege> {
  const org = 'besieger';
  await svcJson(env, 'orgs', 'create', '--name', org, '--plan', 'scale', '--payment-method');
  const domain = 'besieger.example';
  const { id } = await svcJson<{ id: string }>(env, 'domains', 'add', domain, '--org', org);
  await svcJson(env, 'domains', 'verify', id, '--force', '--org', org);
  const mailbox = await svcJson<{ id: string; primaryAddress: string }>(
    env,
    ...['mailboxes', 'create', '--slug', 'besieger', '--org', org],
  );
  const { key } = await svcJson<{ key: string }>(
    env,
    ...['keys', 'create', '--name', 'owner', '--role', 'owner', '--org', org],
  );
  const bound = await svcJson<{ key: string }>(
    env,
    ...['keys', 'create', '--name', 'agent', '--mailbox', mailbox.id, '--org', org],
    ...['--permission', 'mailboxes:read', '--permission', 'mailboxes:write'],
    ...['--permission', 'mailboxes:send', '--send-mode', 'approval'],
  );
  return {
    httpPort: daemon.httpPort,
    smtpPort: daemon.smtpPort,
    apiKey: key,
    boundKey: bound.key,
    mailboxId: mailbox.id,
    address: mailbox.primaryAddress,
    domain,
    seed: Number(values.seed),
  };
}

/** Processes whose core time is compared: the machine itself must not be the limit. */
interface Watched {
  daemon: BenchDaemon;
  attackersPid: number;
}

const readStalls = async ({ httpPort }: BenchDaemon) =>
  stallsIn(await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text());

/**
 * The stalls of the event loop, the most memory, and the cores that the processes used, of a phase.
 */
async function watchDaemon({ daemon, attackersPid }: Watched, seconds: number) {
  const worst = { stallMs: 0, memoryMb: 0 };
  const before = await readStalls(daemon);
  const used = () => [daemon.pid, attackersPid, process.pid].map((pid) => cpuMs(pid));
  const usedBefore = used();
  const begunAt = performance.now();
  const end = begunAt + seconds * 1000;
  await daemon.stallMs().catch(() => 0);
  while (performance.now() < end) {
    await wait(1000);
    worst.stallMs = Math.max(worst.stallMs, await daemon.stallMs().catch(() => 0));
    worst.memoryMb = Math.max(worst.memoryMb, daemon.memoryMb('now'));
  }
  const elapsedMs = performance.now() - begunAt;
  const cores = used().map((ms, at) => (ms - (usedBefore[at] ?? 0)) / elapsedMs);
  return { ...worst, cores, stalls: longStalls(before, await readStalls(daemon)) };
}

type Phase = NeighbourFigures & Awaited<ReturnType<typeof watchDaemon>>;

async function phase(neighbour: Neighbour, watched: Watched, seconds: number): Promise<Phase> {
  neighbour.reset();
  const worst = await watchDaemon(watched, seconds);
  return { ...neighbour.figures(), ...worst };
}

/** Prints the figures of phases, and the operations that held the event loop for over 200 ms. */
function show(phases: Readonly<Record<string, Phase>>): void {
  const table = (rowOf: (figures: Phase) => object) =>
    console.table(
      Object.fromEntries(Object.entries(phases).map(([name, one]) => [name, rowOf(one)])),
    );
  table((one) => ({
    sends: one.sends,
    'send p50 ms': Number(one.sendP50Ms.toFixed(1)),
    'send p99 ms': Number(one.sendP99Ms.toFixed(1)),
    'send refused': one.refusedSends,
    hooks: one.hooks,
    'hook p99 ms': Math.round(one.hookP99Ms),
    'hook longest ms': Math.round(one.hookLongestMs),
    mails: one.mails,
    'mails refused': one.refusedMails,
    'mail longest ms': Math.round(one.mailLongestMs),
  }));
  table(({ cores: [ofDaemon = 0, ofAttackers = 0, ofBench = 0], ...one }) => ({
    runs: one.runs,
    'runs failed': one.failedRuns,
    'run longest ms': Math.round(one.runLongestMs),
    renders: one.renders,
    'renders failed': one.failedRenders,
    'render longest ms': Math.round(one.renderLongestMs),
    'longest lag ms': one.stallMs,
    'stalls > 200 ms': stallCount(one.stalls),
    'peak MB': Math.round(one.memoryMb),
    'cores daemon': Number(ofDaemon.toFixed(2)),
    'cores attackers': Number(ofAttackers.toFixed(2)),
    'cores bench': Number(ofBench.toFixed(2)),
  }));
  for (const [name, { stalls }] of Object.entries(phases)) {
    for (const { operation, count, upToSeconds } of stalls) {
      say(`${name}: ${count} stalls over 200 ms, up to ${upToSeconds} s, by ${operation}`);
    }
  }
}

const stallCount = (stalls: readonly LongStalls[]) =>
  stalls.reduce((sum, { count }) => sum + count, 0);

function judge(alone: Phase, besieged: Phase): void {
  const line = (what: string, value: string, isMet: boolean) =>
    say(`${isMet ? 'met  ' : 'SHORT'}  ${what}: ${value}`);
  const ratio = besieged.sendP99Ms / alone.sendP99Ms;
  line(`p99 of a send ≤ ${goals.p99Ratio} × alone`, ratio.toFixed(2), ratio <= goals.p99Ratio);
  line('no send refused', String(besieged.refusedSends), besieged.refusedSends === 0);
  line(
    `webhooks within ${goals.webhookMs} ms`,
    `${Math.round(besieged.hookLongestMs)} ms, ${besieged.hooksMissing} missing`,
    besieged.hookLongestMs <= goals.webhookMs && besieged.hooksMissing === 0,
  );
  line('inbound mail taken', `${besieged.refusedMails} refused`, besieged.refusedMails === 0);
  const stalls = stallCount(besieged.stalls);
  line('no stall over 200 ms', String(stalls), stalls === 0);
  const within = (what: string, longestMs: number, failed: number) =>
    line(
      `${what} within ${goals.workMs} ms`,
      `${Math.round(longestMs)} ms, ${failed} failed`,
      longestMs <= goals.workMs && failed === 0,
    );
  within('campaign runs', besieged.runLongestMs, besieged.failedRuns);
  within('renders', besieged.renderLongestMs, besieged.failedRenders);
  line(
    `memory < ${goals.memoryMb} MB`,
    `${Math.round(besieged.memoryMb)} MB`,
    besieged.memoryMb < goals.memoryMb,
  );
}

sayLoad();
say(`seed ${values.seed}`);
const dns = await startDnsServer();
const sink = await startBenchSink();
const service = await startBenchService(sink.port, {
  SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true',
  SVC_DNS_SERVERS: JSON.stringify([dns.address]),
});
const neighbour = await startNeighbour(service);
const siege = await makeAttackers(service.env, service.daemon);
const attackers = fork(join(import.meta.dirname, 'siege', 'attackers.ts'), [JSON.stringify(siege)]);
try {
  say('making what is attacked …');
  const [kinds] = (await once(attackers, 'message')) as [string[]];
  const watched = { daemon: service.daemon, attackersPid: attackers.pid ?? 0 };
  await phase(neighbour, watched, warmUpSeconds);
  say(`alone, ${aloneSeconds} s …`);
  const alone = await phase(neighbour, watched, aloneSeconds);
  const count = async () => {
    attackers.send('count');
    const [counts] = (await once(attackers, 'message')) as [Record<string, string>];
    console.table(counts);
  };
  if (values.each) {
    const phases: Record<string, Phase> = { alone };
    for (const kind of chosen.length > 0 ? chosen : kinds) {
      say(`${kind} …`);
      attackers.send(`start ${kind}`);
      phases[kind] = await phase(neighbour, watched, eachSeconds);
      attackers.send('stop');
      await phase(neighbour, watched, restSeconds);
    }
    await count();
    show(phases);
    process.exit(0);
  }
  say(`besieged, ${siegeSeconds} s …`);
  attackers.send('start');
  const stop = showProgress('besieged');
  const besieged = await phase(neighbour, watched, siegeSeconds);
  stop();
  await count();
  show({ alone, besieged });
  judge(alone, besieged);
} finally {
  attackers.kill();
  neighbour.stop();
  await service.stop();
  sink.close();
  await dns.close();
}
process.exit(0);
