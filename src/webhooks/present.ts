// Presents rows of webhooks as objects of the API.
import { allows, type PermissionMap } from '../core/api/permission.ts';
import type { App } from '../core/app.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { fromJson } from '../platform/store/db.ts';
import { openHeaders } from './endpoints/secrets.ts';
import type { AttemptRow, DeliveryRow, EndpointRow } from './rows.ts';
import type { Webhook, WebhookDelivery, WebhookDeliveryWithAttempts } from './schema.ts';

const hidden = '***';

/** Returns the origin of a URL, for readers without access to the path, which may have a token. */
export function withoutPath(url: string): string {
  return `${new URL(url).origin}/…`;
}

/**
 * Presents an endpoint. Hides the path of the URL and the values of headers, unless `permissions`
 * allow `webhooks:write`.
 */
export function toWebhook(
  app: App,
  row: EndpointRow,
  permissions: PermissionMap = {},
  secret: string | null = null,
): Webhook {
  const headers = Object.entries(openHeaders(app, row));
  const isShown = allows(permissions, 'webhooks:write');
  return {
    id: row.id,
    name: row.name,
    url: isShown ? row.url : withoutPath(row.url),
    events: fromJson<string[]>(row.events),
    channels: fromJson<Webhook['channels']>(row.channels),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, isShown ? value : hidden])),
    status: row.status,
    disabledReason: row.disabled_reason,
    installationId: row.installation_id,
    secret,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Longest error that a delivery shows; the attempts have the whole response. */
const longestError = 200;

/** Returns the error of an attempt, such as `status 500: no database`; null if it succeeded. */
function errorOf({ outcome, status_code, error_class, response }: AttemptRow): string | null {
  if (outcome === 'succeeded') return null;
  const words = status_code === null ? error_class : `status ${status_code}`;
  return [words, response]
    .filter((part) => part !== null && part !== '')
    .join(': ')
    .slice(0, longestError);
}

/** Presents a delivery, with the error of the latest attempt if that attempt failed. */
export function toDelivery(row: DeliveryRow, latest: AttemptRow | undefined): WebhookDelivery {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    status: row.status,
    attemptCount: row.attempt_count,
    // While an attempt runs, `due_at` is the end of the lease and not the next attempt.
    nextAttemptAt: row.claimed_by === null ? isoTime(row.due_at) : null,
    lastAttemptAt: isoTime(row.last_attempt_at),
    lastError: latest ? errorOf(latest) : null,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

export function toAttempt(row: AttemptRow): WebhookDeliveryWithAttempts['attempts'][number] {
  return {
    id: row.id,
    trigger: row.trigger,
    at: isoTime(row.at),
    durationMs: row.duration_ms,
    outcome: row.outcome,
    statusCode: row.status_code,
    errorClass: row.error_class,
    response: row.response,
  };
}
