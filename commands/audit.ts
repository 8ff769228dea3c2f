// `svc audit`. src/history/audit/audit.ts has the audited operations.
import { Flags } from '@oclif/core';
import type { AuditEntry, AuditPage } from '../src/history/audit/schema.ts';
import { BaseCommand, tableFlags } from './base/command.ts';
import { given } from './base/input/body.ts';
import { rangeFlags, rangeFrom } from './base/input/since.ts';
import { print, type TableChoice, tableText } from './base/output/output.ts';
import { callRoute } from './base/route.ts';

/**
 * Formats details: `plan: free → growth`. A detail without a previous value shows only the value.
 */
async function detailsInWords(details: AuditEntry['details']): Promise<string> {
  const { inWords } = await import('./base/output/format.ts');
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

function actorInWords(actor: AuditEntry['actor']): string {
  const { type, keyId, keyName, memberEmail, memberName, role } = actor;
  if (type !== 'key' && type !== 'member') return type;
  return [keyName, keyId, memberName, memberEmail, role && `(${role})`]
    .filter((word) => word)
    .join(' ');
}

async function inRows(choice: TableChoice, { items, nextCursor }: AuditPage): Promise<string> {
  if (items.length === 0) return 'No changes found.';
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
  const columns = ['createdAt', 'actor', 'action', 'resource', 'details'];
  return (await tableText(choice, rows, columns)) + more;
}

export default class Audit extends BaseCommand {
  static override asksServer = true;

  static override summary = 'List the changes to an organization, newest first';

  static override description =
    'Lists changes to the organization, its keys, domains, senders, blocks and ' +
    'mailboxes: by a key, by the operator (the command line) or by the service itself. ' +
    'The timeline of a message shows its mail.';

  static override examples = [
    { description: 'List the latest changes to an organization', command: 'svc audit --org acme' },
    {
      description: 'List the changes of its plan',
      command: 'svc audit --action organization.updated',
    },
    {
      description: 'List the changes to a key this year',
      command: 'svc audit --resource key_06dq2k0qz8h3v5m1r9t4w7xy --since 2026-01-01T00:00:00Z',
    },
  ];

  static override flags = {
    action: Flags.string({ description: 'Only this kind of change, such as key.created' }),
    resource: Flags.string({ description: 'Only changes to this resource', helpValue: 'ID' }),
    ...rangeFlags('changes'),
    limit: Flags.string({ description: 'Number of entries, at most 100', helpValue: 'N' }),
    cursor: Flags.string({
      description: 'Continue behind this cursor of a list before',
      helpValue: 'CURSOR',
    }),
    ...tableFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Audit);
    const { action, resource, limit, cursor } = flags;
    const range = rangeFrom(flags, Date.now());
    const query = given({ action, resource, ...range, limit, cursor });
    const load = async () => (await import('../daemon/http/routes.ts')).auditRoutes.list;
    const entries = await callRoute(flags, load, { query });
    await print(flags, entries, () => inRows(flags, entries));
  }
}
