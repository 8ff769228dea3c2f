// How the statuses of deliveries make one message's (table in src/deliveries/status.ts).
import { describe, expect, it } from 'vitest';
import { type MessageStatus, messageStatuses, overallStatus } from '../../src/deliveries/status.ts';

describe("a message's status", () => {
  it.each<[string, MessageStatus[], MessageStatus]>([
    ['is that of its only delivery', ['sent'], 'sent'],
    ['is the least advanced live one', ['sent', 'processing', 'queued'], 'queued'],
    ['is live as long as one delivery is', ['bounced', 'complained', 'sent'], 'sent'],
    ['is pending until all were taken up', ['delivered', 'pending'], 'pending'],
    ['is the worst end with all ended', ['delivered', 'failed', 'bounced'], 'bounced'],
    ['is a complaint before all else', ['bounced', 'complained', 'read'], 'complained'],
    ['is failed before delivered', ['failed', 'delivered'], 'failed'],
    ['is delivered until all were read', ['read', 'delivered'], 'delivered'],
    ['is read when all were read', ['read', 'read'], 'read'],
    ['is pending without any delivery', [], 'pending'],
  ])('%s', (_what, statuses, expected) => {
    expect(overallStatus(statuses)).toBe(expected);
    expect(overallStatus(statuses.toReversed())).toBe(expected);
  });

  it('of any one delivery is its own', () => {
    for (const status of messageStatuses) expect(overallStatus([status])).toBe(status);
  });
});
