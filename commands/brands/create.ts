import { brandRoutes } from '../../src/content/brands/routes.ts';
import { brandCard, brandFields, brandFlags } from '../base/nouns/brand.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Create a brand: CSS, logos and a footer for templates',
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
  flags: brandFlags,
  more: brandFields,
  route: brandRoutes.create,
  card: brandCard,
});
