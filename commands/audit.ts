// `svc audit`. Audited operations: src/audit/audit.ts.
import { type AuditEntry, type AuditPage, auditQuery } from '../src/audit/schema.ts';
import { showCommand } from './base/verbs.ts';

/** `plan: free → growth`; a detail without a previous value shows its value alone. */
async function detailsInWords(details: AuditEntry['details']): Promise<string> {
  const { inWords } = await import('./base/format.ts');
  return Object.entries(details)
    .map(([name, value]) => {
      const isChange = typeof value === 'object' && value !== null && 'before' in value;
      const words =
        isChange && 'after' in value
          ? `${inWords(value.before)} → ${inWords(value.after)}`
          : inWords(value);
      return `${name}: ${words}`;
    })
    .join('; ');
}

function actorInWords({ type, keyId, keyName, role }: AuditEntry['actor']): string {
  if (type !== 'key') return type;
  return [keyName, keyId, role && `(${role})`].filter((word) => word).join(' ');
}

async function inRows({ items, nextCursor }: AuditPage): Promise<string> {
  if (items.length === 0) return 'No changes found.';
  const { table } = await import('./base/format.ts');
  const rows = await Promise.all(
    items.map(async ({ createdAt, action, actor, resource, details }) => ({
      createdAt,
      action,
      actor: actorInWords(actor),
      resource: resource.id,
      details: await detailsInWords(details),
    })),
  );
  const more = nextCursor === null ? '' : `\n\nMore with --cursor ${nextCursor}`;
  return table(rows, ['createdAt', 'actor', 'action', 'resource', 'details']) + more;
}

export default showCommand({
  summary: 'List the changes to an organization, newest first',
  description:
    'Lists changes to the organization, its keys, domains, senders, blocks and ' +
    'mailboxes: by a key, by the operator (the command line) or by the service itself. ' +
    'The timeline of a message shows its mail.',
  examples: [
    ['List the latest changes to an organization', 'svc audit --org acme'],
    ['List the changes of its plan', 'svc audit --action organization.updated'],
    [
      'List the changes to a key this year',
      'svc audit --resource key_06dq2k0qz8h3v5m1r9t4w7xy --since 2026-01-01T00:00:00Z',
    ],
  ],
  query: auditQuery,
  route: async () => (await import('../src/audit/routes.ts')).auditRoutes.list,
  view: inRows,
});
