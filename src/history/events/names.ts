// The names of all kinds of events. The `events.ts` of each area declares their data.

/** Steps of the timeline that the log leaves out: they are internal steps of the queue. */
export const unloggedSteps = ['queued', 'processing'] as const;

/** All kinds to which a caller can subscribe, in the order of the reference. */
export const eventTypes = [
  'message.accepted',
  'message.scheduled',
  'message.deferred',
  'message.sent',
  'message.delivered',
  'message.opened',
  'message.clicked',
  'message.bounced',
  'message.complained',
  'message.failed',
  'message.cancelled',
  'message.unsubscribed',
  'mailbox.created',
  'mailbox.updated',
  'mailbox.paused',
  'mailbox.resumed',
  'mailbox.deleted',
  'mailbox.message.received',
  'mailbox.message.sent',
  'mailbox.action.proposed',
  'mailbox.action.approved',
  'mailbox.action.rejected',
  'domain.verified',
  'domain.failing',
  'domain.failed',
  'domain.held',
  'domain.resumed',
  'sender.verified',
  'workspace.warning',
  'workspace.paused',
  'workspace.resumed',
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'contact.imported',
  'contact.unsubscribed',
  'conversation.created',
  'conversation.updated',
  'template.published',
  'warming.held',
  'warming.completed',
  'campaign.run.started',
  'campaign.run.completed',
  'campaign.run.held',
  'campaign.run.failed',
  'extension.installation.created',
  'extension.installation.upgraded',
  'extension.installation.disabled',
  'service.finding',
  'webhook.disabled',
  'webhook.test',
] as const;

export type EventType = (typeof eventTypes)[number];

const prefix = 'message.';

/** Returns the kind of a step: `message.sent` for `sent`. */
export function typeOfStep(step: string): string {
  return prefix + step;
}

/**
 * Returns the step of a kind: `sent` for `message.sent`; null for kinds on resources that are not
 * messages.
 */
export function stepOfType(type: string): string | null {
  return type.startsWith(prefix) ? type.slice(prefix.length) : null;
}
