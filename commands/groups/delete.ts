import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete a group of contacts; its members stay contacts',
  description: 'Asks for confirmation on a terminal; elsewhere it needs --yes.',
  examples: [
    ['Delete a group in a script', 'svc groups delete grp_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: async () =>
    (await import('../../src/people/contacts/groups/routes.ts')).contactGroupRoutes.get,
  route: async () =>
    (await import('../../src/people/contacts/groups/routes.ts')).contactGroupRoutes.delete,
  question: ({ name }) => `Delete the group ${name} for good?`,
});
