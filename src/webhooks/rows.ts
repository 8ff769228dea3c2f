// Rows of the tables of webhooks.

export interface EndpointRow {
  id: string;
  organization_id: string;
  name: string | null;
  url: string;
  /** JSON: patterns of the wanted events. */
  events: string;
  /** JSON: the channels. */
  channels: string;
  /** Custom headers as encrypted JSON; null without headers. */
  headers: string | null;
  /**
   * `suspended`: the installation is disabled. Nothing is queued, and waiting deliveries are kept.
   */
  status: 'active' | 'disabled' | 'suspended';
  disabled_reason: string | null;
  /** Signing secret, encrypted. */
  secret: string;
  /** Previous signing secret, encrypted; null if the secret was never rotated. */
  previous_secret: string | null;
  /** Time until which both secrets sign, ms since 1970; null if the secret was never rotated. */
  previous_until: number | null;
  /** The first failure after the last success, ms since 1970. */
  failing_since: number | null;
  /** Time of the last disabling, ms since 1970. The loop cancels deliveries created before it. */
  cancel_before: number | null;
  /** Installation of an extension that owns the endpoint; null for an endpoint made by hand. */
  installation_id: string | null;
  /** JSON: mailboxes that the installation receives events of; null for all events. */
  reach: string | null;
  /** JSON: permissions that decide which data the bodies show; null for all data. */
  permissions: string | null;
  created_at: number;
  updated_at: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'cancelled';

export const deliveryStatuses: readonly DeliveryStatus[] = [
  'pending',
  'delivered',
  'exhausted',
  'cancelled',
];

export class DeliveryRow {
  id!: string;
  organization_id!: string;
  endpoint_id!: string;
  event_id!: string;
  event_type!: string;
  /** Id of the message, for message events. */
  message_id!: string | null;
  status!: DeliveryStatus;
  attempt_count!: number;
  /**
   * Time of the next attempt. During an attempt (`claimed_by` set), the end of the lease. Null once
   * the delivery has ended.
   */
  due_at!: number | null;
  claimed_by!: string | null;
  is_replay!: number;
  last_attempt_at!: number | null;
  created_at!: number;
  updated_at!: number;
}

export class AttemptRow {
  id!: string;
  delivery_id!: string;
  trigger!: 'automatic' | 'manual';
  at!: number;
  duration_ms!: number;
  outcome!: 'succeeded' | 'failed';
  status_code!: number | null;
  error_class!: string | null;
  response!: string | null;
}

export interface BodyRow {
  event_id: string;
  organization_id: string;
  message_id: string | null;
  body: string;
  created_at: number;
}

/** Numbers of deliveries by status, of an endpoint, made in a quarter hour. */
export interface CounterRow extends Record<DeliveryStatus, number> {
  endpoint_id: string;
  quarter: number;
}

export interface WebhookTables {
  webhook_endpoints: EndpointRow;
  webhook_changes: { counter: number };
  webhook_deliveries: DeliveryRow;
  webhook_attempts: AttemptRow;
  webhook_bodies: BodyRow;
  webhook_counters: CounterRow;
}
