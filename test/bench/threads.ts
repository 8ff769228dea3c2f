// The cost of mailboxes, by hand: npx node test/bench/threads.ts [parsed] [pages] [activity] [--rows N].
// Without words all of it. Figures are printed, never asserted:
//
//   part     | measures                                                              | target
//   ---------+-----------------------------------------------------------------------+------------------------
//   parsed   | received mails of 10 KB, until they are searchable threads            | 1,200 a second
//   pages    | of 1,000,000 messages in 300,000 threads of one mailbox, both engines | 5 ms; `q` rare 20 ms,
//            |                                                                       | in a tenth of all 300 ms
//   activity | agent-activity over 1,000,000 actions, both engines                   | 10 ms
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { findOrganizationByName } from '../../src/access/organizations/queries.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { agentActivity } from '../../src/inbox/approvals/activity.ts';
import { type ActionRow, insertActions } from '../../src/inbox/approvals/queries.ts';
import { activityQuery } from '../../src/inbox/approvals/schema.ts';
import {
  insertThreadMessages,
  insertThreads,
  type ThreadMessageRow,
  type ThreadRow,
} from '../../src/inbox/threads/queries.ts';
import { listThreadsQuery } from '../../src/inbox/threads/schema.ts';
import { insertDocuments } from '../../src/inbox/threads/search-queries.ts';
import { listThreads } from '../../src/inbox/threads/threads.ts';
import {
  findMessageRow,
  insertMessages,
  type MessageRow,
} from '../../src/outbound/messages/queries.ts';
import { wordsOfDocument } from '../../src/platform/full-text/document.ts';
import { firstIdAt } from '../../src/platform/runtime/ids.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import type { Db } from '../../src/platform/store/db.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { arrive, mailboxOf } from '../inbox/threads/mails.ts';
import { postgresSchema, startPostgres } from '../support/postgres.ts';
import { benchInbound } from './inbound.ts';
import { median, say, showProgress } from './progress.ts';
import { textOf } from './svc-contender.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '1000000' } },
});
const rows = Number(values.rows);
const isWanted = (part: string) => positionals.length === 0 || positionals.includes(part);
const perTransaction = 2_048;
const asked = 15;
const hourMs = 3_600_000;
/** Messages with the rare word. */
const rare = 20;

interface World {
  app: App;
  caller: Caller;
  mailboxId: string;
  now: number;
}

/** A new store of each engine. */
async function onBoth(work: (world: World) => Promise<void>): Promise<void> {
  const server = await startPostgres();
  for (const engine of ['sqlite', 'postgres'] as const) {
    const schema = engine === 'postgres' ? await postgresSchema(server.url) : null;
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-threads-'));
    const overrides = {
      dataDir,
      database: { url: schema?.url ?? 'sqlite:svc.db' },
      smtp: { inbound: { trustedNetworks: ['127.0.0.1'] } },
    };
    const { config } = loadConfig({ env: {}, cwd: dataDir, overrides });
    const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
    try {
      await firstStart(app);
      const { id = '' } = (await findOrganizationByName(app.store.db, 'default')) ?? {};
      const mailboxId = await mailboxOf(app);
      say(`${engine}, load ${loadavg()[0]?.toFixed(1)}:`);
      await work({ app, caller: operatorOf(id), mailboxId, now: app.clock.now() });
    } finally {
      await app.close();
      await schema?.drop();
      rmSync(dataDir, { recursive: true });
    }
  }
  await server.stop();
}

/** Writes `count` rows in batches, and prints the progress. */
async function fill(
  { app }: World,
  count: number,
  what: string,
  write: (trx: Db, numbers: readonly number[]) => Promise<void>,
): Promise<void> {
  const started = performance.now();
  let done = showProgress(what);
  for (let first = 0; first < count; first += perTransaction) {
    const numbers = Array.from(
      { length: Math.min(perTransaction, count - first) },
      (_, i) => first + i,
    );
    await app.store.write((trx) => write(trx, numbers), 'soon');
    if (first % (perTransaction * 16) === 0) {
      done();
      done = showProgress(`${what}: ${first} of ${count}`);
    }
  }
  done();
  say(`  ${count} ${what} in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

async function time(label: string, work: () => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  await work();
  for (let run = 0; run < asked; run++) {
    const started = performance.now();
    await work();
    took.push(performance.now() - started);
  }
  const [best, worst] = [Math.min(...took), Math.max(...took)].map((ms) => ms.toFixed(1));
  say(`  ${label}: ${median(took).toFixed(1)} ms, at best ${best}, at most ${worst}`);
}

/** Returns the words of the message with this number. */
function wordsOf(number: number): string {
  const frequent = number % 10 === 0 ? ' tenth' : '';
  const seldom = number % Math.floor(rows / rare) === 7 ? ' seldom' : '';
  return `Hello there, the order ${number} is on its way to you${frequent}${seldom}`;
}

async function fillMailbox(world: World): Promise<void> {
  const { app, caller, mailboxId, now } = world;
  const { organizationId } = caller;
  const threads = Math.floor((rows * 3) / 10);
  const message = await findMessageRow(app.store.db, await arrive(app));
  if (!message) throw new Error('the template was not stored');
  const at = (number: number) =>
    now - 90 * 24 * hourMs + Math.floor((90 * 24 * hourMs * number) / rows);
  const threadIds: string[] = [];
  await fill(world, threads, 'threads', async (trx, numbers) => {
    const made = numbers.map((number): ThreadRow => {
      const time = at((number + 0.5) * (rows / threads));
      const id = app.newId('thread');
      threadIds[number] = id;
      return {
        ...{ id, organization_id: organizationId, mailbox_id: mailboxId, folder: 'inbox' },
        ...{ is_read: number % 2, is_starred: 0, last_activity_at: time, snoozed_until: null },
        ...{ priority: 'normal', message_count: 3, attachment_count: 0, created_at: time },
        ...{ from_address: 'ada@example.com', from_name: null, subject: `Order ${number}` },
        ...{ preview: 'Hello there', updated_at: time },
      };
    });
    await insertThreads(trx, made);
  });
  await fill(world, rows, 'messages', async (trx, numbers) => {
    const copies = numbers.map((number): MessageRow => {
      return { ...message, id: app.newId('message'), raw_blob_id: null, created_at: at(number) };
    });
    await insertMessages(trx, copies);
    const placed = copies.map(({ id, created_at }, index): ThreadMessageRow => {
      const thread_id = threadIds[Math.floor(((numbers[index] ?? 0) * threads) / rows)] ?? '';
      const row = { message_id: id, thread_id, at: created_at, kind: 'person' } as const;
      return { ...row, has_attachments: 0, event_id: null };
    });
    await insertThreadMessages(trx, placed);
    await insertDocuments(
      trx,
      copies.map(({ id, subject, from_email }, index) => ({
        ...{ mailboxId, messageId: id },
        words: wordsOfDocument({
          ...{ subject: subject ?? '', from: [from_email], hasAttachment: false },
          text: wordsOf(numbers[index] ?? 0),
        }),
      })),
    );
  });
  // Brings the store to the state after a while of use: PostgreSQL's autovacuum does this by itself.
  if (app.store.kind === 'postgres') await sql`vacuum analyze`.execute(app.store.db);
}

async function benchPages(world: World): Promise<void> {
  await fillMailbox(world);
  const { app, caller, mailboxId } = world;
  const page = (query: Record<string, string>) =>
    listThreads(app, caller, mailboxId, listThreadsQuery.parse({ limit: '50', ...query }));
  const { nextCursor } = await page({});
  await time('a page', () => page({}));
  await time('the next page', () => page({ cursor: nextCursor ?? '' }));
  await time('a page of what is unread', () => page({ unread: 'true' }));
  await time('a page with a rare word', () => page({ q: 'seldom' }));
  await time('a page with a word in a tenth of all', () => page({ q: 'tenth' }));
  await time('a page with a word that is in none', () => page({ q: 'nowhere' }));
  await time('a page with a rare word beside one of a tenth', () => page({ q: 'tenth seldom' }));
}

async function benchActivity(world: World): Promise<void> {
  const { app, caller, mailboxId, now } = world;
  const spanMs = 90 * 24 * hourMs;
  const types = ['reply', 'label', 'move', 'sendMessage', 'note'] as const;
  await fill(world, rows, 'actions', async (trx, numbers) => {
    const made = numbers.map((number): ActionRow => {
      const created_at = now - spanMs + Math.floor((spanMs * number) / rows);
      return {
        ...{ id: firstIdAt('mailboxAction', created_at), organization_id: caller.organizationId },
        ...{ mailbox_id: mailboxId, type: types[number % 5] ?? 'reply', state: 'executed' },
        ...{ actor_kind: 'key', actor_id: `key_${number % 7}`, actor_name: null, by_person: 0 },
        ...{ message_id: null, thread_id: null, summary: '{}', created_at, decided_at: null },
        ...{ decided_by: null, note: null, expires_at: null, failure: null },
        ...{ digest: null, edited_digest: null, proposal_bytes: 0 },
      };
    });
    await insertActions(trx, made);
  });
  if (app.store.kind === 'postgres') await sql`vacuum analyze`.execute(app.store.db);
  const ask = (query: Record<string, string>) =>
    agentActivity(app, caller, mailboxId, activityQuery.parse(query));
  const iso = (ms: number) => new Date(ms).toISOString();
  const { actions } = await ask({});
  say(`  ${actions.byType.reduce((sum, { count }) => sum + count, 0)} actions counted`);
  await time('activity of all time', () => ask({}));
  const cut = { after: iso(now - spanMs + hourMs / 3), before: iso(now - hourMs / 3) };
  await time('activity of 90 days that cut two hours', () => ask(cut));
  await time('activity of the last day', () => ask({ after: iso(now - 24 * hourMs) }));
}

if (isWanted('parsed')) {
  await benchInbound({ connections: 32, messages: 3_000, rounds: 3, text: textOf(10_240) });
}
if (isWanted('pages')) await onBoth(benchPages);
if (isWanted('activity')) await onBoth(benchActivity);
process.exit();
