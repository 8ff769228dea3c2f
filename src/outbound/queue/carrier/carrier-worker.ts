// The thread of carrier-thread.ts: composing and the SMTP dialogue, with the system's clock,
// randomness and network. Reports mail hosts, policies and log lines to the main thread, which has
// the lanes, the store and the log.
import { parentPort, workerData } from 'node:worker_threads';
import { composeHere } from '../../../mail/mime/composer.ts';
import type { SignedMessage } from '../../../mail/mime/dkim/sign.ts';
import {
  arrived,
  asBuffer,
  type KeyOrder,
  NumberedKeys,
  type NumberedRequest,
} from '../../../mail/mime/handover.ts';
import type { MailHost } from '../../../mail/smtp/destination.ts';
import type { KeptPolicy } from '../../../mail/smtp/mta-sts-fetch.ts';
import type { Outcome } from '../../../mail/smtp/outcome.ts';
import {
  connectionsOf,
  createProviders,
  laneOfHosts,
  type ProviderRules,
} from '../../../mail/smtp/providers.ts';
import { createTransport, type TransportConfig } from '../../../mail/smtp/transport.ts';
import { createDns } from '../../../platform/net/dns.ts';
import { systemClock } from '../../../platform/runtime/clock.ts';
import { noPortion, type Portion } from '../../../platform/runtime/fairness/portion.ts';
import { systemRandom } from '../../../platform/runtime/random.ts';
import { deliverAll, type Envelope } from './carrier.ts';

/** Data that the thread starts with. */
export interface CarrierSettings {
  delivery: TransportConfig;
  dnsServers: readonly string[];
  providerRules: ProviderRules;
}

/** An envelope with the number under which the outcomes are reported. */
export interface NumberedEnvelope extends Envelope {
  number: number;
}

/** A mailing sent to the thread, composed already or to be composed there. */
export interface SentMailing {
  message: NumberedRequest | SignedMessage;
  envelopes: readonly NumberedEnvelope[];
}

export type CarrierOrder =
  | KeyOrder
  | { kind: 'carry'; mailings: readonly SentMailing[] }
  | { kind: 'found-policy'; search: number; policy: KeptPolicy | null }
  | { kind: 'rules'; rules: ProviderRules }
  /** The portion is in force for `forMs`. */
  | { kind: 'portion'; portion: Portion; forMs: number }
  | { kind: 'close' };

/** Outcomes of an envelope; or a `problem`, the reason why nothing was sent. */
export type Carried = { number: number; outcomes: Outcome[] } | { number: number; problem: string };

/** The mail hosts of a recipient domain. */
export interface LearntDomain {
  domain: string;
  hosts: readonly MailHost[];
}

export type CarrierReport =
  | { kind: 'carried'; learnt: readonly LearntDomain[]; results: readonly Carried[] }
  /** Open connections above the limits, by lane. */
  | { kind: 'surplus'; surplus: Readonly<Record<string, number>> }
  | { kind: 'find-policy'; search: number; domain: string }
  | { kind: 'keep-policy'; domain: string; policy: KeptPolicy }
  | { kind: 'log'; level: 'info' | 'warn'; facts: object; text: string }
  | { kind: 'closed' };

const report = (message: CarrierReport) => parentPort?.postMessage(message);

const { delivery, dnsServers, providerRules } = workerData as CarrierSettings;
const providers = createProviders(providerRules);
const random = systemRandom();
const dns = createDns({ servers: dnsServers, clock: systemClock, random });
const known = new NumberedKeys();
const underWay = new Set<Promise<void>>();
const searches = new Map<number, (policy: KeptPolicy | null) => void>();
let searchCount = 0;
let learnt: LearntDomain[] = [];
let results: Carried[] = [];
let isReporting = false;

const transport = createTransport({
  dns,
  clock: systemClock,
  random,
  connect: undefined,
  config: { delivery },
  lanes: {
    ruleFor: (hosts) => laneOfHosts(providers, hosts).rule,
    learn(domain, _lane, hosts) {
      learnt.push({ domain, hosts });
      reportSoon();
    },
  },
  log: {
    info: (facts, text) => report({ kind: 'log', level: 'info', facts, text }),
    warn: (facts, text) => report({ kind: 'log', level: 'warn', facts, text }),
  },
  policies: {
    find: (domain) =>
      new Promise((resolve) => {
        const search = searchCount++;
        searches.set(search, resolve);
        report({ kind: 'find-policy', search, domain });
      }),
    async keep(domain, policy) {
      report({ kind: 'keep-policy', domain, policy });
    },
  },
});

/** Reports all results of a turn of the event loop in a single message. */
function reportSoon(): void {
  if (isReporting) return;
  isReporting = true;
  setImmediate(reportNow);
}

function reportNow(): void {
  isReporting = false;
  report({ kind: 'carried', learnt, results });
  learnt = [];
  results = [];
}

async function make(message: NumberedRequest | SignedMessage): Promise<SignedMessage> {
  if ('data' in message) return arrived(message);
  const { input, ...rest } = known.requestOf(message);
  if ('raw' in input) return composeHere({ input, ...rest });
  const attachments = input.attachments.map((one) => ({ ...one, content: asBuffer(one.content) }));
  return composeHere({ input: { ...input, attachments }, ...rest });
}

async function resultOf(number: number, carried: Promise<Outcome[]>): Promise<Carried> {
  try {
    return { number, outcomes: await carried };
  } catch (error) {
    return { number, problem: error instanceof Error ? error.message : String(error) };
  }
}

async function finish(number: number, carried: Promise<Outcome[]>): Promise<void> {
  const result = await resultOf(number, carried);
  results.push(result);
  reportSoon();
}

function carry({ message, envelopes }: SentMailing): void {
  const carried = deliverAll(transport, make(message), envelopes);
  for (const [index, outcomes] of carried.entries()) {
    const done = finish(envelopes[index]?.number ?? -1, outcomes);
    underWay.add(done);
    void done.then(() => underWay.delete(done));
  }
}

/** Cancels the timer that ends the portion in force. */
let cancelPortion = () => {};

function divide({ portion, forMs }: { portion: Portion; forMs: number }): void {
  cancelPortion();
  cancelPortion = systemClock.after(forMs, () => apply(noPortion));
  apply(portion);
  report({ kind: 'surplus', surplus: transport.surplus() });
}

function apply(portion: Portion): void {
  providers.divide(portion);
  transport.changeLimits((lane) => connectionsOf(providers, lane));
}

/** Cuts mail in flight, reports all outcomes, and then reports that the carrier is closed. */
async function close(): Promise<void> {
  await transport.close();
  await Promise.all(underWay);
  dns.close();
  reportNow();
  report({ kind: 'closed' });
}

parentPort?.on('message', (order: CarrierOrder) => {
  switch (order.kind) {
    case 'carry':
      for (const mailing of order.mailings) carry(mailing);
      return;
    case 'found-policy':
      searches.get(order.search)?.(order.policy);
      searches.delete(order.search);
      return;
    case 'rules':
      providers.replace(order.rules);
      return;
    case 'portion':
      divide(order);
      return;
    case 'close':
      void close();
      return;
    default:
      known.take(order);
  }
});
