import { familyArgs, findFamily } from '../base/nouns/family.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a family; its members stay templates',
  description: 'Asks for confirmation on a terminal; elsewhere it needs --yes.',
  examples: [
    ['Delete a family in a script', 'svc families delete tfam_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args: familyArgs,
  find: findFamily,
  shows: async () => (await import('../../src/content/families/routes.ts')).familyRoutes.get,
  route: async () => (await import('../../src/content/families/routes.ts')).familyRoutes.delete,
  question: ({ name }) => `Delete the family ${name} for good?`,
});
