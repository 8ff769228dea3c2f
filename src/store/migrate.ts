// Runs migrations: forward only, in order, one process at a time, each all or nothing. Kysely's Migrator is
// not used: it takes no lock on SQLite, and a command may start beside a daemon.
import { sql } from 'kysely';
import { UnreachableError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Db, engineOf, type Store } from './db.ts';
import type { Migration } from './migration.ts';
import { initial } from './migrations/0001-initial.ts';
import { blocks } from './migrations/0002-blocks.ts';
import { queue } from './migrations/0003-queue.ts';
import { admission } from './migrations/0004-admission.ts';
import { inboundReports } from './migrations/0005-inbound-reports.ts';
import { usage } from './migrations/0006-usage.ts';
import { dmarcReports } from './migrations/0007-dmarc-reports.ts';
import { audit } from './migrations/0009-audit.ts';
import { keyConstraints } from './migrations/0010-key-constraints.ts';
import { domainHolds } from './migrations/0011-domain-holds.ts';
import { mtaStsPolicies } from './migrations/0012-mta-sts-policies.ts';
import { reportTransactions } from './migrations/0014-report-transactions.ts';
import { lists } from './migrations/0015-lists.ts';
import { emailProjections } from './migrations/0016-email-projections.ts';
import { schedulingKeys } from './migrations/0017-scheduling-keys.ts';
import { resourceEvents } from './migrations/0018-resource-events.ts';
import { webhooks } from './migrations/0019-webhooks.ts';
import { eventLog } from './migrations/0020-event-log.ts';
import { webhookLists } from './migrations/0021-webhook-lists.ts';
import { receivingDomains } from './migrations/0022-receiving-domains.ts';
import { messageSearch } from './migrations/0023-message-search.ts';
import { messageOrigins } from './migrations/0024-message-origins.ts';
import { warming } from './migrations/0025-warming.ts';
import { tracking } from './migrations/0026-tracking.ts';
import { trackingHosts } from './migrations/0027-tracking-hosts.ts';
import { contacts } from './migrations/0028-contacts.ts';
import { unsubscribeGroups } from './migrations/0029-unsubscribe-groups.ts';
import { conversations } from './migrations/0030-conversations.ts';
import { mailboxes } from './migrations/0031-mailboxes.ts';
import { threads } from './migrations/0032-threads.ts';
import { threadSearch } from './migrations/0033-thread-search.ts';
import { contactGroups } from './migrations/0034-contact-groups.ts';
import { mailboxActions } from './migrations/0035-mailbox-actions.ts';
import { blockReasons } from './migrations/0036-block-reasons.ts';
import { threadSearchWaiting } from './migrations/0037-thread-search-waiting.ts';
import { frozenProposals } from './migrations/0040-frozen-proposals.ts';
import { draftFiles } from './migrations/0041-draft-files.ts';
import { erasures } from './migrations/0045-erasures.ts';
import { toldEngagements } from './migrations/0046-told-engagements.ts';

export const migrations: readonly Migration[] = [
  initial,
  blocks,
  queue,
  admission,
  inboundReports,
  usage,
  dmarcReports,
  audit,
  keyConstraints,
  domainHolds,
  mtaStsPolicies,
  reportTransactions,
  lists,
  emailProjections,
  schedulingKeys,
  resourceEvents,
  webhooks,
  eventLog,
  webhookLists,
  receivingDomains,
  messageSearch,
  messageOrigins,
  warming,
  tracking,
  trackingHosts,
  contacts,
  unsubscribeGroups,
  conversations,
  mailboxes,
  threads,
  threadSearch,
  contactGroups,
  mailboxActions,
  blockReasons,
  threadSearchWaiting,
  frozenProposals,
  draftFiles,
  erasures,
  toldEngagements,
];

export interface MigrationStatus {
  name: string;
  appliedAt: number | null;
}

/** Key of our lock among the server's advisory locks; an arbitrary constant. */
const advisoryLock = 7_304_025;

async function appliedMigrations(db: Db): Promise<Map<string, number>> {
  const exists =
    engineOf(db) === 'sqlite'
      ? sql<{ n: number }>`select count(*) as n from sqlite_master where name = 'migrations'`
      : sql<{
          n: number;
        }>`select count(*)::int as n from pg_class where oid = to_regclass('migrations')`;
  if (((await exists.execute(db)).rows[0]?.n ?? 0) === 0) return new Map();
  const { rows } = await sql<{ name: string; applied_at: number }>`
    select name, applied_at from migrations`.execute(db);
  return new Map(rows.map((row) => [row.name, row.applied_at]));
}

/** Whether the database is a store: it has had at least the first migration. */
export async function hasMigrations(db: Db): Promise<boolean> {
  return (await appliedMigrations(db)).size > 0;
}

/** Returns every migration that this version knows, with its time; then migrations of a newer version. */
export async function migrationStatus(db: Db): Promise<MigrationStatus[]> {
  const applied = await appliedMigrations(db);
  const known = migrations.map(({ name }) => ({ name, appliedAt: applied.get(name) ?? null }));
  const unknown = [...applied].filter(([name]) => !migrations.some((m) => m.name === name));
  return [...known, ...unknown.map(([name, appliedAt]) => ({ name, appliedAt }))];
}

/**
 * Brings the schema up to date. `beforeChange` runs first if migrations are pending and the store is not
 * empty (the SQLite snapshot).
 * @returns the names that were applied now.
 * @throws UnreachableError when the store was written by a newer version.
 */
export async function migrate(
  store: Store,
  clock: Clock,
  beforeChange: () => Promise<void>,
): Promise<string[]> {
  const applied = await appliedMigrations(store.db);
  const newer = [...applied.keys()].filter((name) => !migrations.some((m) => m.name === name));
  if (newer.length > 0) {
    throw new UnreachableError(
      `The store was written by a newer version of svc (migration ${newer.join(', ')}): start that version`,
    );
  }
  if (migrations.every(({ name }) => applied.has(name))) return [];
  if (applied.size > 0) await beforeChange();
  const run = () => store.write((trx) => runPending(trx, clock));
  return store.editingSchema ? store.editingSchema(run) : run();
}

async function runPending(trx: Db, clock: Clock): Promise<string[]> {
  if (engineOf(trx) === 'postgres')
    await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx);
  // Read again under the lock: another process may have been first.
  const done = await appliedMigrations(trx);
  const run: string[] = [];
  for (const migration of migrations) {
    if (done.has(migration.name)) continue;
    for (const text of migration.statements(engineOf(trx))) await sql.raw(text).execute(trx);
    await sql`insert into migrations (name, applied_at) values (${migration.name}, ${clock.now()})`.execute(
      trx,
    );
    run.push(migration.name);
  }
  return run;
}
