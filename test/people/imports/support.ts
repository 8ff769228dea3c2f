// Fixtures of the import tests: sources of bytes, and the resulting blocks.

import type { Caller } from '../../../src/core/api/route.ts';
import { listBlocks } from '../../../src/people/blocks/blocks.ts';
import { listBlocksQuery } from '../../../src/people/blocks/schema.ts';
import {
  type ImportOptions,
  type ImportReport,
  importBlocks,
} from '../../../src/people/imports/blocks.ts';
import type { TestApp } from '../../support/test-app.ts';

/** Creation time of blocks whose file gives none: the start of the virtual clock. */
export const today = '2026-01-05T12:00:00.000Z';

/** Yields the content in pieces of `size` bytes, like a pipe. */
export async function* pieces(content: string | Buffer, size = 1_000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Imports as the owner of the test's organization, not as a preview unless `options` differ. */
export function importInto(
  { app, caller }: TestApp,
  source: AsyncIterable<Buffer> | string | Buffer,
  options: Partial<ImportOptions> = {},
): Promise<ImportReport> {
  const isContent = typeof source === 'string' || Buffer.isBuffer(source);
  return importBlocks(app, caller, isContent ? pieces(source) : source, {
    reason: 'manual',
    dryRun: false,
    ...options,
  });
}

/** Lists address, reason and creation time of each block, in alphabetical order. */
export async function blocked({ app, caller }: { app: TestApp['app']; caller: Caller }) {
  const { items } = await listBlocks(app, caller, listBlocksQuery.parse({ limit: 100 }));
  return items
    .map(({ address, reason, createdAt }) => `${address} ${reason} ${createdAt}`)
    .sort((a, b) => (a < b ? -1 : 1));
}
