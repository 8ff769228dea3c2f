// The audit: author and time of each change, written in the transaction of the change. Contains no
// secret, key or body. Processing of mail is not audited; the timeline records it
// (src/history/events).

import { cutPage, readCursor } from '../../core/api/cursor.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson, toJson } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { type AuditRow, insertEntries, selectEntries, updateDetails } from './queries.ts';
import type { AuditAction, AuditEntry, AuditPage, AuditQuery } from './schema.ts';

export type Actor = AuditEntry['actor'];

/** Author of changes at the command line. */
export const operatorActor: Actor = {
  type: 'operator',
  keyId: null,
  keyName: null,
  memberId: null,
  memberName: null,
  memberEmail: null,
  role: null,
};

/** Author of changes that the service makes automatically. */
export const serviceActor: Actor = { ...operatorActor, type: 'service' };

/** Returns the author of an audit entry for a caller. */
export function actorOf({ by, keyName, roleName }: Caller): Actor {
  if (by.kind === 'operator') return operatorActor;
  if (by.kind === 'member') {
    const { kind: type, memberId, email: memberEmail } = by;
    return { ...operatorActor, type, memberId, memberName: keyName, memberEmail, role: roleName };
  }
  return { ...operatorActor, type: by.kind, keyId: by.keyId, keyName, role: roleName };
}

export type Details = Readonly<Record<string, unknown>>;

export interface AuditedChange {
  actor: Actor;
  organizationId: string;
  action: AuditAction;
  /** Id of the changed resource; null for a change of many resources. */
  resourceId: string | null;
  /** Details of the change; null and undefined values are left out. */
  details?: Details;
}

const longestText = 500;
const longestValue = 2_000;
/** Number of the newest entries in which `countAgain` searches. */
const mostCounted = 10;

function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Returns the details as JSON, each value of a bounded size; null without values. */
function boundedJson(details: Details): string | null {
  const entries = Object.entries(details).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || value === undefined) return [];
    const text = JSON.stringify(value, (_key, each: unknown) =>
      typeof each === 'string' ? clip(each, longestText) : each,
    );
    return [[name, text.length > longestValue ? clip(text, longestValue) : JSON.parse(text)]];
  });
  return entries.length === 0 ? null : toJson(Object.fromEntries(entries));
}

/** Returns the differences for the audit: `{plan: {before: 'free', after: 'growth'}}`. */
export function changesOf<T extends object>(before: T, after: T): Details {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, value]) =>
      JSON.stringify(old.get(name)) === JSON.stringify(value)
        ? []
        : [[name, { before: old.get(name) ?? null, after: value }]],
    ),
  );
}

/**
 * Writes an entry inside the transaction of the change. Only `record`
 * (src/history/events/record.ts) calls it. Returns the id of the entry.
 */
export async function writeAudit(app: App, trx: Db, change: AuditedChange): Promise<string> {
  const { actor, organizationId, action, resourceId, details = {} } = change;
  const row: AuditRow = {
    id: app.newId('auditEntry'),
    organization_id: organizationId,
    actor: actor.type,
    key_id: actor.keyId,
    key_name: actor.keyName,
    role: actor.role,
    member_id: actor.memberId,
    member_name: actor.memberName,
    member_email: actor.memberEmail,
    action,
    resource_id: resourceId,
    details: boundedJson(details),
    created_at: app.clock.now(),
  };
  await insertEntries(trx, [row]);
  return row.id;
}

/** Replaces the details of an entry, for a change that spans several transactions. */
export async function amendAudit(trx: Db, id: string, details: Details): Promise<void> {
  await updateDetails(trx, id, boundedJson(details));
}

/**
 * Increments `count` of an entry with these details that is younger than `withinMs`. Searches the
 * newest ten entries of the action and resource. Returns false if no entry has these details.
 */
export async function countAgain(
  app: App,
  trx: Db,
  { organizationId, action, resourceId, details }: Required<Omit<AuditedChange, 'actor'>>,
  withinMs: number,
): Promise<boolean> {
  const filter = { action, resourceId: resourceId ?? '', from: app.clock.now() - withinMs };
  for (const { id, details: text } of await selectEntries(
    trx,
    organizationId,
    filter,
    mostCounted,
  )) {
    const { count, ...known } = fromJson<Details & { count: number }>(text ?? '{"count":0}');
    if (toJson(known) !== toJson(details)) continue;
    await amendAudit(trx, id, { ...details, count: count + 1 });
    return true;
  }
  return false;
}

function toEntry(row: AuditRow): AuditEntry {
  const action = row.action as AuditAction;
  return {
    id: row.id,
    organizationId: row.organization_id,
    createdAt: isoTime(row.created_at),
    actor: {
      type: row.actor,
      keyId: row.key_id,
      keyName: row.key_name,
      memberId: row.member_id,
      memberName: row.member_name,
      memberEmail: row.member_email,
      role: row.role,
    },
    action,
    resource: { type: action.slice(0, action.indexOf('.')), id: row.resource_id },
    details: fromJson<Record<string, unknown>>(row.details) ?? {},
  };
}

/**
 * Lists the changes in an organization, newest first. @throws ValidationError (a foreign cursor).
 */
export async function listAudit(app: App, caller: Caller, query: AuditQuery): Promise<AuditPage> {
  const { action, resource, limit, cursor, ...range } = query;
  const { from, to } = boundsOf(range);
  const scope = ['audit', caller.organizationId, action, resource, from, to];
  const filter = {
    action,
    resourceId: resource,
    from,
    to,
    after: cursor === undefined ? undefined : readCursor(scope, cursor),
  };
  const rows = await selectEntries(app.store.db, caller.organizationId, filter, limit + 1);
  const { shown, nextCursor } = cutPage(scope, rows, limit, ({ created_at: at, id }) => ({
    at,
    id,
  }));
  return { items: shown.map(toEntry), nextCursor };
}
