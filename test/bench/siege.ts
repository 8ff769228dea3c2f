// How an ordinary organization fares while another, an address and a bound key do their worst:
//   npx node test/bench/siege.ts [--minutes 10] [--seed 1] [--each [KIND …]]
// With --each every attack, or each named kind, runs alone for ten seconds, to see which of them hurts.
// The attacks run in a process of their own (siege/attackers.ts). Figures are printed beside their goals,
// never asserted.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startDnsServer } from '../support/dns-server.ts';
import { type BenchDaemon, startBenchSink, svcJson } from './processes.ts';
import { say, sayLoad, showProgress } from './progress.ts';
import { type Neighbour, type NeighbourFigures, startNeighbour } from './siege/neighbour.ts';
import type { Siege } from './siege/siege.ts';
import { startBenchService } from './svc-contender.ts';

const warmUpSeconds = 20;
const aloneSeconds = 60;
const eachSeconds = 10;
/** Between two kinds, for attacks that are under way. */
const restSeconds = 12;
const goals = { p99Ratio: 2, webhookMs: 1000, stallMs: 200, memoryMb: 1000 };

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

/** The longest stall of the event loop, and the most memory, of a phase. */
async function watchDaemon(daemon: BenchDaemon, seconds: number) {
  const worst = { stallMs: 0, memoryMb: 0, unread: 0 };
  const end = performance.now() + seconds * 1000;
  await daemon.stallMs().catch(() => 0);
  while (performance.now() < end) {
    await wait(1000);
    const stallMs = await daemon.stallMs().catch(() => Number.NaN);
    if (Number.isNaN(stallMs)) worst.unread += 1;
    else worst.stallMs = Math.max(worst.stallMs, stallMs);
    worst.memoryMb = Math.max(worst.memoryMb, daemon.memoryMb('now'));
  }
  return worst;
}

type Phase = NeighbourFigures & Awaited<ReturnType<typeof watchDaemon>>;

async function phase(neighbour: Neighbour, daemon: BenchDaemon, seconds: number): Promise<Phase> {
  neighbour.reset();
  const worst = await watchDaemon(daemon, seconds);
  return { ...neighbour.figures(), ...worst };
}

function rowOf(name: string, figures: Phase) {
  return {
    phase: name,
    sends: figures.sends,
    'send p50 ms': Number(figures.sendP50Ms.toFixed(1)),
    'send p99 ms': Number(figures.sendP99Ms.toFixed(1)),
    'send refused': figures.refusedSends,
    hooks: figures.hooks,
    'hook p99 ms': Math.round(figures.hookP99Ms),
    'hook longest ms': Math.round(figures.hookLongestMs),
    mails: figures.mails,
    'mails refused': figures.refusedMails,
    'mail longest ms': Math.round(figures.mailLongestMs),
    'stall ms': figures.stallMs,
    'peak MB': Math.round(figures.memoryMb),
  };
}

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
  line(`stall ≤ ${goals.stallMs} ms`, `${besieged.stallMs} ms`, besieged.stallMs <= goals.stallMs);
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
  await phase(neighbour, service.daemon, warmUpSeconds);
  say(`alone, ${aloneSeconds} s …`);
  const alone = await phase(neighbour, service.daemon, aloneSeconds);
  if (values.each) {
    const rows = [rowOf('alone', alone)];
    for (const kind of chosen.length > 0 ? chosen : kinds) {
      say(`${kind} …`);
      attackers.send(`start ${kind}`);
      rows.push(rowOf(kind, await phase(neighbour, service.daemon, eachSeconds)));
      attackers.send('stop');
      await phase(neighbour, service.daemon, restSeconds);
    }
    console.table(rows);
    process.exit(0);
  }
  say(`besieged, ${siegeSeconds} s …`);
  attackers.send('start');
  const stop = showProgress('besieged');
  const besieged = await phase(neighbour, service.daemon, siegeSeconds);
  stop();
  attackers.send('count');
  const [counts] = (await once(attackers, 'message')) as [Record<string, string>];
  console.table(counts);
  console.table([rowOf('alone', alone), rowOf('besieged', besieged)]);
  judge(alone, besieged);
} finally {
  attackers.kill();
  neighbour.stop();
  await service.stop();
  sink.close();
  await dns.close();
}
process.exit(0);
