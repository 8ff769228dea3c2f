// `svc groups members`: the contacts of a group.
import { given } from '../base/body.ts';
import { BaseCommand, pageFlags } from '../base/command.ts';
import { printList } from '../base/output.ts';
import { callRoute } from '../base/route.ts';
import { args } from './show.ts';

export default class GroupsMembers extends BaseCommand {
  static override summary = 'List the contacts of a group, newest first';

  static override examples = [
    {
      description: 'List the first 20 members',
      command: 'svc groups members grp_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = args;

  static override flags = pageFlags;

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(GroupsMembers);
    const { page, limit } = flags;
    const members = await callRoute(
      flags,
      async () => (await import('../../src/contacts/groups/routes.ts')).contactGroupRoutes.members,
      { params: { id: typed.id }, query: given({ page, limit }) },
    );
    const columns = ['id', 'name', 'identities.0.identifier', 'status', 'tags'];
    await printList(
      flags,
      members,
      columns,
      'This group has no members. Add one: svc groups add GROUP --contact ID',
    );
  }
}
