// SQL for estimates of an audience: decides for many contacts at once whether each gets a message,
// or the reason that it is skipped. The reasons and their order are as in a run
// (src/campaigns/audience/judge.ts).
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../platform/store/db.ts';
import { inTime } from '../../platform/store/in-time.ts';
import type { SkipReason } from '../../run-ledger/schema.ts';
import { blockedAddresses, hasBlock } from '../blocks/queries.ts';
import { type ContactRange, tagCondition } from './condition-queries.ts';

type Condition = RawBuilder<SqlBool>;

export interface FateQuestion {
  organizationId: string;
  excludeTags: readonly string[];
  unsubscribeGroupId: string | null;
  /** Returns the condition that the contact with this id has yet to confirm the group. */
  isPending: (id: RawBuilder<unknown>) => Condition;
}

/** The contacts that are judged: a select of ids within a range, and an optional condition. */
interface Among {
  ids: RawBuilder<unknown>;
  range: ContactRange;
  where?: Condition;
}

// Every table gets the range: without it, PostgreSQL reads the whole table for each slice.
const within = (id: RawBuilder<unknown>, { after, until }: ContactRange): Condition =>
  sql`${id} > ${after} and ${id} <= ${until}`;

// A search in the text suffices: our code writes this JSON without spaces, and escapes quotes.
const wantsNoMail = sql<SqlBool>`contacts.preferences like '%"email":false%'`;

const address = sql`first.folded_identifier`;

/** Lists the reasons to skip a contact, in order, with the SQL conditions for each. */
function reasonsOf(db: Db, question: FateQuestion): [SkipReason, Condition][] {
  const { organizationId, excludeTags, unsubscribeGroupId: groupId } = question;
  const ofAll = { groupId: null };
  const has = (which: Parameters<typeof hasBlock>[2]) => hasBlock(organizationId, address, which);
  const reasons: [SkipReason, Condition][] = [
    ...excludeTags.map((tag): [SkipReason, Condition] => [
      'excluded',
      tagCondition(db, organizationId, tag),
    ]),
    ['archived', sql`contacts.is_archived = 1`],
    ['no-address', sql`${address} is null`],
    ['blocked', has({ ...ofAll, isUnsubscribe: false })],
  ];
  if (groupId !== null) reasons.push(['blocked', has({ groupId, isUnsubscribe: false })]);
  reasons.push(['unsubscribed', has({ ...ofAll, isUnsubscribe: true })]);
  if (groupId !== null) {
    reasons.push(['unsubscribed', has({ groupId, isUnsubscribe: true })]);
    reasons.push(['pending', question.isPending(sql`contacts.id`)]);
  }
  reasons.push(['preference', wantsNoMail]);
  return reasons;
}

/**
 * Returns selects of the contacts in a range that are archived, have no address, have a block or
 * want no mail: a select for each reason. Such contacts are few.
 */
export function specialIdsIn(
  { organizationId, unsubscribeGroupId }: Omit<FateQuestion, 'isPending'>,
  range: ContactRange,
): RawBuilder<unknown>[] {
  const ofRange = within(sql`first.contact_id`, range);
  const contacts = sql`select contacts.id as id from contacts
    where contacts.organization_id = ${organizationId} and ${within(sql`contacts.id`, range)}`;
  // `cross join` keeps SQLite from reading all addresses for a few blocks.
  const blocked = (groupId: string | null) => sql`select first.contact_id as id
    from (${blockedAddresses(organizationId, groupId)}) blocked cross join contact_identities first
    where first.organization_id = ${organizationId} and first.position = 0
    and first.folded_identifier = blocked.folded_address and ${ofRange}`;
  return [
    sql`${contacts} and contacts.is_archived = 1`,
    sql`${contacts} and ${wantsNoMail}`,
    sql`${contacts} and not exists (select 1 from contact_identities first
      where first.contact_id = contacts.id and first.position = 0 and ${ofRange})`,
    blocked(null),
    ...(unsubscribeGroupId === null ? [] : [blocked(unsubscribeGroupId)]),
  ];
}

/** Counts contacts by the reason that skips them; null for contacts that get a message. */
export async function countFatesOf(
  db: Db,
  question: FateQuestion,
  { ids, range, where }: Among,
): Promise<{ fate: SkipReason | null; count: number }[]> {
  const cases = reasonsOf(db, question).map(([fate, is]) => sql`when ${is} then ${sql.lit(fate)}`);
  const conditions = [...inTime(db), within(sql`contacts.id`, range), ...(where ? [where] : [])];
  const { rows } = await sql<{ fate: SkipReason | null; count: number }>`
    select fate, count(*) as count from (
      select case ${sql.join(cases, sql` `)} end as fate
      from (${ids}) included
      join contacts on contacts.id = included.id
      left join contact_identities first on first.contact_id = contacts.id and first.position = 0
        and ${within(sql`first.contact_id`, range)}
      where ${sql.join(conditions, sql` and `)}
    ) judged group by fate`.execute(db);
  return rows;
}
