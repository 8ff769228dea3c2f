// Prometheus metrics of one process (`GET /metrics`): what was accepted, refused, attempted, and how
// the process fares. Labels are bounded sets, never addresses or organizations.
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { refusalReasons } from '../errors.ts';
import { loadPrometheus } from './on-demand.ts';

export interface Metrics {
  registry: Registry;
  /**
   * Messages accepted, by `direction`; those that go out also by `via` (MessageOrigin.via). What commands
   * accepted is counted when it is found in the store (src/messages/search.ts).
   */
  accepted: Counter<'direction' | 'via'>;
  /** Requests refused, by `reason` (RefusalReason). */
  refused: Counter<'reason'>;
  /** Logins and mails that the submission listener refused, by `reason` (RefusalReason). */
  submissionsRefused: Counter<'reason'>;
  /** Delivery attempts, by `outcome` (Outcome.kind) and `route` (Route.kind). */
  attempts: Counter<'outcome' | 'route'>;
  /** HTTP requests in seconds, by `method`, `route` and `status`. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>;
  /** HTTP connections open now. */
  connections: Gauge;
  /** Deliveries in work now. */
  inFlight: Gauge;
  /** Deliveries that wait, by `reason`, each half of the queue counted up to 100,000. */
  queueWaiting: Gauge<'reason'>;
  /** For how long the oldest of them has waited, in seconds. */
  queueOldest: Gauge<'reason'>;
  /** Those of them that wait in a lane, by the kind of `lane`. */
  laneWaiting: Gauge<'lane'>;
  laneOldest: Gauge<'lane'>;
  /** Posts to webhook endpoints, by `outcome`. */
  webhookAttempts: Counter<'outcome'>;
  /** Webhook deliveries that have not ended, counted up to 100,000. */
  webhooksPending: Gauge;
  /** For how long the webhook delivery that waits longest has been due, in seconds. */
  webhookLag: Gauge;
}

/** Metrics with a registry of their own, so that two apps in one test do not share counters. */
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
    connections: new Gauge({
      name: 'svc_http_connections',
      help: 'HTTP connections open',
      registers,
    }),
    inFlight: new Gauge({
      name: 'svc_deliveries_in_flight',
      help: 'Deliveries in work',
      registers,
    }),
    queueWaiting: new Gauge({
      name: 'svc_queue_deliveries',
      help: 'Deliveries that wait, by reason, counted up to 100,000 ready and 100,000 not ready',
      labelNames: ['reason'],
      registers,
    }),
    queueOldest: new Gauge({
      name: 'svc_queue_oldest_seconds',
      help: 'How long the delivery that is in the queue longest has waited, by reason',
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
      help: 'How long the oldest delivery in lanes has waited, by the kind of lane',
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
      help: 'Webhook deliveries that have not ended, counted up to 100,000',
      registers,
    }),
    webhookLag: new Gauge({
      name: 'svc_webhook_lag_seconds',
      help: 'How long the webhook delivery that waits longest has been due',
      registers,
    }),
  };
  // What has not happened yet is shown as 0: an alert can be written before it does.
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
