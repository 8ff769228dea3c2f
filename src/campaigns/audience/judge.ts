// Judges candidates of a run in the transaction that makes their messages: whether they are still
// in the audience, and whether a reason forbids the mail. The first reason of `skipReasons` counts.
import { hash } from 'node:crypto';
import { pendingAmong } from '../../consent/opt-in/queries.ts';
import { findActiveBlocks, findGroupBlocksAmong } from '../../people/blocks/queries.ts';
import type { BlockReason } from '../../people/blocks/schema.ts';
import { matchesAmong } from '../../people/contacts/condition-queries.ts';
import { membersAmong } from '../../people/contacts/groups/queries.ts';
import { type ForRunRow, findForRun } from '../../people/contacts/queries.ts';
import type { PreferencesInput, ProfileInput } from '../../people/contacts/schema.ts';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { addressKeysAmong, judgedAmong } from '../../run-ledger/queries.ts';
import type { SkipReason } from '../../run-ledger/schema.ts';
import { askedOf } from './queries.ts';
import type { AudienceSnapshot } from './schema.ts';

/** The run for which contacts are judged. */
export interface Question {
  organizationId: string;
  runId: string;
  /** Null for a run to given contacts: the audience includes each of them. */
  audience: AudienceSnapshot | null;
  unsubscribeGroupId: string | null;
  /** Runs that exclude contacts: a contact judged in any of them is not in the audience. */
  omitRunIds: readonly string[];
  /** Contacts known to match a query of the audience (readMatches). */
  matching?: ReadonlySet<string>;
}

/** A contact that gets a message. */
export interface Recipient {
  contactId: string;
  skip: null;
  /** Address and name, for the message. */
  email: string;
  name: string | null;
  updatedAt: number;
  /** Hash of the address, for the ledger. */
  addressKey: number;
  quietHours: { start: string; end: string } | null;
  timezone: string | null;
}

export type Judged = { contactId: string; skip: SkipReason } | Recipient;

/** Returns the hash of an address, by `foldAddress`: the first 52 bits of the SHA-256. */
export function addressKeyOf(foldedAddress: string): number {
  return Number.parseInt(hash('sha256', foldedAddress, 'hex').slice(0, 13), 16);
}

/** Facts about the candidates beyond their rows. */
interface Facts {
  /** Reasons of all blocks that stop the mail, by folded address. */
  blocks: ReadonlyMap<string, readonly BlockReason[]>;
  pending: ReadonlySet<string>;
  /** Tags in folded form. */
  excludedTags: ReadonlySet<string>;
  /** Hashes of the addresses that already have a message of the run. */
  addressKeys: Set<number>;
}

const foldedTagsOf = (row: ForRunRow) => (fromJson<string[]>(row.tags) ?? []).map(foldCase);

/** Returns the rows of contacts that the audience still includes. */
async function withinAudience(
  trx: Db,
  { organizationId, audience, omitRunIds, matching }: Question,
  rows: readonly ForRunRow[],
): Promise<readonly ForRunRow[]> {
  const idsOf = (some: readonly ForRunRow[]) => some.map(({ id }) => id);
  const omitted = omitRunIds.length > 0 ? await judgedAmong(trx, omitRunIds, idsOf(rows)) : [];
  const left = rows.filter(({ id }) => !omitted.includes(id));
  if (audience === null) return left;
  const tags = new Set(audience.includeTags.map(foldCase));
  const named = new Set(audience.contactIds);
  const isNamed = (row: ForRunRow) =>
    named.has(row.id) || foldedTagsOf(row).some((tag) => tags.has(tag));
  const found = new Set(idsOf(left.filter(isNamed)));
  const others = () => idsOf(left).filter((id) => !found.has(id));
  if (audience.groupIds.length > 0 && others().length > 0) {
    for (const id of await membersAmong(trx, audience.groupIds, others())) found.add(id);
  }
  if (audience.queries.length > 0 && others().length > 0) {
    const asked = askedOf(organizationId, audience);
    const matches = matching ?? (await matchesAmong(trx, asked, others()));
    for (const id of matches) found.add(id);
  }
  return left.filter(({ id }) => found.has(id));
}

async function blocksOn(
  trx: Db,
  { organizationId, unsubscribeGroupId }: Question,
  addresses: readonly string[],
): Promise<Facts['blocks']> {
  const ofAll = await findActiveBlocks(trx, organizationId, addresses);
  const asked = addresses.map((one) => [organizationId, one, unsubscribeGroupId ?? ''] as const);
  const ofGroup = unsubscribeGroupId === null ? [] : await findGroupBlocksAmong(trx, asked);
  const reasons = new Map<string, BlockReason[]>();
  for (const { folded_address, reason } of [...ofAll, ...ofGroup]) {
    reasons.set(folded_address, [...(reasons.get(folded_address) ?? []), reason]);
  }
  return reasons;
}

async function factsOf(trx: Db, question: Question, rows: readonly ForRunRow[]): Promise<Facts> {
  const { runId, unsubscribeGroupId, audience } = question;
  const addresses = rows.flatMap(({ folded_email }) => folded_email ?? []);
  const ids = rows.map(({ id }) => id);
  const pending =
    unsubscribeGroupId === null
      ? new Set<string>()
      : await pendingAmong(trx, unsubscribeGroupId, ids);
  const keys = await addressKeysAmong(trx, runId, addresses.map(addressKeyOf));
  return {
    blocks: await blocksOn(trx, question, addresses),
    pending,
    excludedTags: new Set(audience?.excludeTags.map(foldCase)),
    addressKeys: new Set(keys.flatMap((key) => key ?? [])),
  };
}

function judge(row: ForRunRow, facts: Facts): Judged {
  const { id: contactId, email, folded_email: folded, updated_at: updatedAt } = row;
  const skipped = (skip: SkipReason): Judged => ({ contactId, skip });
  const { notifications, timezone } = fromJson<PreferencesInput>(row.preferences) ?? {};
  if (foldedTagsOf(row).some((tag) => facts.excludedTags.has(tag))) return skipped('excluded');
  if (row.is_archived === 1) return skipped('archived');
  if (email === null || folded === null) return skipped('no-address');
  const reasons = facts.blocks.get(folded) ?? [];
  if (reasons.some((reason) => reason !== 'unsubscribe')) return skipped('blocked');
  if (reasons.length > 0) return skipped('unsubscribed');
  if (facts.pending.has(contactId)) return skipped('pending');
  if (notifications?.email === false) return skipped('preference');
  const addressKey = addressKeyOf(folded);
  if (facts.addressKeys.has(addressKey)) return skipped('duplicate');
  facts.addressKeys.add(addressKey);
  const quietHours = notifications?.quiet_hours ?? null;
  const ofProfile = () => fromJson<ProfileInput>(row.profile)?.location?.timezone ?? null;
  return {
    contactId,
    skip: null,
    email,
    name: row.name,
    updatedAt,
    addressKey,
    quietHours,
    timezone: timezone ?? ofProfile(),
  };
}

/**
 * Judges contacts, in the order of ids. Leaves out contacts that are deleted or no longer in the
 * audience. On PostgreSQL it locks the contacts against deletion.
 */
export async function judgeContacts(
  trx: Db,
  question: Question,
  ids: readonly string[],
): Promise<Judged[]> {
  const known = await findForRun(trx, question.organizationId, ids);
  const rows = await withinAudience(trx, question, known);
  if (rows.length === 0) return [];
  const facts = await factsOf(trx, question, rows);
  return rows.map((row) => judge(row, facts));
}
