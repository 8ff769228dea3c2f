// Suppression of sends by blocks, inside the accept transaction for every send: a single prepared
// statement for a batch. Measured on SQLite with 200,000 blocks: 80 µs for 64 addresses, 5 µs for a
// single address. Bounces and complaints block addresses here; the resource is blocks.ts.

import type { App } from '../../core/app.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { newBlockRow } from './blocks.ts';
import {
  findActiveBlocks,
  findActiveBlocksAmong,
  findGroupBlocksAmong,
  insertBlocks,
} from './queries.ts';
import type { BlockReason } from './schema.ts';

/** The data of a block that a send needs. */
export interface ActiveBlock {
  id: string;
  reason: BlockReason;
  /** Time of the block, ms since 1970. */
  createdAt: number;
}

/** Blocks by folded address. */
export type ActiveBlocks = ReadonlyMap<string, ActiveBlock>;

/** Finds the oldest block of all mail on each of these addresses. */
export async function findBlocked(
  db: Db,
  organizationId: string,
  foldedAddresses: readonly string[],
): Promise<ActiveBlocks> {
  // Mail of the service has no blocks.
  if (organizationId === serviceOrganizationId) return new Map();
  const rows = await findActiveBlocks(db, organizationId, foldedAddresses);
  const found = new Map<string, ActiveBlock>();
  for (const { id, folded_address, reason, created_at: createdAt } of rows) {
    const known = found.get(folded_address);
    // Keeps the oldest block of an address: ids grow with time.
    if (!known || id < known.id) found.set(folded_address, { id, reason, createdAt });
  }
  return found;
}

/** Organization, addresses and group of a send. */
interface AskedSend {
  organizationId: string;
  addresses: readonly string[];
  unsubscribeGroupId?: string | null;
}

/** Returns the key under which `findBlockedOf` returns the blocks for mail of the group. */
export function sendKey(organizationId: string, groupId: string | null): string {
  return groupId === null ? organizationId : `${organizationId} ${groupId}`;
}

/**
 * Finds the blocks of a batch of sends, by `sendKey`, with a query for each organization and a
 * single query for all groups. Mail of a group is stopped by blocks of all mail and of that group;
 * mail without a group only by blocks of all mail.
 */
export async function findBlockedOf(
  db: Db,
  sends: readonly AskedSend[],
): Promise<ReadonlyMap<string, ActiveBlocks>> {
  const asked = new Map<string, Set<string>>();
  for (const { organizationId, addresses } of sends) {
    const folded = asked.get(organizationId) ?? new Set();
    for (const address of addresses) folded.add(foldAddress(address));
    asked.set(organizationId, folded);
  }
  const found = new Map<string, ActiveBlocks>();
  for (const [organizationId, folded] of asked) {
    found.set(organizationId, await findBlocked(db, organizationId, [...folded]));
  }
  const ofGroups = await findGroupBlocked(db, sends.flatMap(askedOfGroup));
  for (const { organizationId, unsubscribeGroupId } of sends) {
    if (unsubscribeGroupId == null) continue;
    const key = sendKey(organizationId, unsubscribeGroupId);
    const ofAll = found.get(organizationId) ?? [];
    found.set(key, new Map([...(ofGroups.get(key) ?? []), ...ofAll]));
  }
  return found;
}

function askedOfGroup({
  organizationId,
  addresses,
  unsubscribeGroupId,
}: AskedSend): GroupQuestion[] {
  if (unsubscribeGroupId == null) return [];
  return addresses.map((email) => [organizationId, foldAddress(email), unsubscribeGroupId]);
}

type GroupQuestion = readonly [organizationId: string, foldedAddress: string, groupId: string];

/**
 * Finds group blocks by organization and group, then by folded address. Runs no query if `asked` is
 * empty.
 */
async function findGroupBlocked(
  db: Db,
  asked: readonly GroupQuestion[],
): Promise<Map<string, Map<string, ActiveBlock>>> {
  const found = new Map<string, Map<string, ActiveBlock>>();
  if (asked.length === 0) return found;
  for (const row of await findGroupBlocksAmong(db, asked)) {
    const key = sendKey(row.organization_id, row.unsubscribe_group_id);
    const blocks = found.get(key) ?? new Map<string, ActiveBlock>();
    found.set(key, blocks);
    blocks.set(row.folded_address, activeOf(row));
  }
  return found;
}

function activeOf(row: { id: string; reason: BlockReason; created_at: number }): ActiveBlock {
  return { id: row.id, reason: row.reason, createdAt: row.created_at };
}

function blockKey(organizationId: string, foldedAddress: string): string {
  return `${organizationId} ${foldedAddress}`;
}

/** The columns of a delivery that suppression needs. */
interface Addressed {
  organization_id: string;
  email: string;
  unsubscribe_group_id: string | null;
}

/** Finds the blocks that stop deliveries of a queue batch, by delivery, in any organization. */
export async function findBlockedAmong<Row extends Addressed>(
  db: Db,
  rows: readonly Row[],
): Promise<ReadonlyMap<Row, ActiveBlock>> {
  const folded = new Map(rows.map((row) => [row, foldAddress(row.email)]));
  const addressOf = (row: Row) => folded.get(row) ?? '';
  const found = await findActiveBlocksAmong(
    db,
    rows.map((row) => [row.organization_id, addressOf(row)]),
  );
  const ofAll = new Map(
    found.map((row) => [blockKey(row.organization_id, row.folded_address), activeOf(row)]),
  );
  const ofGroups = await findGroupBlocked(
    db,
    rows.flatMap((row): GroupQuestion[] =>
      row.unsubscribe_group_id === null
        ? []
        : [[row.organization_id, addressOf(row), row.unsubscribe_group_id]],
    ),
  );
  const blocked = new Map<Row, ActiveBlock>();
  for (const row of rows) {
    const { organization_id: organizationId, unsubscribe_group_id: groupId } = row;
    const block =
      ofAll.get(blockKey(organizationId, addressOf(row))) ??
      ofGroups.get(sendKey(organizationId, groupId))?.get(addressOf(row));
    if (block) blocked.set(row, block);
  }
  return blocked;
}

/**
 * Blocks an address that bounced or complained. `address` is in the normal form of
 * src/platform/net/address.ts. Idempotent: the first block of a reason stays unchanged. Mail of the
 * service blocks nothing. Returns whether the block is new.
 */
export async function blockAddress(
  app: App,
  trx: Db,
  { organizationId, ...block }: NewBlock,
): Promise<boolean> {
  if (organizationId === serviceOrganizationId) return false;
  const inserted = await insertBlocks(trx, [newBlockRow(app, organizationId, block)]);
  return inserted.length > 0;
}

/** An address to block, with the reason. */
export interface NewBlock {
  organizationId: string;
  address: string;
  reason: BlockReason;
  messageId: string | null;
}

/** Blocks several addresses, in the order in which all transactions lock them. */
export async function blockAddresses(
  app: App,
  trx: Db,
  blocks: readonly NewBlock[],
): Promise<void> {
  const keyOf = ({ organizationId, address, reason }: NewBlock) =>
    `${blockKey(organizationId, foldAddress(address))} ${reason}`;
  const byKey = (a: NewBlock, b: NewBlock) => (keyOf(a) < keyOf(b) ? -1 : 1);
  for (const block of blocks.toSorted(byKey)) await blockAddress(app, trx, block);
}

/** Tells whether the recipient caused the block. Only this person may ask to lift it. */
export function isRecipientsWish(reason: BlockReason): boolean {
  return reason === 'unsubscribe' || reason === 'complaint';
}

/** Returns the columns of a delivery that a block makes fail at `now`, before any attempt. */
export function suppressedBy(block: ActiveBlock, email: string, now: number) {
  const since = isoTime(block.createdAt);
  return {
    status: 'failed' as const,
    due_at: null,
    queued_at: null,
    failed_at: now,
    terminal_at: now,
    error_code: 'suppressed',
    error_message: `${email} is blocked (${block.reason}) since ${since}, so nothing was sent. ${
      isRecipientsWish(block.reason)
        ? 'Only the recipient can change that'
        : `If the address can receive mail again, lift the block: \`svc blocks delete ${block.id}\``
    }`,
    error_details: toJson({ blockId: block.id, reason: block.reason, blockedSince: since }),
  };
}
