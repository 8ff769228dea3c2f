import { familyArgs, familyCard, findFamily } from '../base/nouns/family.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show a family of templates with its members',
  examples: [['Show the members of a family', 'svc families show tfam_06dq2k0qz8h3v5m1r9t4w7xy']],
  args: familyArgs,
  find: findFamily,
  route: async () => (await import('../../src/content/families/routes.ts')).familyRoutes.get,
  card: familyCard,
});
