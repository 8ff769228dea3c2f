import { familyRoutes } from '../../src/content/families/routes.ts';
import { familyCard } from '../base/nouns/family.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  examples: [['Create an empty family', 'svc families create --name "Order shipped"']],
  route: familyRoutes.create,
  card: familyCard,
});
