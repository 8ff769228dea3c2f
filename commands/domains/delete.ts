import { domainRoutes } from '../../src/identity/domains/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a sending domain and its DKIM keys for good',
  examples: [['Delete a domain in a script', 'svc domains delete example.com --yes']],
  args,
  find,
  shows: domainRoutes.get,
  route: domainRoutes.delete,
  question: ({ domain }) => `Delete ${domain} and its DKIM keys for good?`,
});
