// The carrier of a daemon, on a thread of its own: composing, signing and the SMTP dialogue take a
// quarter of a message's work off the event loop, which goes on accepting meanwhile. Here is what stays
// on the main thread: mail out, reports in, many at a time.
//
//   thread | mail given        | exits by itself                | close
//   -------+-------------------+--------------------------------+------------------------------
//   none   | started, sent     |                                | none, and none is started
//   runs   | sent              | none; what it had is rejected  | told to end, cut after a while
import { Worker } from 'node:worker_threads';
import type { App } from '../../app.ts';
import { Composer, isForWorkers } from '../compose/composer.ts';
import { handedOver } from '../compose/handed-bytes.ts';
import type { ComposeRequest } from '../compose/input.ts';
import { KeyNumbers } from '../compose/key-numbers.ts';
import type { SignedMessage } from '../compose/sign.ts';
import type { Outcome } from '../outcome.ts';
import type { Carrier, CarrierParts, Envelope } from './carrier.ts';
import type {
  Carried,
  CarrierOrder,
  CarrierReport,
  CarrierSettings,
  NumberedEnvelope,
  SentMailing,
} from './carrier-worker.ts';

/** Told to end, it is cut after this. */
const closeMs = 5_000;
/** Its objects live shorter than those of the main thread: half the room is enough (run.js lets it hold). */
const workerLimits = { maxYoungGenerationSizeMb: 48 };

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
  { providers, lanes, policies }: CarrierParts,
): Carrier {
  const composer = new Composer();
  const underWay = new Map<number, PendingEnvelope>();
  let thread: { worker: Worker; keys: KeyNumbers } | null = null;
  let waiting: PendingMailing[] = [];
  let envelopeCount = 0;
  let isClosed = false;
  let onEnd: () => void = () => {};

  const start = () => {
    const { delivery, dns } = app.config;
    const { hostname, maxConnections, maxConnectionsPerDomain } = delivery;
    const settings: CarrierSettings = {
      delivery: { hostname, maxConnections, maxConnectionsPerDomain },
      dnsServers: dns.servers,
      providerRules: { all: providers.all, fallback: providers.fallback },
    };
    const worker = new Worker(new URL('./carrier-worker.ts', import.meta.url), {
      execArgv: [],
      name: 'carrier',
      resourceLimits: workerLimits,
      workerData: settings,
    });
    worker.on('message', (report: CarrierReport) => take(worker, report));
    worker.on('error', (error) => {
      app.log.error(
        { err: error },
        'the thread that carries mail failed: the next mail starts another',
      );
    });
    worker.on('exit', onExit);
    return { worker, keys: new KeyNumbers((order) => tell(worker, order)) };
  };

  const tell = (worker: Worker, order: CarrierOrder, handed: ArrayBuffer[] = []) => {
    worker.postMessage(order, handed);
  };

  const take = (worker: Worker, report: CarrierReport) => {
    switch (report.kind) {
      case 'carried':
        for (const { domain, hosts } of report.learnt) {
          lanes.learn(domain, lanes.ruleFor(hosts).lane);
        }
        for (const result of report.results) settle(result);
        if (underWay.size === 0 && !isClosed) worker.unref();
        return;
      case 'find-policy':
        void policies.find(report.domain).then((policy) => {
          tell(worker, { kind: 'found-policy', search: report.search, policy });
        });
        return;
      case 'keep-policy':
        void policies.keep(report.domain, report.policy);
        return;
      case 'log':
        app.log[report.level](report.facts, report.text);
        return;
      case 'closed':
        onEnd();
    }
  };

  const settle = (result: Carried) => {
    const pending = underWay.get(result.number);
    underWay.delete(result.number);
    if ('problem' in result) pending?.reject(new Error(result.problem));
    else pending?.resolve(result.outcomes);
  };

  /** Whether a server took what was under way nobody knows: it is tried again, as after a crash. */
  const onExit = () => {
    thread = null;
    rejectAll(underWay.values(), new Error('the thread that carried the mail ended'));
    underWay.clear();
    onEnd();
  };

  const give = (mailing: PendingMailing) => {
    waiting.push(mailing);
    if (waiting.length === 1) setImmediate(sendWaiting);
  };

  /** What was given in one turn of the event loop goes together. */
  const sendWaiting = () => {
    const given = waiting;
    waiting = [];
    if (isClosed) {
      const error = new Error('the service is shutting down');
      for (const { envelopes } of given) rejectAll(envelopes, error);
      return;
    }
    thread ??= start();
    const { worker, keys } = thread;
    worker.ref();
    keys.startOrder();
    const handed: ArrayBuffer[] = [];
    const mailings = given.map(({ message, envelopes }): SentMailing => {
      const numbers = envelopes.map(numberOf);
      if (!('data' in message)) return { message: keys.numbered(message), envelopes: numbers };
      handed.push(...handedOver(message));
      return { message, envelopes: numbers };
    });
    tell(worker, { kind: 'carry', mailings }, handed);
  };

  const numberOf = (pending: PendingEnvelope): NumberedEnvelope => {
    const number = envelopeCount++;
    underWay.set(number, pending);
    return { ...pending.envelope, number };
  };

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
      if (!thread) return;
      const { worker } = thread;
      // It may be all that keeps the process until the end of its closing.
      worker.ref();
      await new Promise<void>((resolve) => {
        const cancel = app.clock.after(closeMs, resolve);
        onEnd = () => {
          cancel();
          resolve();
        };
        tell(worker, { kind: 'close' });
      });
      await worker.terminate();
    },
  };
}

function rejectAll(pending: Iterable<PendingEnvelope>, error: unknown): void {
  for (const { reject } of pending) reject(error);
}
