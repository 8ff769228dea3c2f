import { listBlocksQuery } from '../../src/people/blocks/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the blocked addresses, newest first',
  examples: [
    ['List the addresses that complained', 'svc blocks list --reason complaint'],
    ['Look up one address', 'svc blocks list --address ada@example.com'],
  ],
  query: listBlocksQuery,
  route: async () => (await import('../../src/people/blocks/routes.ts')).blockRoutes.list,
  columns: ['id', 'address', 'reason', 'unsubscribeGroupId', 'createdAt'],
  whenEmpty: 'No blocks found. Block an address: svc blocks add ada@example.com',
});
