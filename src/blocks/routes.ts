// The HTTP operations on blocks (contract 6).
import { type Route, route } from '../api/route.ts';
import { createBlock, deleteBlock, getBlock, listBlocks } from './blocks.ts';
import {
  blockDeleted,
  blockOutput,
  blockPage,
  blockPath,
  createBlockInput,
  listBlocksQuery,
} from './schema.ts';

const area = 'blocks';

export const blockRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/email/blocks',
    name: 'listBlocks',
    summary: 'List blocked addresses, newest first',
    area,
    permission: 'blocks:read',
    query: listBlocksQuery,
    status: 200,
    output: blockPage,
    run: (app, { caller, query }) => listBlocks(app, caller, query),
  }),
  route({
    method: 'POST',
    path: '/v1/email/blocks',
    name: 'createBlock',
    summary: 'Block an address',
    description:
      'A send to it is accepted from then on; its delivery is `failed` at once with the errorCode ' +
      '`suppressed`. An address that is blocked already is a 409 that names its block.',
    area,
    permission: 'blocks:write',
    body: createBlockInput,
    status: 201,
    output: blockOutput,
    errors: [409],
    run: (app, { caller, body }) => createBlock(app, caller, body),
  }),
  route({
    method: 'GET',
    path: '/v1/email/blocks/{id}',
    name: 'getBlock',
    summary: 'Show a block',
    area,
    permission: 'blocks:read',
    params: blockPath,
    status: 200,
    output: blockOutput,
    run: (app, { caller, params }) => getBlock(app, caller, params.id),
  }),
  route({
    method: 'DELETE',
    path: '/v1/email/blocks/{id}',
    name: 'deleteBlock',
    summary: 'Remove a block: the address gets mail again',
    area,
    permission: 'blocks:delete',
    params: blockPath,
    status: 200,
    output: blockDeleted,
    run: (app, { caller, params }) => deleteBlock(app, caller, params.id),
  }),
];
