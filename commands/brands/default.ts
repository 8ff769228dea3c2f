import { brandRoutes } from '../../src/content/brands/routes.ts';
import { brandArgs, brandCard, findBrand } from '../base/nouns/brand.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  description:
    'Templates that name no brand have the default one, and so has the unsubscribe page.',
  examples: [['Make a brand the default', 'svc brands default acme']],
  args: brandArgs,
  find: findBrand,
  route: brandRoutes.makeDefault,
  card: brandCard,
});
