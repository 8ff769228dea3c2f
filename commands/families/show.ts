import { familyRoutes } from '../../src/content/families/routes.ts';
import { familyArgs, familyCard, findFamily } from '../base/nouns/family.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [['Show the members of a family', 'svc families show tfam_06dq2k0qz8h3v5m1r9t4w7xy']],
  args: familyArgs,
  find: findFamily,
  route: familyRoutes.get,
  card: familyCard,
});
