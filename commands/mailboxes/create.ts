import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
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
  flags: {
    slug: Flags.string({
      description: 'Slug of the mailbox: lower-case letters, digits and hyphens',
    }),
    domain: Flags.string({ description: 'Verified domain; the address is SLUG@DOMAIN' }),
    address: Flags.string({ description: 'Address, if it differs from SLUG@DOMAIN' }),
    'display-name': Flags.string({ description: 'Display name of the address' }),
    description: Flags.string({ description: 'Description of the mailbox' }),
    'namespace-id': Flags.string({ description: 'Namespace of the mailbox', helpValue: 'NS' }),
    ...dataFlag,
  },
  route: async () => (await import('../../src/mailboxes/routes.ts')).mailboxRoutes.create,
  card,
});
