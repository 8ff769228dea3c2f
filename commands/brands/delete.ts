import { brandArgs, findBrand } from '../base/nouns/brand.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a brand for good',
  description:
    'No other brand becomes the default. Asks for confirmation on a terminal; elsewhere it ' +
    'needs --yes.',
  examples: [['Delete a brand in a script', 'svc brands delete acme --yes']],
  args: brandArgs,
  find: findBrand,
  shows: async () => (await import('../../src/content/brands/routes.ts')).brandRoutes.get,
  route: async () => (await import('../../src/content/brands/routes.ts')).brandRoutes.delete,
  question: ({ name, isDefault }) =>
    `Delete the brand ${name} for good?${isDefault ? ' It is the default.' : ''}`,
});
