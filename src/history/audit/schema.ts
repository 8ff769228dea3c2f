// Input and output shapes of the audit, and the vocabulary of audited actions.
import { z } from 'zod';
import type { Noun, NounAction } from '../../core/api/noun.ts';
import { cursorPageOf, cursorQuery } from '../../core/api/pagination.ts';
import { timeRange } from '../../core/api/resource-schema.ts';
import { anyIdPattern } from '../../platform/runtime/ids.ts';

/**
 * Audited changes beside the changes of nouns (src/core/api/noun.ts). The word before the dot is
 * the kind of resource.
 */
const otherActions = [
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
  'member.provider-bound',
  'member.provider-unbound',
  'member.provider-joined',
  'member.provider-role',
  'member.provider-disabled',
  'member.erased',
  'member.reset',
  'member.passkey-added',
  'member.passkey-removed',
  'member.passkey-refused',
  'member.address-changed',
  'member.address-taken-back',
  'member.link-made',
  'member.sessions-ended',
  'member.sign-in-failed',
  'sender.proof-mailed',
  'sender.verified',
  'sender.proof-ended',
  'domain.added',
  'domain.deleted',
  'domain.verified-by-force',
  'domain.dkim-rotated',
  'domain.dkim-imported',
  'domain.resumed',
  'domain.link-made',
  'domain.link-ended',
  'domain.catch-all-enabled',
  'domain.catch-all-disabled',
  'warming.started',
  'warming.paused',
  'warming.resumed',
  'warming.held',
  'warming.completed',
  'warming.cancelled',
  'block.created',
  'block.deleted',
  'block.imported',
  'conversation.resolved',
  'conversation.archived',
  'conversation.reopened',
  'contact.imported',
  'unsubscribe-group.confirmed',
  'mailbox.paused',
  'mailbox.resumed',
  'template.published',
  'template.archived',
  'thread.updated',
  'thread.deleted',
  'namespace.created',
  'action.approved',
  'action.rejected',
  'draft.sent',
  'template.staged',
  'template.saved',
  'template.discarded',
  'template.restored',
  'template.pushed',
  'template.bundled',
  'campaign-run.started',
  'campaign-run.paused',
  'campaign-run.resumed',
  'campaign-run.held',
  'campaign-run.completed',
  'campaign-run.failed',
  'campaign-run.cancelled',
  'extension.published',
  'extension-version.withdrawn',
  'extension-installation.upgraded',
  'extension-installation.disabled',
  'extension-installation.enabled',
  'extension-installation.rotated',
  'webhook.secret-rotated',
  'webhook.disabled',
  'tracking.enabled',
  'tracking.disabled',
  'member.accepted',
  'member.declined',
  'member.resent',
  'message.cancelled',
  'message.deleted',
  'queue.held',
  'queue.released',
  'queue.flushed',
  'queue.retried',
  'queue.dropped',
] as const;

export type AuditAction = (typeof otherActions)[number] | NounAction;

/** Returns the names of all audited actions, including the actions of `nouns`, sorted. */
export function auditActions(nouns: readonly Noun[]): AuditAction[] {
  const ofNouns = nouns.flatMap(({ created, updated, deleted }) => [created, updated, deleted]);
  return [...new Set([...otherActions, ...ofNouns])].sort();
}

const byAction = { description: 'Only this kind of change' };

/**
 * The filters of the list without their values, for the flags of `svc audit`. `auditQuery` adds the
 * known actions.
 */
const auditFilters = z.strictObject({
  action: z.string().optional().meta(byAction),
  resource: z
    .string()
    .regex(anyIdPattern, 'is not an id')
    .optional()
    .meta({ description: 'Only changes to the resource with this id' }),
  ...timeRange('changes'),
  ...cursorQuery,
});

/** Returns the schema of the list's filters, for these audited changes. */
export function auditQuery(actions: readonly AuditAction[]) {
  const action = z.enum(actions, { error: `is not one of ${actions.join(', ')}` });
  return auditFilters.extend({ action: action.optional().meta(byAction) });
}

function auditEntry(actions: readonly AuditAction[]) {
  return z
    .object({
      id: z.string().describe('Id of the entry'),
      organizationId: z.string().describe('Organization of the entry'),
      createdAt: z.string().describe('Time of the action'),
      actor: z
        .object({
          type: z.enum(['key', 'installation', 'member', 'operator', 'service']).meta({
            description:
              'A key, an installation of an extension, a member, the operator at the command ' +
              'line, or the service itself',
          }),
          keyId: z.string().nullable().describe('Key of the caller; null without one'),
          keyName: z.string().nullable().meta({ description: 'Name at that time' }),
          memberId: z.string().nullable().describe('Member who acted; null without one'),
          memberName: z.string().nullable().meta({ description: 'Name of the member then' }),
          memberEmail: z.string().nullable().describe('Address of the member then'),
          role: z.string().nullable().describe('Role of the key or member; null without one'),
        })
        .describe('Caller that acted'),
      action: z.enum(actions).describe('Action, as the noun and the verb'),
      resource: z
        .object({
          type: z.string().describe('Type of the resource'),
          id: z
            .string()
            .nullable()
            .meta({ description: 'Null for a change of many resources at once' }),
        })
        .describe('Resource that changed'),
      details: z.record(z.string(), z.unknown()).meta({
        description: 'Changed fields as `{field: {before, after}}`, and further details',
      }),
    })
    .meta({ id: 'AuditEntry', description: 'A change with its time and its actor' });
}

/** Returns the schema of a page of the list, for these audited changes. */
export function auditPage(actions: readonly AuditAction[]) {
  return cursorPageOf(auditEntry(actions));
}

export type AuditQuery = z.output<ReturnType<typeof auditQuery>>;
export type AuditPage = z.output<ReturnType<typeof auditPage>>;
export type AuditEntry = AuditPage['items'][number];
