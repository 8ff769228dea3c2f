import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Make a mailbox: an address that takes mail here',
  description:
    'Without --domain and --address its address is on the domain that the service hosts ' +
    '(mailboxes.hostedDomain). Any other domain is a verified one of the organization.',
  examples: [
    ['On the hosted domain', 'svc mailboxes create --slug support --display-name Support'],
    ['On your own', 'svc mailboxes create --slug help --domain example.com'],
  ],
  flags: {
    slug: Flags.string({ description: 'Its name: lower-case letters, digits and hyphens' }),
    domain: Flags.string({ description: 'A verified domain; the address is SLUG@DOMAIN' }),
    address: Flags.string({ description: 'The address, where that is another' }),
    'display-name': Flags.string({ description: 'Name shown with it' }),
    description: Flags.string({ description: 'What it is for' }),
    'namespace-id': Flags.string({ description: 'Its namespace', helpValue: 'NS' }),
    ...dataFlag,
  },
  route: async () => (await import('../../src/mailboxes/routes.ts')).mailboxRoutes.create,
  card,
});
