import { createBrandInput } from '../../src/content/brands/schema.ts';
import { brandCard, brandFields, brandFlags } from '../base/nouns/brand.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Create a brand: CSS, logos and a footer for templates',
  description: 'The first brand of an organization is its default.',
  examples: [
    [
      'Create a brand with CSS from a file',
      'svc brands create --slug acme --name Acme --css @acme.css',
    ],
    [
      'Create a brand with a logo and a footer',
      'svc brands create --slug acme --name Acme --logo-url https://cdn.example.com/logo.png ' +
        '--company-name "Acme Ltd" --city Springfield --social-link Blog=https://example.com/blog',
    ],
  ],
  body: createBrandInput,
  flags: brandFlags,
  more: brandFields,
  route: async () => (await import('../../src/content/brands/routes.ts')).brandRoutes.create,
  card: brandCard,
});
