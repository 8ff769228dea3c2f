import { blockRoutes } from '../../src/people/blocks/routes.ts';
import { type Find, idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the block (blk_…) or its address');

export const card = ['id', 'address', 'reason', 'unsubscribeGroupId', 'messageId', 'createdAt'];

export const find: Find = async (app, caller, named) => {
  if (!/.@/.test(named)) return named;
  const { getBlockNamed } = await import('../../src/people/blocks/blocks.ts');
  return (await getBlockNamed(app, caller, named)).id;
};

export default showCommand({
  summary: 'Show a block with its reason and its time',
  examples: [
    ['Show a block by its address', 'svc blocks show ada@example.com'],
    ['Show a block by its id', 'svc blocks show blk_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  find,
  route: blockRoutes.get,
  card,
});
