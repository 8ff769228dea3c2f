import { Flags } from '@oclif/core';
import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { given } from '../base/input/body.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

const several = { multiple: true, multipleNonGreedy: true } as const;

export default updateCommand({
  summary: 'Change the name, description or filters of a mailbox',
  description:
    'Given --allow or --block, they replace both lists of the mailbox. Mail from ' +
    'unwanted senders goes to spam.',
  examples: [
    ['Rename a mailbox', 'svc mailboxes update mbx_06dq2k0qz8h3v5m1r9t4w7xy --display-name Desk'],
    ['Block a sender', 'svc mailboxes update mbx_06dq2k0qz8h3v5m1r9t4w7xy --block spam.example'],
  ],
  args,
  flags: {
    'default-from': Flags.string({
      description: 'From address: one of its addresses, or a verified sender',
      helpValue: 'ADDRESS',
    }),
    allow: Flags.string({ description: 'Wanted address or domain; may be repeated', ...several }),
    block: Flags.string({ description: 'Unwanted address or domain; may be repeated', ...several }),
  },
  more: ({ allow, block, 'default-from': address }) =>
    given({
      filters: allow || block ? given({ allow, block }) : undefined,
      defaultFrom: address === undefined ? undefined : { address },
    }),
  route: mailboxRoutes.update,
  card,
});
