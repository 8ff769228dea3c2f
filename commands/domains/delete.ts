import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a sending domain and its DKIM keys for good',
  description:
    'Its senders can no longer send. Asks for confirmation on a terminal; elsewhere it ' +
    'needs --yes.',
  examples: [['Delete a domain in a script', 'svc domains delete example.com --yes']],
  args,
  find,
  shows: async () => (await import('../../src/identity/domains/routes.ts')).domainRoutes.get,
  route: async () => (await import('../../src/identity/domains/routes.ts')).domainRoutes.delete,
  question: ({ domain }) => `Delete ${domain} and its DKIM keys for good?`,
});
