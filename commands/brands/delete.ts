import { brandRoutes } from '../../src/content/brands/routes.ts';
import { brandArgs, findBrand } from '../base/nouns/brand.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a brand for good',
  examples: [['Delete a brand in a script', 'svc brands delete acme --yes']],
  args: brandArgs,
  find: findBrand,
  shows: brandRoutes.get,
  route: brandRoutes.delete,
  question: ({ name, isDefault }) =>
    `Delete the brand ${name} for good?${isDefault ? ' It is the default.' : ''}`,
});
