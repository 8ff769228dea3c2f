// Blocks, the resource (specification 4.9 "remove a block entry"). suppression.ts applies blocks to
// sends. export.ts and src/people/imports/blocks.ts move large numbers of blocks.

import { boundNamed, readFilteredPage } from '../../core/api/filtered-page.ts';
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { sumBlocks } from './count-queries.ts';
import * as queries from './queries.ts';
import { type Block, blockPath, type CreateBlock, type ListBlocks } from './schema.ts';

/** Presents a row as in the API. */
export function presentBlock(row: queries.BlockRow): Block {
  return {
    id: row.id,
    address: row.address,
    reason: row.reason,
    unsubscribeGroupId: row.unsubscribe_group_id,
    messageId: row.message_id,
    createdAt: isoTime(row.created_at),
  };
}

/**
 * Returns the row of a new block of all mail. `address` is in the normal form of
 * src/platform/net/address.ts.
 */
export function newBlockRow(
  app: App,
  organizationId: string,
  { address, reason, messageId }: Pick<Block, 'address' | 'reason' | 'messageId'>,
): queries.BlockRow {
  return {
    id: app.newId('block'),
    organization_id: organizationId,
    address,
    folded_address: foldAddress(address),
    reason,
    unsubscribe_group_id: null,
    message_id: messageId,
    created_at: app.clock.now(),
  };
}

/**
 * Blocks an address. @throws ConflictError if it is blocked for all mail already, for any reason;
 * the error names that block and its reason.
 */
export function createBlock(app: App, caller: Caller, input: CreateBlock): Promise<Block> {
  const row = newBlockRow(app, caller.organizationId, { ...input, messageId: null });
  return app.store.write(async (trx) => {
    const [known] = await queries.findActiveBlocks(trx, row.organization_id, [row.folded_address]);
    if (!known && (await queries.insertBlocks(trx, [row])).length > 0) {
      await record(app, trx, caller, { ...changeOf(row), action: 'block.created' });
      return presentBlock(row);
    }
    const which = known ? ` by ${known.id} (${known.reason})` : '';
    throw new ConflictError('block', `${row.address} is blocked already${which}`);
  });
}

function changeOf({ id, address, reason }: queries.BlockRow) {
  return { subject: id, details: { address, reason } };
}

/** Lists a page of the organization's blocks, newest first. */
export async function listBlocks(
  app: App,
  caller: Caller,
  query: ListBlocks,
): Promise<Page<Block>> {
  const { db } = app.store;
  const { page, limit, reason, address } = query;
  const { from, to } = boundsOf(query);
  const filter = { reason, foldedAddress: address && foldAddress(address), from, to };
  const range = { limit, offset: (page - 1) * limit };
  const { organizationId } = caller;
  const field = boundNamed(query);
  if (field !== null) {
    const { rows, total } = await readFilteredPage(app.store, {
      organizationId,
      field,
      rows: (aside) => queries.selectBlocks(aside, organizationId, filter, range),
      total: (aside) => queries.countBlocksOf(aside, organizationId, filter),
    });
    return toPage(rows.map(presentBlock), total, query);
  }
  const [rows, total] = await Promise.all([
    queries.selectBlocks(db, organizationId, filter, range),
    filter.foldedAddress === undefined
      ? sumBlocks(db, organizationId, reason)
      : queries.countBlocksOf(db, organizationId, filter),
  ]);
  return toPage(rows.map(presentBlock), total, query);
}

/** Returns a block. @throws ResourceNotFoundError. */
export async function getBlock(app: App, caller: Caller, id: string): Promise<Block> {
  return presentBlock(await queries.blocks.get(app.store.db, caller.organizationId, id));
}

/**
 * Finds a block by id, or a block of all mail by address.
 * @throws ValidationError for a text without `@` that is not an id; ResourceNotFoundError.
 */
export async function getBlockNamed(app: App, caller: Caller, idOrAddress: string): Promise<Block> {
  if (!idOrAddress.includes('@')) {
    return getBlock(app, caller, parseWith(blockPath, { id: idOrAddress }, 'path').id);
  }
  const folded = [foldAddress(idOrAddress)];
  const [known] = await queries.findActiveBlocks(app.store.db, caller.organizationId, folded);
  if (!known) throw new ResourceNotFoundError('block', idOrAddress);
  return getBlock(app, caller, known.id);
}

/**
 * Lifts a block. The address gets mail again unless a further block applies.
 * @throws ResourceNotFoundError.
 */
export async function deleteBlock(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    const row = await queries.blocks.get(trx, caller.organizationId, id);
    if (!(await queries.deleteBlockRow(trx, caller.organizationId, id))) {
      throw new ResourceNotFoundError('block', id);
    }
    await record(app, trx, caller, { ...changeOf(row), action: 'block.deleted' });
  });
  return { success: true, message: `Block ${id} is deleted` };
}
