// Sessions of the console. The browser holds a token, the store the hash of the token. A session
// has the rights of its key at each request; a session of the operator has all rights in one
// organization.
//
//   state    | event                                      | state
//   ---------+--------------------------------------------+--------
//   (none)   | signed in by a key, or by a link, once     | open
//   open     | 12 hours without a request, 7 days in all  | ended
//   open     | signed out; its key revoked or expired     | ended
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import type { Authenticator } from '../keys/authenticator.ts';
import { keys } from '../keys/queries.ts';
import { operatorOf } from '../keys/roles.ts';
import { memberCaller } from '../members/persons.ts';
import { findOrganization } from '../organizations/queries.ts';
import * as queries from './queries.ts';

const hourMs = 3600_000;
const idleMs = 12 * hourMs;
const longestMs = 7 * 24 * hourMs;
const linkMs = 60_000;
/** Shortest time between two writes of the time of a session's last request. */
const touchMs = 60_000;

/** An open session and the caller with the rights of the session. */
export interface Session {
  /** The token; never shown. */
  token: string;
  caller: Caller;
}

/** Begins a session of a key, or of the operator. Returns the session's token. */
export async function beginSession(
  app: App,
  { organizationId, keyId }: Pick<Caller, 'organizationId' | 'keyId'>,
): Promise<string> {
  const token = newToken(app.random);
  const row = newSession(app, token, { organization_id: organizationId, key_id: keyId });
  await app.store.write((trx) => queries.insertSession(trx, row));
  return token;
}

/** Returns the row of a session that begins now, of a key or of the operator. */
function newSession(
  app: App,
  token: string,
  of: Pick<queries.SessionRow, 'organization_id' | 'key_id'>,
): queries.SessionRow {
  const now = app.clock.now();
  return {
    ...of,
    hash: hashOfToken(token),
    person_id: null,
    member_id: null,
    proof: of.key_id === null ? 'operator' : 'key',
    proven_at: now,
    browser: null,
    network: null,
    is_alone: 0,
    longest_ms: null,
    kept_input: null,
    kept_at: null,
    created_at: now,
    last_seen_at: now,
  };
}

/**
 * Returns the session of a token, with the rights that the key has now; null for an ended session.
 */
export async function findSession(
  app: App,
  authenticator: Pick<Authenticator, 'authenticateHash'>,
  token: string,
): Promise<Session | null> {
  const { db } = app.store;
  const row = await queries.findSession(db, hashOfToken(token));
  const now = app.clock.now();
  if (!row || now - row.last_seen_at >= idleMs || now - row.created_at >= longestMs) return null;
  const caller = await callerOf(app, authenticator, row);
  if (!caller) return null;
  if (now - row.last_seen_at >= touchMs) {
    await app.store.write((trx) => queries.touchSession(trx, row.hash, now), 'quiet');
  }
  return { token, caller };
}

async function callerOf(
  { store }: App,
  authenticator: Pick<Authenticator, 'authenticateHash'>,
  { organization_id, key_id, person_id }: queries.SessionRow,
): Promise<Caller | null> {
  if (person_id !== null) {
    return memberCaller(store.db, { personId: person_id, organizationId: organization_id });
  }
  if (key_id === null) {
    const organization = await findOrganization(store.db, organization_id);
    return organization ? operatorOf(organization_id) : null;
  }
  const key = await keys.find(store.db, organization_id, key_id);
  return key ? authenticator.authenticateHash(key.hash) : null;
}

/** Ends a session. */
export async function endSession(app: App, token: string): Promise<void> {
  await app.store.write((trx) => queries.deleteSession(trx, hashOfToken(token)));
}

/** Ends all sessions of the caller's key. */
export async function endSessionsOfKey(app: App, caller: Caller): Promise<void> {
  const { organizationId, keyId } = caller;
  if (keyId === null) return;
  await app.store.write((trx) => queries.deleteSessionsOfKey(trx, organizationId, keyId));
}

/** Ends the sessions of a member in the organization of the place. */
export const endPlace = (_app: App, trx: Db, memberId: string): Promise<void> =>
  queries.deleteSessionsOfMember(trx, memberId);

/** Ends all sessions of a person. */
export const endSessionsOfPerson = (_app: App, trx: Db, personId: string): Promise<void> =>
  queries.deleteSessionsOfPerson(trx, personId);

/** Makes a link's token, which begins a single session of the operator within a minute. */
export async function makeLink(app: App, organizationId: string): Promise<string> {
  const token = newToken(app.random);
  const expires_at = app.clock.now() + linkMs;
  const row = { hash: hashOfToken(token), organization_id: organizationId, expires_at };
  await app.store.write((trx) => queries.insertLink(trx, row));
  return token;
}

/**
 * Uses a link up, and begins a session. Returns the session's token; null for a used or expired
 * link.
 */
export async function useLink(app: App, linkToken: string): Promise<string | null> {
  const token = newToken(app.random);
  const now = app.clock.now();
  const isBegun = await app.store.write(async (trx) => {
    const link = await queries.takeLink(trx, hashOfToken(linkToken));
    if (!link || link.expires_at <= now) return false;
    const { organization_id } = link;
    await queries.insertSession(trx, newSession(app, token, { organization_id, key_id: null }));
    return true;
  });
  return isBegun ? token : null;
}

/** Deletes ended sessions and links; for the scheduler. */
export async function sweepSessions(app: App): Promise<void> {
  const createdBefore = await timeOfAge(app, longestMs);
  const expiredBefore = await timeOfAge(app, 0);
  await app.store.write(async (trx) => {
    await queries.deleteSessionsBefore(trx, createdBefore);
    await queries.deleteLinksBefore(trx, expiredBefore);
  });
}
