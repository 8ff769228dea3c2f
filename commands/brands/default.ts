import { brandArgs, brandCard, findBrand } from '../base/nouns/brand.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Make a brand the default of the organization',
  description:
    'Templates that name no brand have the default one, and so has the unsubscribe page.',
  examples: [['Make a brand the default', 'svc brands default acme']],
  args: brandArgs,
  find: findBrand,
  route: async () => (await import('../../src/content/brands/routes.ts')).brandRoutes.makeDefault,
  card: brandCard,
});
