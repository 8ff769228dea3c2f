// Prometheus metrics of a process (`GET /metrics`): accepted and refused requests, attempts, and
// the state of the process. Labels are bounded sets, never addresses or organizations.
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { refusalReasons } from '../errors.ts';
import { loadPrometheus } from './on-demand.ts';
import { program } from './program.ts';

export interface Metrics {
  registry: Registry;
  /**
   * Accepted messages, by `direction`; outgoing messages also by `via` (MessageOrigin.via).
   * Messages that commands accepted are counted once the daemon finds them in the store
   * (src/outbound/messages/lists/search.ts).
   */
  accepted: Counter<'direction' | 'via'>;
  /** Refused requests, by `reason` (RefusalReason). */
  refused: Counter<'reason'>;
  /** Logins and mails refused by the submission listener, by `reason` (RefusalReason). */
  submissionsRefused: Counter<'reason'>;
  /** Links to sign in that strangers asked for, by `outcome` (sending/people/sign-in.ts). */
  signInLinks: Counter<'outcome'>;
  signInFailures: Counter<'way'>;
  providerFaults: Counter<'fault'>;
  /** Delivery attempts, by `outcome` (Outcome.kind) and `route` (Route.kind). */
  attempts: Counter<'outcome' | 'route'>;
  /** Durations of HTTP requests in seconds, by `method`, `route` and `status`. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>;
  /** Stalls of the event loop of 0.1 s and more, by the last `operation` begun (loop-turns.ts). */
  stallSeconds: Histogram<'operation'>;
  /** Number of open HTTP connections. */
  connections: Gauge;
  /** Number of deliveries in flight. */
  inFlight: Gauge;
  /**
   * Number of queued deliveries, by `reason` of the wait. Ready and waiting deliveries are each
   * counted up to 100,000.
   */
  queueWaiting: Gauge<'reason'>;
  /** Age of the oldest queued delivery in seconds, by `reason`. */
  queueOldest: Gauge<'reason'>;
  /** Number of deliveries that wait in lanes, by kind of `lane`. */
  laneWaiting: Gauge<'lane'>;
  laneOldest: Gauge<'lane'>;
  /** Posts to webhook endpoints, by `outcome`. */
  webhookAttempts: Counter<'outcome'>;
  /** Unfinished webhook deliveries, counted up to 100,000. */
  webhooksPending: Gauge;
  /** Seconds since the webhook delivery that waits longest became due. */
  webhookLag: Gauge;
  /**
   * Number of running campaign runs that made no message for 15 minutes without a reason to wait.
   */
  campaignRunsStalled: Gauge;
  /** Findings of the daily examination, by `check`: 0 ok or skipped, 1 warn, 2 fail. */
  findings: Gauge<'check'>;
}

/**
 * Creates metrics with their own registry, so that two apps in the same test do not share counters.
 */
export function createMetrics(): Metrics {
  const { Counter, Gauge, Histogram, Registry } = loadPrometheus();
  const registry = new Registry();
  const registers = [registry];
  const metrics: Metrics = {
    registry,
    accepted: new Counter({
      name: 'svc_messages_accepted_total',
      help: 'Messages accepted and stored',
      labelNames: ['direction', 'via'],
      registers,
    }),
    refused: new Counter({
      name: 'svc_requests_refused_total',
      help: 'Requests refused, by reason',
      labelNames: ['reason'],
      registers,
    }),
    submissionsRefused: new Counter({
      name: 'svc_submissions_refused_total',
      help: 'Logins and mails refused over SMTP submission, by reason',
      labelNames: ['reason'],
      registers,
    }),
    signInLinks: new Counter({
      name: 'svc_sign_in_links_total',
      help: 'Links to sign in that were asked for, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    signInFailures: new Counter({
      name: 'svc_sign_in_failures_total',
      help: 'Failed sign-ins, by way',
      labelNames: ['way'],
      registers,
    }),
    providerFaults: new Counter({
      name: 'svc_sign_in_provider_faults_total',
      help: 'Failed visits to the provider of single sign-on, by fault',
      labelNames: ['fault'],
      registers,
    }),
    attempts: new Counter({
      name: 'svc_delivery_attempts_total',
      help: 'Delivery attempts, by outcome and route',
      labelNames: ['outcome', 'route'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'svc_http_request_seconds',
      help: 'HTTP request duration',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
      registers,
    }),
    stallSeconds: new Histogram({
      name: 'svc_stall_seconds',
      help: 'Stalls of the event loop of 0.1 s and more, by the operation last begun',
      labelNames: ['operation'],
      buckets: [0.2, 0.5, 1, 2, 5, 10, 30],
      registers,
    }),
    connections: new Gauge({
      name: 'svc_http_connections',
      help: 'Open HTTP connections',
      registers,
    }),
    inFlight: new Gauge({
      name: 'svc_deliveries_in_flight',
      help: 'Deliveries in progress',
      registers,
    }),
    queueWaiting: new Gauge({
      name: 'svc_queue_deliveries',
      help: 'Waiting deliveries by reason, counted up to 100,000 ready and 100,000 not ready',
      labelNames: ['reason'],
      registers,
    }),
    queueOldest: new Gauge({
      name: 'svc_queue_oldest_seconds',
      help: 'Age of the longest waiting delivery in the queue, by reason',
      labelNames: ['reason'],
      registers,
    }),
    laneWaiting: new Gauge({
      name: 'svc_queue_lane_deliveries',
      help: 'Deliveries that wait in lanes, by the kind of lane',
      labelNames: ['lane'],
      registers,
    }),
    laneOldest: new Gauge({
      name: 'svc_queue_lane_oldest_seconds',
      help: 'Age of the longest waiting delivery in lanes, by the kind of lane',
      labelNames: ['lane'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'svc_webhook_attempts_total',
      help: 'Posts to webhook endpoints, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    webhooksPending: new Gauge({
      name: 'svc_webhook_deliveries_pending',
      help: 'Unfinished webhook deliveries, counted up to 100,000',
      registers,
    }),
    webhookLag: new Gauge({
      name: 'svc_webhook_lag_seconds',
      help: 'Time since the longest waiting webhook delivery was due',
      registers,
    }),
    campaignRunsStalled: new Gauge({
      name: 'svc_campaign_runs_stalled',
      help: 'Campaign runs that dispatched nothing for 15 minutes without a reason to wait',
      registers,
    }),
    findings: new Gauge({
      name: 'svc_service_findings',
      help: 'Result of each daily check of svc doctor: 0 ok or skipped, 1 warn, 2 fail',
      labelNames: ['check'],
      registers,
    }),
  };
  new Gauge({
    name: 'svc_build_info',
    help: 'The running version and commit; always 1',
    labelNames: ['version', 'commit'],
    registers,
  }).set({ version: program.version, commit: program.commit ?? '' }, 1);
  // Counters with known labels start at 0, so that an alert can be written before the first event.
  for (const reason of refusalReasons) {
    metrics.refused.inc({ reason }, 0);
    metrics.submissionsRefused.inc({ reason }, 0);
  }
  for (const outcome of ['succeeded', 'failed']) metrics.webhookAttempts.inc({ outcome }, 0);
  return metrics;
}

/** Adds the process metrics (memory, event loop, CPU); for the daemon, not for commands. */
export function addProcessMetrics(metrics: Metrics): void {
  loadPrometheus().collectDefaultMetrics({ register: metrics.registry });
}
