import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the blocked addresses, newest first',
  examples: [
    ['List the addresses that complained', 'svc blocks list --reason complaint'],
    ['Look up one address', 'svc blocks list --address ada@example.com'],
  ],
  flags: {
    reason: Flags.string({
      description: 'Only blocks with this reason: bounce, complaint, unsubscribe or manual',
    }),
    address: Flags.string({ description: 'Only blocks of this address' }),
  },
  route: async () => (await import('../../src/blocks/routes.ts')).blockRoutes.list,
  columns: ['id', 'address', 'reason', 'createdAt'],
  whenEmpty: 'No blocks found. Block an address: svc blocks add ada@example.com',
});
