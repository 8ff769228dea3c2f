import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

const several = { multiple: true, multipleNonGreedy: true } as const;

export default updateCommand({
  summary: 'Change a mailbox: its name, where its mail comes from, whose mail it wants',
  description:
    'With --allow or --block the lists that are given take the place of both that it has. Mail that ' +
    'it does not want goes to spam.',
  examples: [
    ['Another name', 'svc mailboxes update mbx_06dq2k0qz8h3v5m1r9t4w7xy --display-name Desk'],
    ['Not theirs', 'svc mailboxes update mbx_06dq2k0qz8h3v5m1r9t4w7xy --block spam.example'],
  ],
  args,
  flags: {
    'display-name': Flags.string({ description: 'New name' }),
    description: Flags.string({ description: 'What it is for' }),
    'default-from': Flags.string({
      description: 'One of its addresses, or a verified sender',
      helpValue: 'ADDRESS',
    }),
    allow: Flags.string({ description: 'Address or domain; may be repeated', ...several }),
    block: Flags.string({ description: 'Address or domain; may be repeated', ...several }),
    ...dataFlag,
  },
  fields: { 'default-from': null, allow: null, block: null },
  more: ({ allow, block, 'default-from': address }) =>
    given({
      filters: allow || block ? given({ allow, block }) : undefined,
      defaultFrom: address === undefined ? undefined : { address },
    }),
  route: async () => (await import('../../src/mailboxes/routes.ts')).mailboxRoutes.update,
  card,
});
