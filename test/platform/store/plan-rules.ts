// Query plans of the engines and their scans: a statement may enter the tables that grow with the
// mail only by an index that leads to the requested rows, not to all of an organization.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { App } from '../../../src/core/app.ts';
import type { Query } from '../../support/watched-queries.ts';

/** Entry of a plan into a table: the columns by which it uses an index; none for a scan. */
interface Entry {
  table: string;
  columns: readonly string[];
  index: string;
  /** The step in the words of the engine. */
  words: string;
  /** True if the rows are sorted after the read. */
  isSorted: boolean;
}

/** Allowed entries of each table: all columns of one of the lists, and others. */
const ways: Readonly<Record<string, readonly (readonly string[])[]>> = {
  messages: [
    ['id'],
    ['organization_id', 'direction', 'status'],
    ['organization_id', 'conversation_id'],
  ],
  recipients: [['message_id'], ['contact_id']],
  deliveries: [
    ...[['id'], ['message_id'], ['turn'], ['due_at'], ['lane'], ['claimed_by'], ['sent_at']],
    // At most 5,000 of a run are in the queue, which its index covers.
    ['campaign_run_id'],
  ],
  events: [['message_id'], ['organization_id', 'id']],
  email_projections: [['message_id'], ['due_at']],
  threads: [['id'], ['mailbox_id', 'folder', 'is_read', 'is_starred']],
  thread_messages: [['message_id'], ['thread_id']],
  thread_references: [['mailbox_id', 'message_id_hash'], ['thread_id']],
  shared_references: [['mailbox_id', 'message_id_hash'], ['thread_id']],
  further_message_ids: [['left_half'], ['message_id']],
  thread_labels: [['thread_id'], ['mailbox_id', 'folded']],
  thread_notes: [['id'], ['thread_id']],
  thread_search: [['rowid'], ['message_id'], ['words']],
  drafts: [['id'], ['thread_id'], ['mailbox_id']],
  message_search: [['organization_id', 'kind', 'value']],
  blocks: [['id'], ['organization_id', 'reason'], ['organization_id', 'folded_address']],
  contacts: [['id'], ['organization_id', 'external_id'], ['organization_id', 'updated_at']],
  contact_identities: [['contact_id'], ['organization_id', 'folded_identifier']],
  contact_tags: [['organization_id', 'tag']],
  conversations: [['id'], ['organization_id', 'external_id']],
  conversation_tags: [['organization_id', 'tag']],
  conversation_contacts: [['conversation_id'], ['contact_id']],
  contact_words: [['organization_id', 'word']],
  webhook_deliveries: [
    ['id'],
    ['endpoint_id', 'status'],
    ['endpoint_id', 'is_replay'],
    ['message_id'],
    ['claimed_by'],
    ['created_at'],
  ],
  mailbox_actions: [
    ['id'],
    ['organization_id', 'mailbox_id'],
    ['mailbox_id', 'state'],
    ['mailbox_id', 'type'],
    ['mailbox_id', 'actor_id'],
    ['organization_id', 'state'],
    ['organization_id', 'type'],
    ['organization_id', 'actor_id'],
    ['message_id'],
    ['mailbox_id', 'decided_at'],
  ],
  mailbox_hours: [['mailbox_id', 'hour']],
  webhook_attempts: [['id'], ['delivery_id'], ['at']],
};

/** Indexes of queued rows alone: they leave out ended ones, which are nearly all. */
const queueIndexes = [
  'deliveries_ready',
  'deliveries_due',
  'deliveries_unconfirmed',
  'email_projections_due',
];

/** Indexes of few rows, nearly all of them wanted. */
const fewIndexes = ['contacts_archived', 'mailbox_actions_open'];

/** Tables that are read in full for one owner, page by page. */
const wholly: Readonly<Record<string, string>> = { webhook_deliveries: 'endpoint_id' };

/** Indexes in the order of a list: good for a page read in that order, and for single rows. */
const listIndexes = [
  'events_in_order',
  'contacts_of_organization',
  'conversations_of_organization',
  'conversations_by_status',
  'threads_snoozed',
  'mailbox_actions_of_all',
  // PostgreSQL takes it for an organization that has nearly all actions, as its statistics say
  // here.
  'mailbox_actions_pkey',
];
const isByIds = (words: string) => /\bid ?= ?(\?|\$|ANY|')/.test(words);

/** Ways to an unbounded number of rows: good only for a page in the order of the index. */
const ranges: Readonly<Record<string, string>> = {
  messages: 'status',
  blocks: 'reason',
  threads: 'folder',
  thread_labels: 'folded',
  webhook_deliveries: 'status',
};

/** Columns that bound a count of a range. */
const bounds = ['created_at', 'folded_address', 'conversation_id', 'event_type', 'id'];

function faultOf(
  { text }: Query,
  { table, index, columns, words, isSorted }: Entry,
): string | null {
  const allowed = ways[table];
  if (!allowed) return null;
  if (queueIndexes.includes(index) && /limit/i.test(text)) return null;
  if (fewIndexes.includes(index)) return null;
  const isBatch = columns.includes(wholly[table] ?? '-') && /limit/i.test(text) && !isSorted;
  if (isBatch) return null;
  const isPage = /limit/i.test(text) && !isSorted;
  if (listIndexes.includes(index) && (isByIds(words) || isPage)) return null;
  if (!allowed.some((way) => way.every((column) => columns.includes(column)))) return words;
  if (!columns.includes(ranges[table] ?? '-')) return null;
  if (isSorted && !columns.includes('created_at')) return `${words}, sorted`;
  // Each blocked person has to be looked up, and they are few beside all.
  if (/contact_identities/i.test(text)) return null;
  const isCounted = /count\(/i.test(text) && !columns.some((column) => bounds.includes(column));
  return isCounted ? `${words}, counted` : null;
}

export interface Planner {
  /** Returns the scans in the plans of a statement. */
  faults(query: Query): Promise<string[]>;
  close(): Promise<void>;
}

export async function plannerOf({ config }: App): Promise<Planner> {
  const isSqlite = config.database.url.startsWith('sqlite:');
  return isSqlite
    ? sqlitePlanner(join(config.dataDir, 'svc.db'))
    : postgresPlanner(config.database.url);
}

/** Plans from the definitions, because the service gives SQLite no row counts. */
function sqlitePlanner(file: string): Planner {
  const database = new Database(file, { readonly: true });
  const entriesOf = ({ text, values }: Query): Entry[] => {
    const statement = database.prepare<unknown[], { detail: string }>(`explain query plan ${text}`);
    const details = statement.all(...values).map(({ detail }) => detail);
    const isSorted = details.some((detail) =>
      /TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/.test(detail),
    );
    return details.flatMap((words) => {
      const [, table = '', index = '', condition = ''] =
        /^(?:SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?INDEX (\w+))?(?:.*?\((.*)\))?/.exec(words) ??
        [];
      const columns = [...condition.matchAll(/(\w+)\s*[=<>]/g)].map(([, column = '']) => column);
      return table === '' ? [] : [{ table, index, columns, words, isSorted }];
    });
  };
  return {
    faults: async (query) => entriesOf(query).flatMap((entry) => faultOf(query, entry) ?? []),
    async close() {
      database.close();
    },
  };
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'TID Cond'?: string;
  Plans?: PlanNode[];
}

/** Plans from the statistics of the rows, for these values and for any. */
async function postgresPlanner(url: string): Promise<Planner> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const explain = async (options: string, text: string, values: readonly unknown[]) => {
    const asked = { text: `explain (format json${options}) ${text}`, values: [...values] };
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(asked);
    return rows[0]?.['QUERY PLAN'][0]?.Plan;
  };
  return {
    async faults(query) {
      const { text, values } = query;
      const plans = [
        await explain('', text, values),
        ...(values.length > 0 ? [await explain(', generic_plan', text, [])] : []),
      ];
      const entries = plans.flatMap((plan) => (plan ? entriesIn(plan, false, '') : []));
      return [...new Set(entries.flatMap((entry) => faultOf(query, entry) ?? []))];
    },
    close: () => client.end(),
  };
}

function entriesIn(node: PlanNode, isSorted: boolean, above: string): Entry[] {
  const type = node['Node Type'];
  const table = node['Relation Name'] ?? above;
  const condition = node['Index Cond'] ?? node['TID Cond'] ?? '';
  // "(organization_id = $1) AND (created_at >= $2)": the words before an operator.
  const columns = [...condition.matchAll(/(\w+)\)?(?:::text)? (?:=|<|>|<=|>=|IS NOT|@@) /g)].map(
    ([, column = '']) => column,
  );
  const below = (node.Plans ?? []).flatMap((plan) =>
    entriesIn(plan, isSorted || /Sort/.test(type), type === 'Bitmap Heap Scan' ? table : ''),
  );
  const isEntry = /^(Seq Scan|Index|Bitmap Index|Tid)/.test(type);
  const words = `${type} of ${table} by ${condition || 'nothing'}`;
  const index = node['Index Name'] ?? '';
  return [...(isEntry ? [{ table, index, columns, words, isSorted }] : []), ...below];
}
