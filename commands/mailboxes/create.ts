import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create a mailbox that receives mail',
  description:
    'Without --domain and --address its address is on the hosted domain of the service ' +
    '(mailboxes.hostedDomain). Any other domain must be a verified one of the ' +
    'organization.',
  examples: [
    [
      'Create a mailbox on the hosted domain',
      'svc mailboxes create --slug support --display-name Support',
    ],
    [
      'Create a mailbox on your own domain',
      'svc mailboxes create --slug help --domain example.com',
    ],
  ],
  route: mailboxRoutes.create,
  card,
});
