// The carrier of a daemon, on a thread of its own: composing, signing and the SMTP dialogue take a
// quarter of a message's work off the event loop, which goes on accepting meanwhile. Here is what stays
// on the main thread: mail out, reports in, many at a time. The thread itself is running-thread.ts.
//
//   thread | mail given        | exits by itself                | close
//   -------+-------------------+--------------------------------+------------------------------
//   none   | started, sent     |                                | none, and none is started
//   runs   | sent              | none; what it had is rejected  | told to end, cut after a while
//   closed | refused           |                                | closed
import type { App } from '../../app.ts';
import type { Config } from '../../config/config.ts';
import { Composer, isForWorkers } from '../../mime/composer.ts';
import type { ComposeRequest } from '../../mime/input.ts';
import type { SignedMessage } from '../../mime/sign.ts';
import type { Outcome } from '../../smtp/outcome.ts';
import type { ProviderRules } from '../../smtp/providers.ts';
import type { Carrier, CarrierParts, Envelope } from './carrier.ts';
import type {
  Carried,
  CarrierReport,
  CarrierSettings,
  NumberedEnvelope,
} from './carrier-worker.ts';
import { RunningThread } from './running-thread.ts';

/** An envelope whose outcomes are waited for. */
interface PendingEnvelope {
  envelope: Envelope;
  resolve(outcomes: Outcome[]): void;
  reject(error: unknown): void;
}

/** A message that the thread composes, or one that was made here by workers. */
interface PendingMailing {
  message: ComposeRequest | SignedMessage;
  envelopes: readonly PendingEnvelope[];
}

/** Starts no thread until there is something to carry. */
export function createCarrierThread(
  app: Pick<App, 'config' | 'clock' | 'log'>,
  parts: CarrierParts,
): Carrier {
  const composer = new Composer();
  const underWay = new UnderWay();
  let thread: RunningThread | null = null;
  let isClosed = false;

  const start = (): RunningThread => {
    const started = new RunningThread(settingsOf(app.config, parts.providers), app.log, {
      onReport(report) {
        takeReport(report, started, underWay, parts, app.log);
        if (underWay.isEmpty() && !isClosed) started.rest();
      },
      onExit() {
        thread = null;
        underWay.giveBack();
      },
    });
    return started;
  };

  const send = (given: readonly PendingMailing[]) => {
    if (isClosed) {
      const error = new Error('the service is shutting down');
      for (const { envelopes } of given) rejectAll(envelopes, error);
      return;
    }
    thread ??= start();
    thread.carry(
      given.map(({ message, envelopes }) => ({
        message,
        envelopes: envelopes.map((one) => underWay.add(one)),
      })),
    );
  };
  const give = eachTurn(send);

  return {
    carry({ request, envelopes }) {
      const pending = envelopes.map((envelope) => {
        return { envelope, ...Promise.withResolvers<Outcome[]>() };
      });
      if (isForWorkers(request)) {
        composer.compose(request).then(
          (message) => give({ message, envelopes: pending }),
          (error: unknown) => rejectAll(pending, error),
        );
      } else give({ message: request, envelopes: pending });
      return pending.map(({ promise }) => promise);
    },
    async close() {
      isClosed = true;
      await composer.close();
      await thread?.close(app.clock);
    },
  };
}

function settingsOf({ delivery, dns }: Config, providers: ProviderRules): CarrierSettings {
  const { hostname, maxConnections, maxConnectionsPerDomain } = delivery;
  return {
    delivery: { hostname, maxConnections, maxConnectionsPerDomain },
    dnsServers: dns.servers,
    providerRules: { all: providers.all, fallback: providers.fallback },
  };
}

/** Brings what the thread tells to whom it concerns: who waits, the lanes, the store, the log. */
function takeReport(
  report: CarrierReport,
  thread: RunningThread,
  underWay: UnderWay,
  { lanes, policies }: CarrierParts,
  log: App['log'],
): void {
  switch (report.kind) {
    case 'carried':
      for (const { domain, hosts } of report.learnt) {
        lanes.learn(domain, lanes.ruleFor(hosts).lane);
      }
      for (const result of report.results) underWay.settle(result);
      return;
    case 'find-policy':
      void policies.find(report.domain).then((policy) => {
        thread.tell({ kind: 'found-policy', search: report.search, policy });
      });
      return;
    case 'keep-policy':
      void policies.keep(report.domain, report.policy);
      return;
    case 'log':
      log[report.level](report.facts, report.text);
  }
}

/** The envelopes that the thread has, by the number under which it will answer. */
class UnderWay {
  readonly #pending = new Map<number, PendingEnvelope>();
  #count = 0;

  add(pending: PendingEnvelope): NumberedEnvelope {
    const number = this.#count++;
    this.#pending.set(number, pending);
    return { ...pending.envelope, number };
  }

  settle(result: Carried): void {
    const pending = this.#pending.get(result.number);
    this.#pending.delete(result.number);
    if ('problem' in result) pending?.reject(new Error(result.problem));
    else pending?.resolve(result.outcomes);
  }

  /** Whether a server took them nobody knows: they are tried again, as after a crash. */
  giveBack(): void {
    rejectAll(this.#pending.values(), new Error('the thread that carried the mail ended'));
    this.#pending.clear();
  }

  isEmpty(): boolean {
    return this.#pending.size === 0;
  }
}

function rejectAll(pending: Iterable<PendingEnvelope>, error: unknown): void {
  for (const { reject } of pending) reject(error);
}

/** Returns a function whose calls of one turn of the event loop come to `take` together. */
function eachTurn<Item>(take: (items: readonly Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  const takeAll = () => {
    const items = waiting;
    waiting = [];
    take(items);
  };
  return (item) => {
    waiting.push(item);
    if (waiting.length === 1) setImmediate(takeAll);
  };
}
