// The ordinary organization beside the siege: ten sends and one incoming mail a second, an endpoint
// that is posted each acceptance, small campaign runs and rendered templates. It keeps how long
// each took.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { smtpDialogue } from '../../support/smtp-dialogue.ts';
import { percentile } from '../http-load.ts';
import { type BenchService, bodyOf, textOf } from '../svc-contender.ts';
import { neighbourWork, renderEachMs, runEachMs } from './neighbour-work.ts';

const sendEachMs = 100;
const mailEachMs = 1000;
/** Longest measured time in ms; a request open for longer counts as refused. */
const deadlineMs = 60_000;
const missingAfterMs = 5000;
/** Address in another /24 than the attackers. */
const clientAddress = '127.0.2.1';
const mailbox = 'inbox@sandbox.test';

export interface NeighbourFigures {
  sends: number;
  refusedSends: number;
  sendP50Ms: number;
  sendP99Ms: number;
  hooks: number;
  /** Counts messages accepted over five seconds ago and not posted yet. */
  hooksMissing: number;
  hookP99Ms: number;
  hookLongestMs: number;
  mails: number;
  refusedMails: number;
  mailLongestMs: number;
  runs: number;
  /** Runs that did not reach every contact within the longest measured time. */
  failedRuns: number;
  runLongestMs: number;
  renders: number;
  failedRenders: number;
  renderLongestMs: number;
}

export interface Neighbour {
  /** Forgets the measurements; leaves out requests under way. */
  reset(): void;
  figures(): NeighbourFigures;
  stop(): void;
}

interface Measured {
  sendsMs: number[];
  refusedSends: number;
  hooksMs: number[];
  mailsMs: number[];
  refusedMails: number;
  runsMs: number[];
  failedRuns: number;
  /** Starts of the runs under way. */
  openRuns: Set<number>;
  rendersMs: number[];
  failedRenders: number;
  /** Time of the answer to each send, by the id of its message. */
  acceptedAt: Map<string, number>;
  /** Messages that were posted before the answer to their send was read. */
  postedEarly: Set<string>;
}

const nothing = (): Measured => ({
  ...{ sendsMs: [], refusedSends: 0, hooksMs: [], mailsMs: [], refusedMails: 0 },
  ...{ runsMs: [], failedRuns: 0, openRuns: new Set(), rendersMs: [], failedRenders: 0 },
  acceptedAt: new Map(),
  postedEarly: new Set(),
});

/** Sends, receives and listens until it is stopped. */
export async function startNeighbour(service: BenchService): Promise<Neighbour> {
  const { daemon, apiKey } = service;
  await service.contender('ed25519', { connections: 1, text: '' });
  const body = bodyOf('bench@ed25519.bench.example', textOf(2048));
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  let measured = nothing();
  let serial = 0;

  const hooks = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { id: string } };
      const acceptedAt = measured.acceptedAt.get(data.id);
      if (acceptedAt === undefined) measured.postedEarly.add(data.id);
      else {
        measured.acceptedAt.delete(data.id);
        measured.hooksMs.push(at - acceptedAt);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(hooks, 'listening');
  const url = `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/`;
  const created = await fetch(`http://127.0.0.1:${daemon.httpPort}/v1/webhooks`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'neighbour', url, events: ['message.accepted'] }),
  });
  if (created.status !== 201) throw new Error(`no endpoint: ${await created.text()}`);

  async function send(): Promise<void> {
    const into = measured;
    const started = performance.now();
    const answer = await fetch(`http://127.0.0.1:${daemon.httpPort}/v1/messages`, {
      method: 'POST',
      headers,
      body: body(serial++),
      signal: AbortSignal.timeout(deadlineMs),
    }).catch(() => null);
    if (answer?.status === 201) {
      const at = performance.now();
      into.sendsMs.push(at - started);
      const { id } = (await answer.json()) as { id: string };
      if (into.postedEarly.delete(id)) into.hooksMs.push(0);
      else into.acceptedAt.set(id, at);
    } else {
      into.refusedSends += 1;
      into.sendsMs.push(deadlineMs);
    }
  }

  async function receive(): Promise<void> {
    const into = measured;
    const started = performance.now();
    const number = serial++;
    const text =
      `From: ada@neighbour.example\r\nTo: ${mailbox}\r\nSubject: Mail ${number}\r\n` +
      `Message-ID: <${number}@neighbour.example>\r\n\r\nHello ${number}\r\n`;
    try {
      const dialogue = await smtpDialogue(daemon.smtpPort, clientAddress);
      const replies = [
        await dialogue.reply(),
        await dialogue.say('EHLO neighbour.example'),
        await dialogue.say('MAIL FROM:<ada@neighbour.example>'),
        await dialogue.say(`RCPT TO:<${mailbox}>`),
        await dialogue.say('DATA'),
        await dialogue.say(`${text}.`),
      ];
      dialogue.end();
      const isTaken = replies.at(-1)?.startsWith('250') ?? false;
      if (isTaken) into.mailsMs.push(performance.now() - started);
      else into.refusedMails += 1;
    } catch {
      into.refusedMails += 1;
    }
  }

  const work = await neighbourWork(service);
  async function run(): Promise<void> {
    const into = measured;
    const started = performance.now();
    into.openRuns.add(started);
    const isDone = await work.run(AbortSignal.timeout(deadlineMs)).catch(() => false);
    into.openRuns.delete(started);
    if (isDone) into.runsMs.push(performance.now() - started);
    else into.failedRuns += 1;
  }

  async function render(): Promise<void> {
    const into = measured;
    const started = performance.now();
    const isDone = await work.render(AbortSignal.timeout(deadlineMs)).catch(() => false);
    if (isDone) into.rendersMs.push(performance.now() - started);
    else into.failedRenders += 1;
  }

  const timers = [
    setInterval(() => void send(), sendEachMs),
    setInterval(() => void receive(), mailEachMs),
    setInterval(() => void run(), runEachMs),
    setInterval(() => void render(), renderEachMs),
  ];
  return {
    reset() {
      measured = nothing();
    },
    figures() {
      const { sendsMs, refusedSends, hooksMs, mailsMs, refusedMails, acceptedAt } = measured;
      const { runsMs, failedRuns, openRuns, rendersMs, failedRenders } = measured;
      const longest = (list: number[]) => Math.max(0, ...list);
      const now = performance.now();
      const waited = [...openRuns].map((started) => now - started);
      const late = [...acceptedAt.values()].filter((at) => now - at > missingAfterMs).length;
      const sorted = (list: number[]) => list.toSorted((a, b) => a - b);
      return {
        ...{ sends: sendsMs.length, refusedSends, hooks: hooksMs.length, hooksMissing: late },
        sendP50Ms: percentile(sorted(sendsMs), 0.5),
        sendP99Ms: percentile(sorted(sendsMs), 0.99),
        hookP99Ms: percentile(sorted(hooksMs), 0.99),
        hookLongestMs: longest(hooksMs),
        ...{ mails: mailsMs.length, refusedMails, mailLongestMs: longest(mailsMs) },
        ...{ runs: runsMs.length, failedRuns, runLongestMs: longest([...runsMs, ...waited]) },
        ...{ renders: rendersMs.length, failedRenders, renderLongestMs: longest(rendersMs) },
      };
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
      hooks.close();
    },
  };
}
