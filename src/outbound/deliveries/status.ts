// The status of deliveries and messages (specification 3).
//
// | from        | event                                 | to         |
// |-------------|---------------------------------------|------------|
// | (none)      | accepted                              | pending    |
// | (none)      | accepted for later                    | scheduled  |
// | scheduled   | the time came                         | queued     |
// | pending, queued | claimed for an attempt            | processing |
// | processing  | deferred: waits for the next attempt  | processing |
// | processing  | 250 after the dot                     | sent       |
// | sent        | direct, local and capture: with the 250; relay: DSN or time | delivered |
// | sent, delivered | opened or clicked by a person     | read       |
// | any before sent | gave up, cancelled, suppressed    | failed     |
// | any before sent; sent, delivered, read (late) | permanently refused | bounced |
// | sent, delivered, read | reported as spam            | complained |

export const messageStatuses = [
  'pending',
  'scheduled',
  'queued',
  'processing',
  'sent',
  'delivered',
  'read',
  'failed',
  'bounced',
  'complained',
] as const;

export type MessageStatus = (typeof messageStatuses)[number];

/** Reasons for which a delivery waits before an attempt (specification 2.2). */
export const waitReasons = [
  'rate',
  'daily-quota',
  'domain-health',
  'tenant-health',
  'provider-unavailable',
  'retry',
  'campaign-paused',
] as const;

export type WaitReason = (typeof waitReasons)[number];

/** Live statuses, in the order of progress. */
const liveOrder: readonly MessageStatus[] = [
  'pending',
  'scheduled',
  'queued',
  'processing',
  'sent',
];
/** Final statuses, from the best to the worst. */
const endOrder: readonly MessageStatus[] = ['read', 'delivered', 'failed', 'bounced', 'complained'];

/** Returns the least advanced live status. If all deliveries have ended, returns the worst end. */
export function overallStatus(statuses: readonly MessageStatus[]): MessageStatus {
  const live = liveOrder.find((status) => statuses.includes(status));
  if (live) return live;
  return endOrder.findLast((status) => statuses.includes(status)) ?? 'pending';
}
