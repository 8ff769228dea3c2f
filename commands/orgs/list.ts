// `svc orgs list`. src/access/organizations/organizations.ts has the operation.

import { BaseCommand, pageFlags, tableFlags } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { organizationColumns } from '../base/input/fields.ts';
import { printList } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class OrgsList extends BaseCommand {
  static override summary = 'List all organizations, oldest first';

  static override examples = [
    { description: 'List all organizations', command: 'svc orgs list' },
    {
      description: 'Print their names alone',
      command: "svc orgs list --json | jq -r '.items[].name'",
    },
  ];

  static override flags = { ...pageFlags, ...tableFlags };

  async run(): Promise<void> {
    const { flags } = await this.parse(OrgsList);
    await withApp(flags, async (app) => {
      const { listOrganizations } = await import('../../src/access/organizations/organizations.ts');
      const { listOrganizationsQuery } = await import('../../src/access/organizations/schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const { page, limit } = flags;
      const query = parseWith(listOrganizationsQuery, given({ page, limit }), 'query');
      const organizations = await listOrganizations(app, query);
      await printList(
        flags,
        organizations,
        organizationColumns,
        'No organizations found. Create one: svc orgs create --name NAME',
      );
    });
  }
}
