// Persons and members. A person has the address, the passkeys, the binding to a provider and the
// sessions, for all organizations. A member is a person in an organization, with a role.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { type Change, record } from '../../history/events/record.ts';
import type { Db } from '../../platform/store/db.ts';
import { standingFor } from '../keys/key-caller.ts';
import { rolePermissions } from '../keys/roles.ts';
import * as queries from './queries.ts';
import { memberNoun } from './schema.ts';

/** Returns the caller of an active member's row; `person_id` is set in such a row. */
export function callerOfMember(row: queries.MemberRow): Caller {
  const by = {
    kind: 'member',
    memberId: row.id,
    personId: row.person_id ?? '',
    email: row.email,
  } as const;
  return {
    organizationId: row.organization_id,
    by,
    keyId: null,
    lineage: row.id,
    keyName: row.name ?? row.email,
    permissions: rolePermissions(row.role),
    roleName: row.role,
    owner: 'person',
    isTest: false,
    constraints: null,
    sendMode: 'send',
    installation: null,
  };
}

/** A person in an organization. */
export interface PersonIn {
  personId: string;
  organizationId: string;
}

/** Returns the caller for a person in an organization; null without an active membership there. */
export async function memberCaller(db: Db, place: PersonIn): Promise<Caller | null> {
  const row = await queries.findPlace(db, place);
  return row?.status === 'active' ? callerOfMember(row) : null;
}

/** Returns the callers of active members, by the id of the member. */
export async function standingMembers(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Caller>> {
  const rows = await queries.findMembers(db, ids);
  const active = rows.filter(({ status }) => status === 'active');
  return new Map(active.map((row) => [row.id, callerOfMember(row)]));
}

/**
 * Returns the caller for the key or member of an earlier action, with the present rights. Null if
 * the key is revoked, or the member is disabled or deleted.
 */
export async function standingCaller(db: Db, id: string): Promise<Caller | null> {
  if (!id.startsWith(memberNoun.prefix)) return standingFor(db, id);
  return (await standingMembers(db, [id])).get(id) ?? null;
}

/** Returns the active and disabled member rows of a person, oldest first. */
export function placesOf(db: Db, personId: string): Promise<queries.MemberRow[]> {
  return queries.selectPlaces(db, personId);
}

export function newPerson(app: App, email: string): queries.PersonRow {
  return {
    id: app.newId('person'),
    email,
    created_at: app.clock.now(),
    last_signed_in_at: null,
    oidc_issuer: null,
    oidc_client: null,
    oidc_subject: null,
    bound_at: null,
    new_start_at: null,
    new_email: null,
    former_email: null,
    moved_at: null,
  };
}

/**
 * Records a change of a person in the audit of each organization where the person is active, as an
 * act of the member there. No entry names another organization.
 */
export async function recordOfPerson(
  app: App,
  trx: Db,
  personId: string,
  change: Omit<Change, 'subject' | 'event'>,
): Promise<void> {
  for (const row of await queries.selectPlaces(trx, personId)) {
    if (row.status !== 'active') continue;
    await record(app, trx, callerOfMember(row), { ...change, subject: row.id });
  }
}

/** Deletes sessions, links and passkeys of a person, by the hooks `personEnds`. */
export async function endAllOfPerson(app: App, trx: Db, personId: string): Promise<void> {
  for (const end of app.hooks.personEnds) await end(app, trx, personId);
}

/** Deletes a person, with sessions, links and passkeys, if the person has no member row left. */
export async function endPersonWithoutPlace(app: App, trx: Db, personId: string): Promise<void> {
  if ((await queries.selectPlaces(trx, personId)).length > 0) return;
  await endAllOfPerson(app, trx, personId);
  await queries.deletePerson(trx, personId);
}
