// All SQL on `mailbox_actions`. Rows only, no decisions. Each insert and each change of state also
// updates the counts of the hour.
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { inTime } from '../../platform/store/in-time.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { recordAction } from './hour-queries.ts';
import type { ActionState, ActionType } from './schema.ts';

export class ActionRow {
  id!: string;
  organization_id!: string;
  mailbox_id!: string;
  type!: ActionType;
  state!: ActionState;
  actor_kind!: 'user' | 'key' | 'installation';
  actor_id!: string;
  actor_name!: string | null;
  /** 1 if a person owns the key of the action, else 0. */
  by_person!: number;
  message_id!: string | null;
  thread_id!: string | null;
  /** JSON of the fields to display, such as recipients and subject. */
  summary!: string;
  created_at!: number;
  decided_at!: number | null;
  /** JSON (ActionActor) of the person that decided; null without a decision. */
  decided_by!: string | null;
  note!: string | null;
  /** Time at which a proposal expires, ms since 1970; null for a performed action. */
  expires_at!: number | null;
  /** JSON of the error for which the action failed, or expired early; else null. */
  failure!: string | null;
  /** SHA-256 of the proposed MIME; null unless the action was a proposal. */
  digest!: string | null;
  /** SHA-256 of the sent MIME; null unless the approver edited the mail. */
  edited_digest!: string | null;
  /** Bytes that the proposal takes until it is decided; 0 for an action without a proposal. */
  proposal_bytes!: number;
}

interface ActionTables {
  mailbox_actions: ActionRow;
}

const own = ownTables<ActionTables>();

export const actions = own.rowsOf('mailbox_actions', 'action');

const insertRows = own.bulkInsert('mailbox_actions', ActionRow);

export async function insertActions(db: Db, rows: readonly ActionRow[]): Promise<void> {
  await insertRows(db, rows);
  for (const row of rows) recordAction(db, row, row.state, 1);
}

/** Tells whether an action is a proposal that still waits for a decision. */
export async function isProposed(db: Db, id: string): Promise<boolean> {
  const row = await tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .select('state')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.state === 'proposed';
}

/**
 * Moves an action from the state `from` to `change.state`. Returns false if the action is in a
 * different state: of two concurrent callers only the first succeeds.
 */
export async function moveAction(
  db: Db,
  row: Pick<ActionRow, 'id' | 'mailbox_id' | 'type'>,
  from: ActionState,
  change: Partial<ActionRow> & Pick<ActionRow, 'state'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tables<ActionTables>(db)
    .updateTable('mailbox_actions')
    .set(change)
    .where('id', '=', row.id)
    .where('state', '=', from)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  recordAction(db, row, from, -1);
  recordAction(db, row, change.state, 1);
  return true;
}

/** Filter of a list of actions. */
export interface ActionFilter {
  state?: ActionState | undefined;
  type?: ActionType | undefined;
  actor?: string | undefined;
  /** Bounds of the time of creation, ms since 1970: `from` is included, `to` is not. */
  span?: { from: number | undefined; to: number | undefined };
}

/** The actions of a mailbox, or the actions of an organization that fit a condition. */
export type ActionScope = { organizationId: string } & (
  | { mailboxId: string }
  | { where: Expression<SqlBool> }
);

/**
 * Returns the conditions of a span. `+ 0` prevents the use of the index by age, which would lead to
 * the actions of all organizations.
 */
function conditionsOf(db: Db, span: ActionFilter['span']): RawBuilder<SqlBool>[] {
  if (!span) return [];
  const { from, to } = span;
  return [
    ...inTime(db),
    ...(from === undefined ? [] : [sql<SqlBool>`created_at + 0 >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`created_at + 0 < ${to}`]),
  ];
}

/** Returns up to `limit` actions of a scope that match the filter, below the id `before`. */
export function selectActions(
  db: Db,
  scope: ActionScope,
  { state, type, actor, span }: ActionFilter,
  before: string | undefined,
  limit: number,
): Promise<ActionRow[]> {
  const isFiltered = [state, type, actor].some((value) => value !== undefined);
  // Omits the organization in a filter by mailbox: SQLite would use the index of the organization.
  const isOrganizationNamed = !('mailboxId' in scope && isFiltered);
  return tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .selectAll()
    .$if(isOrganizationNamed, (query) => query.where('organization_id', '=', scope.organizationId))
    .$call((query) =>
      'mailboxId' in scope
        ? query.where('mailbox_id', '=', scope.mailboxId)
        : query.where(scope.where),
    )
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'proposed'))
    .$if(type !== undefined, (query) => query.where('type', '=', type ?? 'reply'))
    .$if(actor !== undefined, (query) => query.where('actor_id', '=', actor ?? ''))
    .$call((query) => conditionsOf(db, span).reduce((all, one) => all.where(one), query))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Returns count, bytes and earliest expiry of the open proposals in a mailbox. */
export async function countOpen(
  db: Db,
  mailboxId: string,
): Promise<{ count: number; bytes: number; firstExpiry: number | null }> {
  const { bytes, ...open } = await tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.sum<number | string | null>('proposal_bytes').as('bytes'),
      fn.min<number | null>('expires_at').as('firstExpiry'),
    ])
    .where('mailbox_id', '=', mailboxId)
    .where('state', '=', 'proposed')
    .executeTakeFirstOrThrow();
  return { ...open, bytes: Number(bytes) };
}

/** Returns the ms from proposal to decision, for the last `limit` decisions in a mailbox. */
export async function selectDecisionTimes(
  db: Db,
  mailboxId: string,
  limit: number,
): Promise<number[]> {
  const rows = await tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .select(['created_at', 'decided_at'])
    .where('mailbox_id', '=', mailboxId)
    .where('decided_at', 'is not', null)
    .orderBy('decided_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => (row.decided_at ?? 0) - row.created_at);
}

/** Returns the open proposals of an actor, in the order in which they are locked. */
export function selectProposalsOf(
  db: Db,
  organizationId: string,
  actorId: string,
): Promise<Pick<ActionRow, 'id' | 'mailbox_id' | 'type'>[]> {
  return tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .select(['id', 'mailbox_id', 'type'])
    .where('organization_id', '=', organizationId)
    .where('actor_id', '=', actorId)
    .where('state', '=', 'proposed')
    .orderBy('id')
    .execute();
}

/** Returns the next expiry of a proposal; null if none is open. Ms since 1970. */
export async function nextExpiryAt(db: Db): Promise<number | null> {
  const row = await tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .select('expires_at')
    .where('state', '=', 'proposed')
    .where('expires_at', 'is not', null)
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst();
  return row?.expires_at ?? null;
}

/** Returns proposals past their expiry, the earliest expiry first. */
export function selectExpired(db: Db, now: number, limit: number): Promise<ActionRow[]> {
  return tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .selectAll()
    .where('state', '=', 'proposed')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

/** Counts actions by type and state, for ids from `from` to before `to`. */
export function countActions(
  db: Db,
  organizationId: string,
  mailboxId: string,
  from: string,
  to: string,
): Promise<{ name: string; state: string; count: number }[]> {
  return tables<ActionTables>(db)
    .selectFrom('mailbox_actions')
    .select(['type as name', 'state'])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('mailbox_id', '=', mailboxId)
    .where('id', '>=', from)
    .where('id', '<', to)
    .groupBy(['type', 'state'])
    .execute();
}

const sentByServices = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('mailbox_actions')
    .select('message_id')
    .where('message_id', ...isOneOf(db, ids))
    .where('message_id', 'is not', null)
    .where('by_person', '=', 0)
    .where('decided_at', 'is', null)
    .$castTo<{ message_id: string }>(),
);

/** Returns the ids, among these, of messages that programs sent without a person's approval. */
export async function selectSentByServices(
  db: Db,
  messageIds: readonly string[],
): Promise<string[]> {
  if (messageIds.length === 0) return [];
  const rows = await sentByServices(db, messageIds);
  return rows.map(({ message_id }) => message_id);
}

/** Erases names of actors, and of persons in `decided_by`. */
export const eraseActionNames = own.namesIn('mailbox_actions', {
  actor_id: 'actor_name',
  decided_by: 'decided_by',
});
