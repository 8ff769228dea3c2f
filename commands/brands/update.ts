import { brandRoutes } from '../../src/content/brands/routes.ts';
import { brandArgs, brandCard, brandFields, brandFlags, findBrand } from '../base/nouns/brand.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Change the name, CSS, logos or footer of a brand',
  description:
    'Settings that are not given stay as they are. New CSS takes effect when a template is ' +
    'published again. An empty value needs --data, with null.',
  examples: [
    ['Replace the CSS', 'svc brands update acme --css @acme.css'],
    ['Remove the icon', `svc brands update acme --data '{"assets":{"iconUrl":null}}'`],
  ],
  args: brandArgs,
  find: findBrand,
  flags: brandFlags,
  more: brandFields,
  route: brandRoutes.update,
  card: brandCard,
});
