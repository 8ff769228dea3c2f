import { blockRoutes } from '../../src/people/blocks/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List the addresses that complained', 'svc blocks list --reason complaint'],
    ['Look up one address', 'svc blocks list --address ada@example.com'],
  ],
  route: blockRoutes.list,
  columns: ['id', 'address', 'reason', 'unsubscribeGroupId', 'createdAt'],
  whenEmpty: 'No blocks found. Block an address: svc blocks add ada@example.com',
});
