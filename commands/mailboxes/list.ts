import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the mailboxes of the organization',
  examples: [
    ['Which there are', 'svc mailboxes list'],
    ['Those that take no mail at the moment', 'svc mailboxes list --status paused'],
  ],
  flags: {
    status: Flags.string({ description: 'active or paused' }),
    'namespace-id': Flags.string({ description: 'Those of a namespace', helpValue: 'NS' }),
  },
  route: async () => (await import('../../src/mailboxes/routes.ts')).mailboxRoutes.list,
  columns: ['id', 'slug', 'primaryAddress', 'status', 'displayName', 'createdAt'],
  whenEmpty: 'No mailboxes yet: svc mailboxes create --slug support',
});
