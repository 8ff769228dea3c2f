// Bodies posted for events. A body is created at the first attempt and stored beside the
// deliveries, so that each attempt and redelivery sends the same bytes. Once a message is deleted,
// the bodies contain only the message id.
import type { PermissionMap } from '../../core/api/permission.ts';
import type { App } from '../../core/app.ts';
import {
  dataOfEntries,
  deletedResource,
  type LogEntry,
  readEvents,
} from '../../history/events/log.ts';
import type { EventType } from '../../history/events/names.ts';
import { isShown, shownData } from '../../history/events/shown-data.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import type { BodyRow, DeliveryRow } from '../rows.ts';
import { eventsOfMessage, findBodies, insertBody, replaceBody } from './body-queries.ts';

export const mostBodyBytes = 256 * 1024;

/** Fields of a delivery that identify the body. */
export type BodySource = Pick<
  DeliveryRow,
  'organization_id' | 'event_id' | 'event_type' | 'message_id' | 'created_at'
>;

/** Returns the body of a delivery. The first call creates and stores the body. */
export async function bodyOf(app: App, delivery: BodySource): Promise<string> {
  const body = (await bodiesOf(app, [delivery], mostBodyBytes)).get(delivery.event_id);
  if (body === undefined) throw new Error(`no body of event ${delivery.event_id}`);
  return body;
}

/**
 * Returns a body with only the data that these permissions show. The same body and permissions give
 * the same bytes.
 */
export function cutBody(body: string, type: string, permissions: PermissionMap): string {
  if (isShown(type, permissions)) return body;
  const { data, ...event } = JSON.parse(body) as { data: object };
  return JSON.stringify({ ...event, data: shownData(type, data, permissions) });
}

/** Returns the stored body, or a new body that is not stored; for callers that only show it. */
export async function shownBody(app: App, source: BodySource): Promise<string> {
  const kept = await findBodies(app.store.db, [source.event_id], mostBodyBytes);
  const [made] = kept.size > 0 ? [] : await makeBodies(app, [source]);
  return kept.get(source.event_id) ?? made?.body ?? '';
}

/**
 * Returns bodies by event, up to `budget` bytes; creates and stores missing bodies. Large bodies
 * that do not fit are neither read nor created.
 */
export async function bodiesOf(
  app: App,
  deliveries: readonly BodySource[],
  budget: number,
): Promise<Map<string, string>> {
  const sources = new Map(deliveries.map((one) => [one.event_id, one]));
  const kept = await findBodies(app.store.db, [...sources.keys()], budget);
  const bodies = withoutNulls(kept);
  const missing = [...sources.values()].filter(({ event_id }) => !kept.has(event_id));
  if (missing.length === 0) return bodies;
  const left = [...bodies.values()].reduce((sum, body) => sum - Buffer.byteLength(body), budget);
  const made = await makeWithin(app, missing, left);
  for (const [id, body] of await keepBodies(app, made)) bodies.set(id, body);
  return bodies;
}

function withoutNulls(bodies: ReadonlyMap<string, string | null>): Map<string, string> {
  return new Map([...bodies].flatMap(([id, body]) => (body === null ? [] : [[id, body]])));
}

/** Creates bodies in batches that fit the budget even if each body has the largest size. */
async function makeWithin(
  app: App,
  sources: readonly BodySource[],
  budget: number,
): Promise<BodyRow[]> {
  const made: BodyRow[] = [];
  let left = budget;
  while (made.length < sources.length && left >= mostBodyBytes) {
    const count = Math.floor(left / mostBodyBytes);
    const some = await makeBodies(app, sources.slice(made.length, made.length + count));
    made.push(...some);
    left = some.reduce((sum, { body }) => sum - Buffer.byteLength(body), left);
  }
  return made;
}

/**
 * Stores bodies, and returns the stored bodies by event. If another attempt, or the deletion of the
 * message, has stored a body meanwhile, that body stays.
 */
async function keepBodies(app: App, made: BodyRow[]): Promise<Map<string, string>> {
  if (made.length === 0) return new Map();
  const sorted = made.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1));
  const budget = sorted.length * mostBodyBytes;
  return app.store.write(async (trx) => {
    const kept = new Map<string, string>();
    for (const row of sorted) {
      if (await insertBody(trx, row)) kept.set(row.event_id, row.body);
    }
    const others = sorted.filter((row) => !kept.has(row.event_id)).map((row) => row.event_id);
    if (others.length === 0) return kept;
    const theirs = withoutNulls(await findBodies(trx, others, budget));
    for (const [id, body] of theirs) kept.set(id, body);
    return kept;
  }, 'quiet');
}

/** Makes bodies. Reads the events and messages of an organization together. */
async function makeBodies(app: App, sources: readonly BodySource[]): Promise<BodyRow[]> {
  const ofOrganizations = Map.groupBy(sources, ({ organization_id }) => organization_id);
  const made = await Promise.all(
    [...ofOrganizations].map(async ([organizationId, own]) => {
      const ids = own.map(({ event_id }) => event_id);
      const entries = await readEvents(app.store.db, organizationId, ids);
      const told = await withMails(app, organizationId, {
        entries,
        told: await dataOfEntries(app, organizationId, entries),
      });
      const byId = new Map(entries.map((entry) => [entry.id, entry]));
      return own.map((source) =>
        bodyRow(app, source, byId.get(source.event_id), told.get(source.event_id)),
      );
    }),
  );
  return made.flat();
}

/** Kind of event with the received mail in the posted body. */
const kindWithMail: EventType = 'mailbox.message.received';

/** Adds the stored mail to the data of events about received mail. */
async function withMails(
  app: App,
  organizationId: string,
  { entries, told }: { entries: readonly LogEntry[]; told: ReadonlyMap<string, object> },
): Promise<Map<string, object>> {
  const messageOf = (id: string) => (told.get(id) as { message?: { id: string } })?.message?.id;
  const received = entries.filter(({ type }) => type === kindWithMail);
  const ids = received.flatMap(({ id }) => messageOf(id) ?? []);
  if (ids.length === 0) return new Map(told);
  const mails = await app.hooks.readPostedMails(app, organizationId, ids);
  const posted = received.flatMap(({ id }): [string, object][] => {
    const email = mails.get(messageOf(id) ?? '');
    return email ? [[id, { ...told.get(id), email }]] : [];
  });
  return new Map([...told, ...posted]);
}

function bodyRow(
  app: App,
  source: BodySource,
  entry: LogEntry | undefined,
  data: object | undefined,
): BodyRow {
  const { organization_id, event_id, message_id, created_at } = source;
  const gone = message_id === null ? { deleted: true } : deletedResource(message_id);
  const body = bodyText(source, entry?.timestamp ?? created_at, data ?? gone);
  return { event_id, organization_id, message_id, body, created_at: app.clock.now() };
}

function bodyText({ event_type, organization_id }: BodySource, at: number, data: object): string {
  return eventBody({ type: event_type, timestamp: at, data, organizationId: organization_id });
}

/** Returns the JSON to post. Shortens data that would exceed 256 KB. `timestamp`: ms since 1970. */
export function eventBody(event: {
  type: string;
  timestamp: number;
  data: object;
  organizationId: string;
}): string {
  const { type, timestamp, data, organizationId } = event;
  const text = (shown: unknown) =>
    JSON.stringify({ type, timestamp: isoTime(timestamp), data: shown, organizationId });
  const whole = text(data);
  if (Buffer.byteLength(whole) <= mostBodyBytes) return whole;
  for (const bounds of cuts) {
    const shorter = text({ ...(cut(data, bounds, 0) as object), truncated: true });
    if (Buffer.byteLength(shorter) <= mostBodyBytes) return shorter;
  }
  const { id } = data as { id?: unknown };
  return text({ ...(typeof id === 'string' && { id: id.slice(0, 100) }), truncated: true });
}

interface Bounds {
  /** Most items of a list, and most fields of an object. */
  items: number;
  /** Most characters of a text. */
  characters: number;
}

const cuts: readonly Bounds[] = [
  { items: 1_000, characters: 65_536 },
  { items: 200, characters: 8_192 },
  { items: 50, characters: 1_024 },
  { items: 20, characters: 200 },
];
const deepest = 12;

function cut(value: unknown, bounds: Bounds, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, bounds.characters).replace(/\p{Cs}$/u, '');
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return null;
  if (Array.isArray(value)) {
    return value.slice(0, bounds.items).map((one) => cut(one, bounds, depth + 1));
  }
  const fields = Object.entries(value).slice(0, bounds.items);
  return Object.fromEntries(fields.map(([name, one]) => [name, cut(one, bounds, depth + 1)]));
}

/**
 * Replaces the bodies of a message's events by a body that states the deletion. Call it in the
 * transaction that deletes the message, before the events are deleted. An attempt that creates a
 * body at the same time gets this body instead. Returns the number of events with deliveries.
 */
export async function forgetMessage({ clock }: App, trx: Db, messageId: string): Promise<number> {
  const events = await eventsOfMessage(trx, messageId);
  for (const event of events) {
    const { organization_id, event_id } = event;
    const [logged] = await readEvents(trx, organization_id, [event_id]);
    const source = { ...event, message_id: messageId };
    const at = logged?.timestamp ?? event.created_at;
    await replaceBody(trx, {
      event_id,
      organization_id,
      message_id: messageId,
      body: bodyText(source, at, deletedResource(messageId)),
      created_at: clock.now(),
    });
  }
  return events.length;
}
