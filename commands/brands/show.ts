import { brandRoutes } from '../../src/content/brands/routes.ts';
import { brandArgs, brandCard, findBrand } from '../base/nouns/brand.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [
    ['Show the logos and footer of a brand', 'svc brands show acme'],
    ['Write its CSS to a file', 'svc brands show acme --json | jq -r .css > acme.css'],
  ],
  args: brandArgs,
  find: findBrand,
  route: brandRoutes.get,
  card: brandCard,
});
