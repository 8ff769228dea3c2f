// The carrier of a daemon, on a separate thread. Composing, signing and the SMTP dialogue are a
// quarter of a message's work; meanwhile the event loop is free to accept mail. This file is the
// part on the main thread: it passes mail to the thread and receives reports, many at a time.
// running-thread.ts runs the thread.
//
// thread | mail given        | exits on its own               | close
// -------+-------------------+--------------------------------+-------------------------------
// none   | started, sent     |                                | nothing, and none is started
// runs   | sent              | none; that mail is rejected    | asked to end, cut after a while
// closed | refused           |                                | closed
import type { App } from '../../../core/app.ts';
import type { Config } from '../../../core/config/config.ts';
import { Composer, isForWorkers } from '../../../mail/mime/composer.ts';
import type { SignedMessage } from '../../../mail/mime/dkim/sign.ts';
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import type { Outcome } from '../../../mail/smtp/outcome.ts';
import type { ProviderRules } from '../../../mail/smtp/providers.ts';
import type { Portion } from '../../../platform/runtime/fairness/portion.ts';
import type { Carrier, CarrierParts, Envelope } from './carrier.ts';
import type {
  Carried,
  CarrierReport,
  CarrierSettings,
  NumberedEnvelope,
} from './carrier-worker.ts';
import { RunningThread } from './running-thread.ts';

/** An envelope that waits for its outcomes. */
interface PendingEnvelope {
  envelope: Envelope;
  resolve(outcomes: Outcome[]): void;
  reject(error: unknown): void;
}

/** A message for the thread to compose, or a message that workers have already composed. */
interface PendingMailing {
  message: ComposeRequest | SignedMessage;
  envelopes: readonly PendingEnvelope[];
}

/** Creates a carrier that starts the thread with the first mail. */
export function createCarrierThread(
  app: Pick<App, 'config' | 'clock' | 'log'>,
  parts: CarrierParts,
): Carrier {
  const composer = new Composer();
  const underWay = new UnderWay();
  let thread: RunningThread | null = null;
  let isClosed = false;

  /** The last portion, and its end by the clock of the main thread. */
  let portion: { portion: Portion; until: number } | null = null;
  const sendPortion = (to: RunningThread) => {
    if (portion === null) return;
    const forMs = Math.max(0, portion.until - app.clock.elapsed());
    to.order({ kind: 'portion', portion: portion.portion, forMs });
  };

  const start = (): RunningThread => {
    const started = new RunningThread(settingsOf(app.config, parts.providers.rules), app.log, {
      onReport(report) {
        forwardReport(report, started, underWay, parts, app.log);
        if (underWay.isEmpty() && !isClosed) started.rest();
      },
      onExit() {
        thread = null;
        underWay.giveBack();
        parts.lanes.exceeded({});
      },
    });
    sendPortion(started);
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
    changeRules() {
      thread?.order({ kind: 'rules', rules: parts.providers.rules });
    },
    divide(given, forMs) {
      portion = { portion: given, until: app.clock.elapsed() + forMs };
      if (thread) sendPortion(thread);
    },
    async close() {
      isClosed = true;
      await composer.close();
      await thread?.close(app.clock);
    },
  };
}

function settingsOf({ delivery, dns }: Config, providerRules: ProviderRules): CarrierSettings {
  const { hostname, maxConnections, maxConnectionsPerDomain } = delivery;
  return {
    delivery: { hostname, maxConnections, maxConnectionsPerDomain },
    dnsServers: dns.servers,
    providerRules,
  };
}

/** Forwards a report of the thread: to the caller, the lanes, the store or the log. */
function forwardReport(
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
    case 'surplus':
      lanes.exceeded(report.surplus);
      return;
    case 'find-policy':
      void policies.find(report.domain).then((policy) => {
        thread.order({ kind: 'found-policy', search: report.search, policy });
      });
      return;
    case 'keep-policy':
      void policies.keep(report.domain, report.policy);
      return;
    case 'log':
      log[report.level](report.facts, report.text);
  }
}

/** Envelopes that were given to the thread, by number. A report repeats the number. */
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

  /**
   * Rejects all envelopes. Nobody knows whether a server accepted them, so they are retried, as
   * after a crash.
   */
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

/**
 * Returns a function that collects the calls of a turn of the event loop and passes them to
 * `take`.
 */
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
