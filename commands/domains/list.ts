// `svc domains list` (contract 6). Keys and records: src/domains/domains.ts; looking them up:
// verification.ts there.
import { given } from '../base/body.ts';
import { BaseCommand, pageFlags } from '../base/command.ts';
import { domainColumns } from '../base/fields.ts';
import { printList } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class DomainsList extends BaseCommand {
  static override summary = 'List the sending domains of the organization, newest first';

  static override examples = [
    { description: 'All with their status', command: 'svc domains list' },
    {
      description: 'Those that are not verified',
      command: `svc domains list --json | jq -r '.items[] | select(.status != "verified") .domain'`,
    },
  ];

  static override flags = { ...pageFlags };

  async run(): Promise<void> {
    const { flags } = await this.parse(DomainsList);
    await withCaller(flags, async (app, caller) => {
      const { listDomains } = await import('../../src/domains/domains.ts');
      const { listDomainsQuery } = await import('../../src/domains/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { page, limit } = flags;
      const query = parseWith(listDomainsQuery, given({ page, limit }), 'query');
      const domains = await listDomains(app, caller, query);
      await printList(flags, domains, domainColumns, 'No domains yet: svc domains add NAME');
    });
  }
}
