// The HTTP operations on blocks of addresses.
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { createBlock, deleteBlock, getBlock, listBlocks } from './blocks.ts';
import { blockOutput, blockPath, createBlockInput, listBlocksQuery } from './schema.ts';

const at = area('blocks', {
  about:
    'Addresses that get no mail: they bounced, complained, unsubscribed or were blocked by hand',
});
const path = '/v1/email/blocks';

export const blockRoutes = {
  list: at.get(path, {
    name: 'listBlocks',
    summary: 'List blocked addresses, newest first',
    query: listBlocksQuery,
    output: pageOf(blockOutput),
    run: (app, { caller, query }) => listBlocks(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createBlock',
    summary: 'Block an address',
    description:
      'A send to a blocked address is still accepted; its delivery is `failed` at once ' +
      'with the errorCode `suppressed`. Blocking an address again gets a 409 that names the ' +
      'block.',
    body: createBlockInput,
    output: blockOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => createBlock(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getBlock',
    summary: 'Show a block',
    params: blockPath,
    output: blockOutput,
    run: (app, { caller, params: { id } }) => getBlock(app, caller, id),
  }),
  delete: at.delete(`${path}/{id}`, {
    name: 'deleteBlock',
    summary: 'Lift a block: the address gets mail again',
    params: blockPath,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteBlock(app, caller, id),
  }),
};
