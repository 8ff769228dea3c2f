// Stalls of the event loop by searches and filtered lists of a large store: 200,000 contacts and
// 20,000 documents here; by hand with `SEARCH_ROWS=1000000 npx vitest run
// test/http/search-times.test.ts`.
import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { insertDocuments } from '../../src/inbox/threads/search-queries.ts';
import { wordsOfDocument } from '../../src/platform/full-text/document.ts';
import type { Db } from '../../src/platform/store/db.ts';
import { mailboxOf } from '../inbox/threads/mails.ts';
import { bothStores } from '../support/command.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { longestStallMs } from '../support/work-time.ts';

const soakRows = process.env.SEARCH_ROWS;
const contacts = Number(soakRows ?? 200_000);
const documents = Number(soakRows ?? 20_000);
/** Threads of the inbox: as many as a search walks. */
const inboxThreads = 5_000;
const perTransaction = 5_000;
/** Longest allowed stall, in time of this thread's core. */
const mostStallMs = 200;

function numbersTo(store: string, count: number): RawBuilder<unknown> {
  return store === 'postgres'
    ? sql`(select value as i from generate_series(1, ${sql.lit(count)}) value) n`
    : sql`(with recursive n (i) as (select 1 union all select i + 1 from n
        where i < ${sql.lit(count)}) select i from n) n`;
}

/** SQL for the digits of an id. */
const padded = (store: string) =>
  store === 'postgres' ? sql`lpad(i::text, 24, '0')` : sql`printf('%024d', i)`;

/**
 * Updates the statistics of PostgreSQL between two inserts. Planned for an empty parent table, the
 * check of a foreign key scans the whole parent for each row, without an end.
 */
async function analyze(db: Db, store: string, table: string): Promise<void> {
  if (store === 'postgres') await sql`analyze ${sql.table(table)}`.execute(db);
}

async function fillContacts(db: Db, store: string, organizationId: string): Promise<void> {
  await sql`insert into contacts (id, organization_id, external_id, is_archived, created_at, updated_at)
    select 'contact_' || ${padded(store)}, ${organizationId}, 'crm' || i, 0, i, i
    from ${numbersTo(store, contacts)}`.execute(db);
  await analyze(db, store, 'contacts');
  await sql`insert into contact_identities (organization_id, folded_identifier, id, contact_id,
      position, identifier)
    select organization_id, external_id || '@example.com', 'idn_' || external_id, id, 0,
      external_id || '@example.com' from contacts`.execute(db);
}

/** Inserts messages, and a thread of the inbox for each of the last ones. */
async function fillThreads(db: Db, store: string, organizationId: string, mailboxId: string) {
  await sql`insert into messages (id, organization_id, direction, status, from_email,
      message_id_header, track_opens, track_clicks, is_test, delivery_count, created_at, updated_at)
    select 'msg_' || i, ${organizationId}, 'inbound', 'received', 'ada@example.com', '<x@example.com>',
      0, 0, 0, 0, i, i
    from ${numbersTo(store, documents + inboxThreads)}`.execute(db);
  await analyze(db, store, 'messages');
  await sql`insert into threads (id, organization_id, mailbox_id, folder, is_read, is_starred,
      last_activity_at, priority, message_count, attachment_count, created_at, updated_at)
    select 'thread_' || ${padded(store)}, ${organizationId}, ${mailboxId}, 'inbox', 0, 0, i,
      'normal', 1, 0, 0, 0
    from ${numbersTo(store, inboxThreads)}`.execute(db);
  await analyze(db, store, 'threads');
  await sql`insert into thread_messages (message_id, thread_id, at, kind, has_attachments)
    select 'msg_' || (${sql.lit(documents)} + i), 'thread_' || ${padded(store)}, i, 'person', 0
    from ${numbersTo(store, inboxThreads)}`.execute(db);
}

/** Inserts the documents of all messages: those of the inbox lack the searched words. */
async function fillDocuments({ store }: App, mailboxId: string): Promise<void> {
  const total = documents + inboxThreads;
  for (let first = 1; first <= total; first += perTransaction) {
    const entries = Array.from(
      { length: Math.min(perTransaction, total - first + 1) },
      (_, index) => {
        const n = first + index;
        const text = n > documents ? 'none' : `aaa${n} bbb${n} ccc${n} ddd${n}`;
        const words = wordsOfDocument({ subject: '', from: [], text, hasAttachment: false });
        return { mailboxId, messageId: `msg_${n}`, words };
      },
    );
    await store.write((trx) => insertDocuments(trx, entries), 'soon');
  }
}

describe.each(bothStores)('the event loop over a large store on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  let mailboxId: string;

  beforeAll(async () => {
    test = await testApp({ store, mostReadMs: 500 });
    api = httpApi(test);
    mailboxId = await mailboxOf(test.app);
    const { organizationId } = test.operator;
    await test.app.store.write(async (trx) => {
      await fillContacts(trx, store, organizationId);
      await fillThreads(trx, store, organizationId, mailboxId);
    });
    await fillDocuments(test.app, mailboxId);
    if (store === 'postgres') await sql`analyze`.execute(test.app.store.db);
  }, 1_200_000);
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  it.each([
    [
      'a search by four prefixes',
      () => `/v1/mailboxes/${mailboxId}/threads?q=aaa*%20bbb*%20ccc*%20ddd*`,
    ],
    [
      'a list of contacts by status and time',
      () => '/v1/contacts?status=active&updatedSince=1970-01-01T00:00:00.000Z',
    ],
  ])('is not blocked by %s', async (_, pathOf) => {
    const answered = api.get<{ fields?: object; pagination?: object }>(pathOf());
    const stalled = await longestStallMs(answered);
    const { status, body } = await answered;
    if (soakRows)
      process.stdout.write(
        `${store} ${pathOf()}: ${status} ${stalled.toFixed(0)} ms ${JSON.stringify(body.pagination ?? body.fields ?? {})}\n`,
      );
    expect([200, 422]).toContain(status);
    expect(stalled).toBeLessThan(mostStallMs);
  });
});
