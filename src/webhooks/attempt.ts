// One attempt of a delivery: its body, signed with the secrets in force, posted. What follows from the
// outcome is settle.ts; of a redelivery, nothing (redeliver.ts).
import type { KeyObject } from 'node:crypto';
import type { App } from '../app.ts';
import { bodyOf } from './body.ts';
import type { Poster, PostOutcome } from './post.ts';
import type { AttemptRow, DeliveryRow, EndpointRow } from './rows.ts';
import { openHeaders, openSecrets } from './secrets.ts';
import { signatureHeaders, signingKey } from './signature.ts';

/** A post that has come to its end. */
export interface Attempted {
  delivery: DeliveryRow;
  /** In ms since 1970: when it was begun. */
  at: number;
  outcome: PostOutcome;
}

/** What was encrypted of an endpoint, in plain. */
export interface OpenedEndpoint {
  row: EndpointRow;
  /** The newest first. */
  keys: { key: KeyObject; until: number }[];
  headers: Record<string, string>;
}

/** What of a row is opened. */
const openedColumns = [
  'id',
  'url',
  'secret',
  'previous_secret',
  'previous_until',
  'headers',
] as const;

/** `known` where it is of the same row: to open one takes as long as to post to it. */
export function openEndpoint(
  app: App,
  row: EndpointRow,
  known: OpenedEndpoint | null = null,
): OpenedEndpoint {
  const isSame = (one: EndpointRow) => openedColumns.every((column) => one[column] === row[column]);
  if (known !== null && isSame(known.row)) return known;
  const keys = openSecrets(app, row).map(({ secret, until }) => ({
    key: signingKey(secret),
    until,
  }));
  return { row, keys, headers: openHeaders(app, row) };
}

/** Signed for this moment. Never throws for what the endpoint does. */
export async function attempt(
  app: App,
  poster: Poster,
  { row: { url }, keys, headers }: OpenedEndpoint,
  delivery: DeliveryRow,
  body?: string,
): Promise<Attempted> {
  const at = app.clock.now();
  const text = body ?? (await bodyOf(app, delivery));
  const inForce = keys.filter(({ until }) => until > at).map(({ key }) => key);
  const signed = signatureHeaders(inForce, delivery.event_id, at, text);
  const outcome = await poster.post({ url, headers: { ...headers, ...signed }, body: text });
  app.metrics.webhookAttempts.inc({ outcome: outcome.isSuccess ? 'succeeded' : 'failed' });
  if (outcome.errorClass === 'refused-address') {
    const { endpoint_id: endpointId, organization_id: organizationId } = delivery;
    const { host } = new URL(url);
    const words = 'a webhook was not posted: its endpoint leads to an address that is refused';
    app.log.warn({ endpointId, organizationId, host }, words);
  }
  return { delivery, at, outcome };
}

/** As it is kept. */
export function attemptRow(
  app: App,
  { delivery, at, outcome }: Attempted,
  trigger: AttemptRow['trigger'],
): AttemptRow {
  return {
    id: app.newId('webhookAttempt'),
    delivery_id: delivery.id,
    trigger,
    at,
    duration_ms: outcome.durationMs,
    outcome: outcome.isSuccess ? 'succeeded' : 'failed',
    status_code: outcome.statusCode,
    error_class: outcome.errorClass,
    response: outcome.response,
  };
}
