import { domainRoutes } from '../../src/identity/domains/routes.ts';
import { domainCard as card } from '../base/input/fields.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show a sending domain and its status',
  description: '"svc domains dns" shows its DNS records.',
  examples: [
    ['Show a domain by its name', 'svc domains show example.com'],
    ['Show a domain by its id', 'svc domains show dom_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  find,
  route: domainRoutes.get,
  card,
});
