// Input and output shapes of the audit, and the vocabulary of audited actions.
import { z } from 'zod';
import { pageQuery } from '../api/pagination.ts';
import { anyIdPattern } from '../runtime/ids.ts';

/** The word before the dot is the kind of resource. */
export const auditActions = [
  'organization.created',
  'organization.updated',
  'organization.paused',
  'organization.resumed',
  'organization.onboarding-approved',
  'organization.onboarding-rejected',
  'organization.onboarding-reapplied',
  'key.created',
  'key.updated',
  'key.rotated',
  'key.revoked',
  'domain.added',
  'domain.deleted',
  'domain.verified-by-force',
  'domain.dkim-rotated',
  'domain.resumed',
  'domain.catch-all-enabled',
  'domain.catch-all-disabled',
  'sender.created',
  'sender.updated',
  'sender.deleted',
  'warming.started',
  'warming.paused',
  'warming.resumed',
  'warming.held',
  'warming.completed',
  'warming.cancelled',
  'block.created',
  'block.deleted',
  'block.imported',
  'unsubscribe-group.created',
  'unsubscribe-group.updated',
  'unsubscribe-group.deleted',
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'conversation.created',
  'conversation.updated',
  'conversation.resolved',
  'conversation.archived',
  'conversation.reopened',
  'conversation.deleted',
  'contact.imported',
  'contact-group.created',
  'contact-group.updated',
  'contact-group.deleted',
  'mailbox.created',
  'mailbox.updated',
  'mailbox.paused',
  'mailbox.resumed',
  'mailbox.deleted',
  'thread.updated',
  'thread.deleted',
  'note.created',
  'note.updated',
  'note.deleted',
  'namespace.created',
  'draft.created',
  'draft.updated',
  'draft.deleted',
  'action.approved',
  'action.rejected',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret-rotated',
  'webhook.disabled',
  'tracking.enabled',
  'tracking.disabled',
  'message.cancelled',
  'message.deleted',
  'queue.held',
  'queue.released',
  'queue.flushed',
  'queue.retried',
  'queue.dropped',
] as const;

export type AuditAction = (typeof auditActions)[number];

const longestCursor = 200;

export const auditQuery = z.strictObject({
  action: z
    .enum(auditActions, { error: `is not one of ${auditActions.join(', ')}` })
    .optional()
    .meta({ description: 'Only this kind of change' }),
  resource: z
    .string()
    .regex(anyIdPattern, 'is not an id')
    .optional()
    .meta({ description: 'Only changes to the resource with this id' }),
  since: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 instant' })
    .optional()
    .meta({ description: 'Only changes from this time on' }),
  limit: pageQuery.limit,
  cursor: z
    .string()
    .max(longestCursor)
    .optional()
    .meta({ description: '`nextCursor` of the page before, with the same filters' }),
});

export const auditEntryOutput = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    createdAt: z.string(),
    actor: z.object({
      type: z.enum(['key', 'operator', 'service']).meta({
        description: 'A key, the operator at the command line, or the service itself',
      }),
      keyId: z.string().nullable(),
      keyName: z.string().nullable().meta({ description: 'Name at that time' }),
      role: z.string().nullable(),
    }),
    action: z.enum(auditActions),
    resource: z.object({
      type: z.string(),
      id: z
        .string()
        .nullable()
        .meta({ description: 'Null for a change of many resources at once' }),
    }),
    details: z.record(z.string(), z.unknown()).meta({
      description: 'Changed fields as `{field: {before, after}}`, and further details',
    }),
  })
  .meta({ id: 'AuditEntry', description: 'A change with its time and its actor' });

export const auditPage = z.object({
  items: z.array(auditEntryOutput),
  nextCursor: z.string().nullable().meta({ description: 'Null on the last page' }),
});

export type AuditQuery = z.output<typeof auditQuery>;
export type AuditEntry = z.output<typeof auditEntryOutput>;
export type AuditPage = z.output<typeof auditPage>;
