// SIGKILL at a random instant, again and again on one store: what got its 201 (or, inbound, its 250)
// is never lost, and what was in flight is repeated at most once (contract 1 "stop", 5 last rule).
// A failing run is repeated with CRASH_SEED=<the seed in the name of the test>.
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmailProjection, Message } from '../../src/messages/schema.ts';
import { type Random, seededRandom } from '../../src/random.ts';
import { type DaemonHome, type DaemonProcess, daemonHome, until } from '../support/daemon-process.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

const baseSeed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));
const rounds = process.env.CRASH_SEED === undefined ? 10 : 1;
const sends = 200;
const connections = 32;

interface Page {
  items: Message[];
  pagination: { total: number };
}

/** All messages, newest first; `query` filters. */
async function allMessages(daemon: DaemonProcess, query: string): Promise<Message[]> {
  const found: Message[] = [];
  for (let page = 1; ; page++) {
    const path = `/v1/messages?${query}&limit=100&page=${page}`;
    const { body } = await daemon.request<Page>('GET', path);
    found.push(...body.items);
    if (found.length >= body.pagination.total) return found;
  }
}

/** Runs `work` for 0 to count - 1, so many at a time. */
async function concurrently(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

/**
 * The instant of the kill: at the n-th sign of progress of one of two kinds, or after so many
 * milliseconds, so that every phase of a message's way is hit.
 */
function killPlan(random: Random) {
  const kind = (['answers', 'deliveries', 'milliseconds'] as const)[Math.floor(random.float() * 3)];
  return { kind, at: 1 + Math.floor(random.float() * (kind === 'milliseconds' ? 250 : sends - 1)) };
}

describe('SIGKILL in the middle of 200 sends', () => {
  let sink: SmtpSink;
  let home: DaemonHome;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    sink = await startSmtpSink();
    home = daemonHome({
      SVC_DELIVERY_MODE: 'relay',
      SVC_DELIVERY_RELAY_HOST: sink.host,
      SVC_DELIVERY_RELAY_PORT: String(sink.port),
    });
    daemon = await home.start();
  });
  afterAll(async () => {
    await home.close();
    await sink.close();
  });

  const seeds = Array.from({ length: rounds }, (_, round) => baseSeed + round);

  test.each(seeds)('loses nothing that was accepted (CRASH_SEED=%i)', async (seed) => {
    const plan = killPlan(seededRandom(seed));
    const round = startRound(seed);
    let hasCrashed = false;
    const crash = () => {
      if (hasCrashed) return;
      hasCrashed = true;
      round.seenBefore = copiesOf(round);
      void daemon.kill();
    };
    const watch = () => {
      if (plan.kind === 'answers' && round.accepted.size >= plan.at) crash();
      if (plan.kind === 'deliveries' && sink.received - round.firstAt >= plan.at) crash();
    };
    const stopWatching = sink.onMessage(watch);
    const timer = plan.kind === 'milliseconds' ? setTimeout(crash, plan.at) : undefined;
    await concurrently(sends, async (index) => {
      await round.send(daemon, index).catch(() => {});
      watch();
    });
    // Whatever happened fast enough to outrun the plan ends here.
    crash();
    clearTimeout(timer);
    stopWatching();
    await daemon.exited;

    daemon = await home.start();
    await concurrently(sends, (index) => round.repeat(daemon, index));
    await settled(round);
  });
});
