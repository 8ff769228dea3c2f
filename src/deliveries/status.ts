// The status of deliveries and messages (specification 3).
//
// | from        | by                                    | to         |
// |-------------|---------------------------------------|------------|
// | (none)      | accepted                              | pending    |
// | (none)      | accepted for later                    | scheduled  |
// | scheduled   | its time came                         | queued     |
// | pending, queued | claimed for an attempt            | processing |
// | processing  | deferred: waits for the next attempt  | processing |
// | processing  | 250 after the dot                     | sent       |
// | sent        | direct, local and capture: with the 250; relay: DSN or time | delivered |
// | sent, delivered | a person opened it, or clicked    | read       |
// | any before sent | gave up, cancelled, suppressed    | failed     |
// | any before sent; sent, delivered, read (late) | refused for good | bounced |
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

/** Why a delivery that is not under way waits (specification 2.2). */
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

/** From the least to the most advanced live status. */
const liveOrder: readonly MessageStatus[] = [
  'pending',
  'scheduled',
  'queued',
  'processing',
  'sent',
];
/** From the best to the worst end. */
const endOrder: readonly MessageStatus[] = ['read', 'delivered', 'failed', 'bounced', 'complained'];

/** The least advanced live status; with all ended, the worst end. */
export function overallStatus(statuses: readonly MessageStatus[]): MessageStatus {
  const live = liveOrder.find((status) => statuses.includes(status));
  if (live) return live;
  return endOrder.findLast((status) => statuses.includes(status)) ?? 'pending';
}
