// Routes that only the console calls: they import a list of blocks, and read the columns of a file
// of contacts. The public HTTP API lacks these routes.
import { z } from 'zod';
import { queryFlag } from '../../core/api/resource-schema.ts';
import { internalRoute } from '../../core/api/route.ts';
import { blockReasons } from '../blocks/schema.ts';
import { importBlocks } from './blocks.ts';
import { readColumns } from './rows.ts';

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

export const contactColumnRoutes = {
  /** Reads the columns of a file with their recognized uses and the first values. */
  read: internalRoute({
    name: 'contacts/columns',
    permission: 'contacts:write',
    takes: { types: ['text/csv', 'application/x-ndjson'], mostBytes: mostImportedBytes },
    run: async (_app, { stream }) => {
      if (!stream) throw new Error('the columns need the text of a file');
      return readColumns(stream.chunks, stream.type === 'text/csv' ? 'csv' : 'ndjson');
    },
  }),
};
