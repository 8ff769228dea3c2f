// `npm run bench -- --lists`: page 1 of every list of messages and blocks by each filter alone, and
// the deletion of a message, among a million of one organization, on both engines. Once over a
// month, once accepted within minutes; nearly all have one status and direction, ten have each of
// the others.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { findOrganizationByName } from '../../src/access/organizations/queries.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { insertBlobRows } from '../../src/core/blobs/queries.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { insertEvents } from '../../src/history/events/queries.ts';
import {
  type DeliveryRow,
  findDeliveries,
  insertDeliveries,
} from '../../src/outbound/deliveries/queries.ts';
import { messageStatuses } from '../../src/outbound/deliveries/status.ts';
import {
  insertContents,
  shareContent,
} from '../../src/outbound/messages/contents/content-queries.ts';
import { listMessagesQuery } from '../../src/outbound/messages/lists/list-schema.ts';
import { deleteMessage, listMessages } from '../../src/outbound/messages/messages.ts';
import {
  findMessageRow,
  findRecipients,
  insertMessages,
  insertRecipients,
  type MessageRow,
  type RecipientRow,
} from '../../src/outbound/messages/queries.ts';
import { sendPayload } from '../../src/outbound/messages/send-schema.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { listBlocks } from '../../src/people/blocks/blocks.ts';
import { type BlockRow, insertBlocks } from '../../src/people/blocks/queries.ts';
import { listBlocksQuery } from '../../src/people/blocks/schema.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { postgresSchema, startPostgres } from '../support/postgres.ts';
import { median, say, showProgress } from './progress.ts';

const dayMs = 86_400_000;
const rowsPerTransaction = 2_048;
const rare = 10;
const asked = 15;
const deletions = 20;
const conversation = 'conv_0123456789abcdefghjk';
const contact = 'contact_0123456789abcdefghjk';

/** Period over which the mail arrived. */
const spans = { 'over 30 days': 30 * dayMs, 'within 200 s': 200_000 } as const;
type Span = keyof typeof spans;

interface Template {
  message: MessageRow;
  recipient: RecipientRow;
  delivery: DeliveryRow;
}

/** Measures with `rows` messages on both engines. */
export async function benchLists(rows: number): Promise<void> {
  const server = await startPostgres();
  try {
    for (const engine of ['sqlite', 'postgres'] as const) {
      for (const span of Object.keys(spans) as Span[]) {
        const schema = engine === 'postgres' ? await postgresSchema(server.url) : null;
        say(`${engine}, ${rows} messages of one organization, ${span}:`);
        await measure(schema?.url ?? 'sqlite:svc.db', rows, span);
        await schema?.drop();
      }
    }
  } finally {
    await server.stop();
  }
}

async function measure(url: string, rows: number, span: Span): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-lists-'));
  const overrides = { dataDir, database: { url } };
  const { config } = loadConfig({ env: {}, cwd: dataDir, overrides });
  const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
  try {
    await firstStart(app);
    const { id = '' } = (await findOrganizationByName(app.store.db, 'default')) ?? {};
    const caller = operatorOf(id);
    const stop = showProgress('writing');
    const end = Math.floor(app.clock.now() / 1000) * 1000;
    const template = await makeTemplate(app, caller);
    const owned = await seedMessages(app, template, rows, { from: end - spans[span], to: end });
    await seedBlocks(app, id, rows / 5);
    // Brings the store to the state after a while of use: PostgreSQL's autovacuum does this by
    // itself.
    if (app.store.kind === 'postgres') await sql`vacuum analyze`.execute(app.store.db);
    stop();
    const middle = new Date(end - spans[span] / 2 + 1).toISOString();
    console.table([
      ...(await askMessages(app, caller, middle, rows)),
      ...(await askBlocks(app, caller)),
      ...(await deleteAll(app, caller, owned)),
    ]);
  } finally {
    await app.close();
    rmSync(dataDir, { recursive: true });
  }
}

export async function makeTemplate(app: App, caller: Caller): Promise<Template> {
  const payload = sendPayload.parse({
    channel: 'email',
    to: [{ email: 'inbox@sandbox.test' }],
    email: { subject: 'One of a million', text: 'It works.' },
  });
  const { id } = await sendMessage(app, caller, payload, null);
  const { db } = app.store;
  const message = await findMessageRow(db, id);
  const [recipient] = await findRecipients(db, [id]);
  const [delivery] = await findDeliveries(db, [id]);
  if (!message || !recipient || !delivery) throw new Error('the template was not stored');
  return { message, recipient, delivery: { ...delivery, turn: null, due_at: null } };
}

/** Ids of some messages that share their body with no other, by their attached rows. */
interface Owned {
  own: string[];
  raw: string[];
  shared: string[];
}

/** Returns the special traits of message `number`: few messages have them, spread over all. */
function traitsOf(number: number, rows: number): Partial<MessageRow> {
  const step = Math.floor(rows / rare);
  const place = number % step;
  const status = messageStatuses[place];
  if (status !== undefined) return { status };
  if (place === messageStatuses.length) return { direction: 'inbound' };
  if (place === messageStatuses.length + 1) return { conversation_id: conversation };
  return {};
}

export async function seedMessages(
  app: App,
  template: Template,
  rows: number,
  { from, to }: { from: number; to: number },
): Promise<Owned> {
  const owned: Owned = { own: [], raw: [], shared: [] };
  const every = Math.floor(rows / (3 * deletions));
  for (let done = 0; done < rows; done += rowsPerTransaction) {
    const count = Math.min(rowsPerTransaction, rows - done);
    const copies = Array.from({ length: count }, (_, index) => {
      const number = done + index;
      const created_at = from + Math.floor(((to - from) * number) / rows);
      const copy = copyOf(app, template, created_at, traitsOf(number, rows));
      const kind = number % every === every - 1 ? Math.floor(number / every) % 3 : -1;
      const key = (['own', 'raw', 'shared'] as const)[kind];
      if (key) owned[key].push(copy.message.id);
      if (number % Math.floor(rows / rare) === 99) copy.recipient.contact_id = contact;
      return { ...copy, key };
    });
    await app.store.write(async (trx) => {
      const owner = { organization_id: template.message.organization_id, created_at: from };
      for (const { message, key } of copies) {
        if (key === 'own') message.content_id = app.newId('content');
        if (key === 'raw') message.raw_blob_id = app.newId('blob');
      }
      const bodies = copies.filter(({ key }) => key === 'own');
      const none = { html: null, attachments: null, uses: 1 };
      await insertContents(
        trx,
        bodies.map(({ message }) => ({
          ...owner,
          ...none,
          id: message.content_id ?? '',
          text: 'own',
        })),
      );
      const raws = copies.filter(({ key }) => key === 'raw');
      const data = Buffer.from('raw');
      await insertBlobRows(
        trx,
        raws.map(({ message }) => ({
          ...{ ...owner, id: message.raw_blob_id ?? '' },
          ...{ size: 3, data, object_key: null },
        })),
      );
      await shareContent(trx, template.message.content_id ?? '', count - bodies.length);
      await insertMessages(
        trx,
        copies.map(({ message }) => message),
      );
      await insertRecipients(
        trx,
        copies.map(({ recipient }) => recipient),
      );
      await insertDeliveries(
        trx,
        copies.map(({ delivery }) => delivery),
      );
      await insertEvents(
        trx,
        copies.map(({ event }) => event),
      );
    }, 'soon');
  }
  return owned;
}

function copyOf(
  app: App,
  { message, recipient, delivery }: Template,
  created_at: number,
  traits: Partial<MessageRow>,
) {
  const id = app.newId('message');
  const recipientId = app.newId('recipient');
  const ofMessage = { message_id: id, organization_id: message.organization_id };
  const status = traits.status ?? 'delivered';
  return {
    message: { ...message, status, ...traits, id, created_at, updated_at: created_at },
    recipient: { ...recipient, id: recipientId, message_id: id },
    delivery: {
      ...delivery,
      ...ofMessage,
      id: app.newId('delivery'),
      recipient_id: recipientId,
      status,
      created_at,
    },
    event: {
      ...ofMessage,
      id: app.newId('event'),
      recipient_id: null,
      event_type: 'accepted',
      status: 'pending',
      timestamp: created_at,
      metadata: null,
    },
  };
}

/** Writes blocks, nearly all of them for bounces. */
async function seedBlocks(app: App, organization_id: string, rows: number): Promise<void> {
  for (let done = 0; done < rows; done += 500) {
    const blocks = Array.from({ length: Math.min(500, rows - done) }, (_, index): BlockRow => {
      const address = `user${done + index}@example.com`;
      return {
        id: app.newId('block'),
        organization_id,
        address,
        folded_address: address,
        reason: done + index < rare ? 'manual' : 'bounce',
        unsubscribe_group_id: null,
        message_id: null,
        created_at: done,
      };
    });
    await app.store.write((trx) => insertBlocks(trx, blocks), 'soon');
  }
}

type Row = Record<string, string | number>;

async function timed<T>(times: number, work: () => Promise<T>): Promise<[T, number[]]> {
  const taken: number[] = [];
  let value = await work();
  for (let time = 0; time < times; time++) {
    const started = performance.now();
    value = await work();
    taken.push(performance.now() - started);
  }
  return [value, taken];
}

function rowOf(what: string, taken: readonly number[], total: number | string = ''): Row {
  return {
    what,
    total,
    'median ms': median(taken).toFixed(1),
    'most ms': Math.max(...taken).toFixed(1),
  };
}

async function askMessages(app: App, caller: Caller, middle: string, rows: number): Promise<Row[]> {
  const queries: Record<string, string>[] = [
    {},
    { direction: 'outbound' },
    { direction: 'inbound' },
    ...messageStatuses.map((status) => ({ status })),
    { startDate: middle },
    { endDate: middle },
    { startDate: middle, endDate: middle.replace('.001Z', '.999Z') },
    { conversationId: conversation },
    { contactId: contact },
    { direction: 'outbound', status: 'delivered', startDate: middle },
    { page: String(Math.floor(rows / 200)), limit: '100' },
  ];
  const table: Row[] = [];
  for (const given of queries) {
    const query = listMessagesQuery.parse(given);
    const [{ pagination }, taken] = await timed(asked, () => listMessages(app, caller, query));
    table.push(rowOf(`messages?${new URLSearchParams(given)}`, taken, pagination.total));
  }
  return table;
}

async function askBlocks(app: App, caller: Caller): Promise<Row[]> {
  const queries = [
    {},
    { reason: 'bounce' },
    { reason: 'manual' },
    { address: 'user9@example.com' },
  ];
  const table: Row[] = [];
  for (const given of queries) {
    const query = listBlocksQuery.parse(given);
    const [{ pagination }, taken] = await timed(asked, () => listBlocks(app, caller, query));
    table.push(rowOf(`blocks?${new URLSearchParams(given)}`, taken, pagination.total));
  }
  return table;
}

/** Deletes with the durable commit, and without its wait: the statements alone. */
async function deleteAll(app: App, caller: Caller, owned: Owned): Promise<Row[]> {
  const inside: number[] = [];
  const write: App['store']['write'] = (work, durability) =>
    app.store.write(async (trx) => {
      const started = performance.now();
      const value = await work(trx);
      inside.push(performance.now() - started);
      return value;
    }, durability);
  const watched: App = Object.assign(Object.create(app), { store: { ...app.store, write } });
  const table: Row[] = [];
  for (const [kind, ids] of Object.entries(owned)) {
    const left = [...ids];
    const remove = async () => {
      const id = left.pop();
      if (id) await deleteMessage(watched, caller, id);
    };
    const [, taken] = await timed(left.length - 1, remove);
    const what = `delete one, ${kind === 'raw' ? 'raw mail' : `${kind} body`}`;
    table.push(rowOf(`${what}, statements`, inside.splice(0)), rowOf(what, taken));
  }
  return table;
}
