// A large store for the walk of held-turns.test.ts: copies of the resources of an organization by
// SQL, on SQLite.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { App } from '../../src/core/app.ts';
import type { Growth } from './largest-rows.ts';
import { inThread, runOf } from './permission-rows.ts';
import type { Side } from './permission-world.ts';

/** Rows of tables that few requests walk, as a part of all rows. */
const partOfRows = 10;
/** Messages in one thread: several transactions of its deletion. */
const messagesOfThread = 2_000;

/** SQL for the value with the number of its copy in its last characters. */
const numbered = (column: string) =>
  `substr("${column}", 1, length("${column}") - 8) || printf('%08d', n.i)`;

const day = 86_400_000;

/** Copies of a message with all its rows; `i` numbers them. */
function copiesOfMessage(id: string, copies: number): Growth[] {
  const ofMessage = `message_id = '${id}'`;
  const unique = { message_id: numbered('message_id'), id: numbered('id') };
  return [
    {
      table: 'messages',
      where: `id = '${id}'`,
      unique: { id: numbered('id'), created_at: 'created_at - n.i' },
      copies,
    },
    { table: 'recipients', where: ofMessage, unique, copies },
    { table: 'events', where: ofMessage, unique, copies },
    {
      table: 'message_search',
      where: ofMessage,
      unique: { message_id: numbered('message_id'), created_at: 'created_at - n.i' },
      copies,
    },
  ];
}

function growthsOf(side: Side, rows: number): Growth[] {
  const { shared, organizationId } = side;
  const { threadId, messageId } = inThread(side, null);
  const { runId } = runOf(side, null);
  const part = rows / partOfRows;
  const contact = { contact_id: numbered('contact_id') };
  const ofContact = `contact_id = '${shared.contact}'`;
  return [
    {
      table: 'contacts',
      where: `id = '${shared.contact}'`,
      unique: { id: numbered('id'), external_id: 'null' },
      copies: rows,
    },
    {
      table: 'contact_identities',
      where: ofContact,
      unique: {
        ...{ ...contact, id: numbered('id') },
        ...{ folded_identifier: "'p' || n.i || '@large.example'" },
        identifier: "'p' || n.i || '@large.example'",
      },
      copies: rows,
    },
    { table: 'contact_tags', where: ofContact, unique: contact, copies: rows },
    { table: 'contact_group_members', where: ofContact, unique: contact, copies: rows },
    {
      table: 'campaign_recipients',
      where: `run_id = '${runId}'`,
      unique: { ...contact, address_key: 'null' },
      copies: part,
    },
    ...copiesOfMessage(shared.message, rows),
    {
      table: 'deliveries',
      where: `message_id = '${shared.message}'`,
      unique: {
        ...{ message_id: numbered('message_id'), id: numbered('id') },
        ...{ status: "'delivered'", due_at: 'null', terminal_at: 'created_at', turn: 'null' },
      },
      copies: rows,
    },
    ...copiesOfMessage(messageId, messagesOfThread),
    {
      table: 'email_projections',
      where: `message_id = '${messageId}'`,
      unique: { message_id: numbered('message_id') },
      copies: messagesOfThread,
    },
    {
      table: 'thread_messages',
      where: `message_id = '${messageId}'`,
      unique: { message_id: numbered('message_id'), at: 'at - n.i' },
      copies: messagesOfThread,
    },
    {
      table: 'threads',
      where: `id = '${threadId}'`,
      unique: { id: numbered('id'), last_activity_at: 'last_activity_at - n.i' },
      copies: part,
    },
    {
      table: 'resource_events',
      where: `organization_id = '${organizationId}' and subject = '${shared.mailbox}'`,
      unique: { id: numbered('id') },
      copies: rows,
    },
    {
      table: 'webhook_deliveries',
      where: `id = '${side.webhookDelivery}'`,
      unique: { id: numbered('id'), event_id: numbered('event_id') },
      copies: rows,
    },
    {
      table: 'blocks',
      where: `id = '${shared.block}'`,
      unique: {
        ...{ id: numbered('id'), address: "'b' || n.i || '@large.example'" },
        folded_address: "'b' || n.i || '@large.example'",
      },
      copies: part,
    },
    {
      table: 'conversations',
      where: `id = '${shared.conversation}'`,
      unique: { id: numbered('id'), external_id: 'null' },
      copies: part,
    },
    {
      table: 'audit_entries',
      where: `id = (select min(id) from audit_entries where organization_id = '${organizationId}')`,
      unique: { id: numbered('id'), created_at: `created_at - ${day} + n.i` },
      copies: part,
    },
  ];
}

/**
 * Adds copies of the resources of an organization: this many contacts, messages and events, and
 * more. A connection of its own without checks of foreign keys, and with a large cache, takes half
 * the time of the store's.
 */
export async function fillStore({ config }: App, side: Side, rows: number): Promise<void> {
  const { contactGroup, contact } = side.shared;
  await side.api.post(`/v1/contact-groups/${contactGroup}/members`, { contactIds: [contact] });
  const database = new Database(join(config.dataDir, 'svc.db'));
  try {
    database.pragma('foreign_keys = OFF');
    database.pragma('cache_size = -400000');
    database.pragma('synchronous = OFF');
    database.exec('begin immediate');
    database
      .prepare(`insert into campaign_recipients (run_id, contact_id, outcome, created_at)
        values (?, ?, 'failed', 0)`)
      .run(runOf(side, null).runId, contact);
    for (const growth of growthsOf(side, rows)) addCopies(database, growth);
    database.exec('commit');
  } finally {
    database.close();
  }
}

function addCopies(database: Database.Database, { table, where, unique, copies }: Growth): void {
  const columns = database.prepare('select name from pragma_table_info(?)').pluck().all(table);
  const names = columns.map((name) => `"${name}"`).join(', ');
  const values = columns.map((name) => unique[String(name)] ?? `t."${name}"`).join(', ');
  const { changes } = database
    .prepare(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${copies})
      insert into ${table} (${names}) select ${values} from ${table} as t, n where ${where}`,
    )
    .run();
  if (changes < (copies ?? 0)) throw new Error(`no rows of ${table} to copy`);
}
