import { blockRoutes } from '../../src/people/blocks/routes.ts';
import { type Block, reasonsByWeight } from '../../src/people/blocks/schema.ts';
import { ResourceNotFoundError } from '../../src/platform/errors.ts';
import { type Find, idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the block (blk_…) or its address');

export const card = ['id', 'address', 'reason', 'unsubscribeGroupId', 'messageId', 'createdAt'];

const weightOf = ({ reason }: Block) => reasonsByWeight.indexOf(reason);

export const find: Find = async (session, named) => {
  if (!/.@/.test(named)) return named;
  if (session.local) {
    const { app, caller } = session.local;
    const { getBlockNamed } = await import('../../src/people/blocks/blocks.ts');
    return (await getBlockNamed(app, caller, named)).id;
  }
  const { items } = await session.ask(blockRoutes.list, { query: { address: named } });
  const [heaviest] = items.toSorted((a, b) => weightOf(a) - weightOf(b));
  if (!heaviest) throw new ResourceNotFoundError('block', named);
  return heaviest.id;
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
