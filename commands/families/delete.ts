import { familyRoutes } from '../../src/content/families/routes.ts';
import { familyArgs, findFamily } from '../base/nouns/family.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  examples: [
    ['Delete a family in a script', 'svc families delete tfam_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args: familyArgs,
  find: findFamily,
  shows: familyRoutes.get,
  route: familyRoutes.delete,
  question: ({ name }) => `Delete the family ${name} for good?`,
});
