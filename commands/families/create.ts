import { createFamilyInput } from '../../src/content/families/schema.ts';
import { familyCard } from '../base/nouns/family.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Create a family of templates',
  examples: [['Create an empty family', 'svc families create --name "Order shipped"']],
  body: createFamilyInput,
  route: async () => (await import('../../src/content/families/routes.ts')).familyRoutes.create,
  card: familyCard,
});
