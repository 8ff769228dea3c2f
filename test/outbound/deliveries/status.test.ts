// The status of a message, derived from its deliveries' (table in
// src/outbound/deliveries/status.ts).
import { describe, expect, it } from 'vitest';
import {
  type MessageStatus,
  messageStatuses,
  overallStatus,
} from '../../../src/outbound/deliveries/status.ts';

describe("a message's status", () => {
  it.each<[string, MessageStatus[], MessageStatus]>([
    ['is that of its only delivery', ['sent'], 'sent'],
    ['is the least advanced live status', ['sent', 'processing', 'queued'], 'queued'],
    ['is live while a delivery is', ['bounced', 'complained', 'sent'], 'sent'],
    ['is pending until all deliveries started', ['delivered', 'pending'], 'pending'],
    ['is the worst final status once all ended', ['delivered', 'failed', 'bounced'], 'bounced'],
    ['is complained before all others', ['bounced', 'complained', 'read'], 'complained'],
    ['is failed before delivered', ['failed', 'delivered'], 'failed'],
    ['is delivered until all were read', ['read', 'delivered'], 'delivered'],
    ['is read when all were read', ['read', 'read'], 'read'],
    ['is pending without any delivery', [], 'pending'],
  ])('%s', (_case, statuses, expected) => {
    expect(overallStatus(statuses)).toBe(expected);
    expect(overallStatus(statuses.toReversed())).toBe(expected);
  });

  it("of one delivery is that delivery's", () => {
    for (const status of messageStatuses) expect(overallStatus([status])).toBe(status);
  });
});
