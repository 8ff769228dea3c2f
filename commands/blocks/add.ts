import { Args, Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Block an address: it gets no mail from now on',
  description:
    'A send to it is still accepted; its delivery fails at once with the error code "suppressed".',
  examples: [
    ['By hand', 'svc blocks add ada@example.com'],
    ['They asked for it', 'svc blocks add ada@example.com --reason unsubscribe'],
  ],
  args: { address: Args.string({ description: 'The address' }) },
  flags: {
    reason: Flags.string({ description: 'bounce, complaint, unsubscribe or manual (default)' }),
    ...dataFlag,
  },
  route: async () => (await import('../../src/blocks/routes.ts')).blockRoutes.create,
  card,
});
