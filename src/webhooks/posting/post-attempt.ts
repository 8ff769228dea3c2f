// A single attempt of a delivery: posts the body, signed with the secrets in force. settle.ts
// handles the outcome; a redelivery changes no schedule (redeliver.ts).
import type { KeyObject } from 'node:crypto';
import type { PermissionMap } from '../../core/api/permission.ts';
import type { App } from '../../core/app.ts';
import { fromJson } from '../../platform/store/db.ts';
import { knownEndpoints } from '../endpoints/known-endpoints.ts';
import { openHeaders, openSecrets } from '../endpoints/secrets.ts';
import type { AttemptRow, DeliveryRow, EndpointRow } from '../rows.ts';
import { bodyOf, cutBody } from './body.ts';
import type { Poster, PostOutcome } from './post.ts';
import { signatureHeaders, signingKey } from './signature.ts';

/** A post that has ended, with the outcome. */
export interface Attempted {
  delivery: DeliveryRow;
  /** Start of the attempt, ms since 1970. */
  at: number;
  outcome: PostOutcome;
}

/** Decrypted secrets and headers of an endpoint. */
export interface OpenedEndpoint {
  row: EndpointRow;
  /** Signing keys, the newest first, each with the time until which it signs. */
  keys: { key: KeyObject; until: number }[];
  headers: Record<string, string>;
}

/** Columns of an endpoint that a post depends on. */
const openedColumns = [
  'id',
  'url',
  'secret',
  'previous_secret',
  'previous_until',
  'headers',
] as const;

/**
 * Decrypts an endpoint. Returns `known` if the columns are unchanged: decrypting costs as much as a
 * post.
 */
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

/** Returns the body. For the endpoint of an installation, keeps only data that it may see now. */
export async function textFor(
  app: App,
  row: EndpointRow,
  type: string,
  body: string,
): Promise<string> {
  if (row.installation_id === null) return body;
  const known = await knownEndpoints(app).find(app.store.db, row.organization_id);
  const permissions =
    known.find(row.id)?.limits?.permissions ?? fromJson<PermissionMap>(row.permissions) ?? {};
  return cutBody(body, type, permissions);
}

/** Posts a delivery, signed with the current time. Never throws for a failure of the endpoint. */
export async function attempt(
  app: App,
  poster: Poster,
  { row, keys, headers }: OpenedEndpoint,
  delivery: DeliveryRow,
  body?: string,
): Promise<Attempted> {
  const { url } = row;
  const at = app.clock.now();
  const whole = body ?? (await bodyOf(app, delivery));
  const text = await textFor(app, row, delivery.event_type, whole);
  const inForce = keys.filter(({ until }) => until > at).map(({ key }) => key);
  const signed = signatureHeaders(inForce, delivery.event_id, at, text);
  const outcome = await poster.post({ url, headers: { ...headers, ...signed }, body: text });
  app.metrics.webhookAttempts.inc({ outcome: outcome.isSuccess ? 'succeeded' : 'failed' });
  if (outcome.errorClass === 'refused-address') {
    const { endpoint_id: endpointId, organization_id: organizationId } = delivery;
    const { host } = new URL(url);
    const words = 'a webhook was not posted: its endpoint resolves to a refused address';
    app.log.warn({ endpointId, organizationId, host }, words);
  }
  return { delivery, at, outcome };
}

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
