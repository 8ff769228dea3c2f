import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the addresses that get no mail, newest first',
  examples: [
    ['Who complained', 'svc blocks list --reason complaint'],
    ['Is it blocked?', 'svc blocks list --address ada@example.com'],
  ],
  flags: {
    reason: Flags.string({ description: 'Only these: bounce, complaint, unsubscribe or manual' }),
    address: Flags.string({ description: 'Only of this address' }),
  },
  route: async () => (await import('../../src/blocks/routes.ts')).blockRoutes.list,
  columns: ['id', 'address', 'reason', 'createdAt'],
  whenEmpty: 'No such blocks.',
});
