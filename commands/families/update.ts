import { familyRoutes } from '../../src/content/families/routes.ts';
import { familyArgs, familyCard, findFamily } from '../base/nouns/family.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Change the name of a family of templates',
  examples: [
    ['Rename a family', 'svc families update tfam_06dq2k0qz8h3v5m1r9t4w7xy --name Orders'],
  ],
  args: familyArgs,
  find: findFamily,
  route: familyRoutes.update,
  card: familyCard,
});
