// The import of a list of blocks, for the console. It is not part of HTTP.
import { z } from 'zod';
import { queryFlag } from '../../core/api/resource-schema.ts';
import { internalRoute } from '../../core/api/route.ts';
import { blockReasons } from '../blocks/schema.ts';
import { importBlocks } from './blocks.ts';

const mostImportedBytes = 2 * 1024 * 1024;

export const blockImportRoutes = {
  run: internalRoute({
    name: 'blocks/import',
    permission: 'blocks:write',
    query: z.strictObject({ reason: z.enum(blockReasons), dryRun: queryFlag }),
    takes: { types: ['text/plain'], mostBytes: mostImportedBytes },
    run: async (app, { caller, query, stream }) => {
      if (!stream) throw new Error('an import needs the text of a list');
      return importBlocks(app, caller, stream.chunks, query);
    },
  }),
};
