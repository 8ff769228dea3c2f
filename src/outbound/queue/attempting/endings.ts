// Ends of attempts that do not use the network: captured and simulated mail, and faults of ours.
import type { App } from '../../../core/app.ts';
import type { AttemptTrace, Outcome, RemoteReply } from '../../../mail/smtp/outcome.ts';
import {
  type CapturedBy,
  type CaptureRoute,
  type SimulatedOutcome,
  simulatedOutcome,
} from '../../../mail/smtp/route.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import type { Settlement } from '../settling/settle.ts';

/** Outcome of an attempt before it is stored. */
export type Ending = Pick<Settlement, 'outcome' | 'sentIsDelivered' | 'aftermath' | 'routeKind'>;

function traceOf(app: App, host: string | null): AttemptTrace {
  return {
    host,
    address: null,
    tls: null,
    startedAt: app.clock.now(),
    durationMs: 0,
    transcript: '',
  };
}

function reply(
  code: number | null,
  enhancedCode: string | null,
  text: string,
  verb: string,
): RemoteReply {
  return { code, enhancedCode, text, verb };
}

/** Explains why a mail was captured; the text follows "captured:". */
function captureWords(by: CapturedBy): string {
  if (by === 'delivery.mode') return 'delivery.mode keeps this mail on the machine';
  if (by === 'delivery.allow') return 'delivery.allow does not name this recipient';
  return `${by} keeps mail to this domain on the machine`;
}

/** Returns the ending of captured mail: it counts as delivered, and never leaves this machine. */
export function captured(app: App, { by }: CaptureRoute): Ending {
  const outcome: Outcome = {
    kind: 'sent',
    reply: reply(250, '2.0.0', `captured: ${captureWords(by)}`, 'dot'),
    trace: traceOf(app, null),
    capturedBy: by,
  };
  return { outcome, sentIsDelivered: true, aftermath: null, routeKind: 'capture' };
}

/** Returns the outcome for mail of the service with a link that has ended. */
export function linkEnded(app: App): Outcome {
  const words = 'its link ended before the mail could leave, so it was not sent';
  return {
    kind: 'failed',
    errorCode: 'expired',
    reply: reply(null, null, words, 'connect'),
    trace: traceOf(app, null),
  };
}

/**
 * Returns the ending after an unexpected fault of ours: deferred, with a text that no server sends.
 */
export function ourFault(app: App, routeKind: string): Ending {
  const outcome: Outcome = {
    kind: 'deferred',
    errorCode: 'unknown',
    reply: reply(
      null,
      null,
      'an internal fault interrupted the attempt; the log has it',
      'connect',
    ),
    trace: traceOf(app, null),
  };
  return { outcome, sentIsDelivered: false, aftermath: null, routeKind };
}

/**
 * Returns the simulated ending: `wanted`, or by default the ending that the address requests. Only
 * a first attempt is deferred.
 */
export function simulate(
  app: App,
  delivery: DeliveryRow,
  wanted: SimulatedOutcome = simulatedOutcome(delivery.email) ?? 'delivered',
): Ending {
  const base = { sentIsDelivered: true, aftermath: null, routeKind: 'simulator' } as const;
  const trace = traceOf(app, 'simulator.test');
  if (wanted === 'bounced') {
    const words = reply(550, '5.1.1', 'simulated: user unknown', 'RCPT');
    return {
      ...base,
      outcome: { kind: 'bounced', errorCode: 'invalid-recipient', reply: words, trace },
    };
  }
  if (wanted === 'deferred' && delivery.attempt_count === 1) {
    const words = reply(451, '4.7.1', 'simulated: try again later', 'RCPT');
    return { ...base, outcome: { kind: 'deferred', errorCode: 'policy', reply: words, trace } };
  }
  const outcome: Outcome = {
    kind: 'sent',
    reply: reply(250, '2.0.0', 'simulated: accepted', 'dot'),
    trace,
  };
  const aftermath = wanted === 'opened' || wanted === 'complained' ? wanted : null;
  return { ...base, outcome, aftermath };
}
