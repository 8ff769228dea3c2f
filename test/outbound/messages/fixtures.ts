// Shared by the message tests: a payload, another organization, and readers of the store.
import { sql } from 'kysely';
import { createKey } from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import type { Message, TimelineEvent } from '../../../src/outbound/messages/schema.ts';
import type { Db } from '../../../src/platform/store/db.ts';
import type { HttpApi } from '../../support/http-client.ts';

const recipient = 'ada@example.com';

/** Makes a send payload; `email` overrides the content, the rest the top level. */
export function payload(
  email: Record<string, unknown> = {},
  top: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    channel: 'email',
    to: [{ email: recipient }],
    email: { subject: 'Hello', text: 'It works.', ...email },
    ...top,
  };
}

/** Sends and expects it to be accepted. */
export async function send(
  api: HttpApi,
  body: unknown = payload(),
  headers: Record<string, string> = {},
): Promise<Message> {
  const { status, body: answer } = await api.post<Message>('/v1/messages', body, { headers });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(answer)}`);
  return answer;
}

/** The timeline of a message in short, oldest first. */
export async function timeline(api: HttpApi, id: string): Promise<string[]> {
  const { body } = await api.get<TimelineEvent[]>(`/v1/messages/${id}/events`);
  return body.map(({ eventType, status }) => `${eventType} ${status}`);
}

/** Downloads the wire form of a message by its signed link. */
export async function rawMail(api: HttpApi, id: string): Promise<Buffer> {
  const url = `/v1/messages/${id}/email?includeStorageUrls=true`;
  const { storageUrls } = (await api.get<EmailProjection>(url)).body;
  if (!storageUrls) throw new Error('the projection came without storage URLs');
  const { status, body } = await api.download(storageUrls.raw);
  if (status !== 200) throw new Error(`${status} ${body.toString()}`);
  return body;
}

/** Makes an organization with a key, without domain and sender. */
export async function otherOrganization(
  app: App,
  name = 'acme',
): Promise<{ caller: Caller; apiKey: string }> {
  const { id } = await createOrganization(app, { name, plan: 'self-hosted' });
  const caller = operatorOf(id);
  const { key } = await createKey(app, caller, { role: 'admin' });
  if (key === null) throw new Error('a new key came without its plaintext');
  return { caller, apiKey: key };
}

const sendTables = [
  'messages',
  'contents',
  'blobs',
  'recipients',
  'deliveries',
  'events',
  'idempotency_claims',
] as const;

export type RowCounts = Record<(typeof sendTables)[number], number>;

/** Counts the rows of each table that a send writes to. */
export async function rowCounts({ store }: App): Promise<RowCounts> {
  const counts = sendTables.map(async (table) => {
    const query = sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`;
    return [table, Number((await query.execute(store.db)).rows[0]?.n)];
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Begins a transaction of `app` on PostgreSQL that does `work` and commits on demand. */
export async function heldWrite(
  { store }: App,
  work: (trx: Db) => Promise<unknown>,
): Promise<{ commit(): Promise<void> }> {
  const done = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const written = store.write(async (trx) => {
    await work(trx);
    done.resolve();
    await mayCommit.promise;
  });
  await Promise.race([done.promise, written]);
  return {
    commit() {
      mayCommit.resolve();
      return written;
    },
  };
}

/** Resolves when a transaction on PostgreSQL that uses the table waits for another one. */
export async function someoneWaits({ store }: App, table: string): Promise<void> {
  const waiting = sql<{ n: number }>`select count(*) as n from pg_locks
    where not granted and pid in (select pid from pg_locks where relation = ${table}::regclass)`;
  while (Number((await waiting.execute(store.db)).rows[0]?.n) === 0);
}

export const noRows: RowCounts = {
  messages: 0,
  contents: 0,
  blobs: 0,
  recipients: 0,
  deliveries: 0,
  events: 0,
  idempotency_claims: 0,
};

/** The rows of one message to one recipient, without attachment or idempotency key. */
export const oneMessage: RowCounts = {
  ...noRows,
  messages: 1,
  contents: 1,
  recipients: 1,
  deliveries: 1,
  events: 1,
};
