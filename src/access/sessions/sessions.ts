// Sessions of the console. The browser holds a token, the store the hash of the token. A session
// has the rights of its key or of its member at each request; a session of the operator has all
// rights in one organization.
//
//   state    | event                                                | state
//   ---------+------------------------------------------------------+--------
//   (none)   | signed in by a key, a link, a passkey or a provider  | open
//   open     | a time without a request, or in all (lives)          | ended
//   open     | signed out; its key revoked or expired               | ended
//   open     | its member disabled or deleted                       | ended
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import type { Authenticator } from '../keys/authenticator.ts';
import { keys } from '../keys/queries.ts';
import { operatorOf } from '../keys/roles.ts';
import { memberCaller } from '../members/persons.ts';
import { touchMember } from '../members/queries.ts';
import { findOrganization, type OrganizationRow } from '../organizations/queries.ts';
import { secretMs } from './after-action.ts';
import { keptMs } from './kept-input.ts';
import { isStrongEnough, type Proofs, type Strength, strengthOf } from './proofs.ts';
import * as queries from './queries.ts';

const hourMs = 3600_000;
const dayMs = 24 * hourMs;
/** Longest time without a request, and in all. `usual`: sessions of keys and the operator. */
const lives = {
  usual: { idleMs: 12 * hourMs, longestMs: 7 * dayMs },
  person: { idleMs: 7 * dayMs, longestMs: 30 * dayMs },
};
const linkMs = 60_000;
/** Shortest time between two writes of the time of a session's last request. */
const touchMs = 60_000;

/** An open session and the caller with the rights of the session. */
export interface Session {
  /** The token; never shown. */
  token: string;
  caller: Caller;
  organization: { name: string; timezone: string };
  proofs: Proofs;
  /** Proofs that the organization asks for. */
  strength: Strength;
  /** Whether the session has a proof that the organization asks for; else it opens no page. */
  isStrongEnough: boolean;
  /** Whether the session cannot switch to a different organization of the person. */
  isAlone: boolean;
  /** Whether a toast waits for the next page. */
  hasToast: boolean;
  /** Time of the sign-in, ms since 1970. */
  createdAt: number;
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

/** Returns the row of a session that begins now; by default of the operator. */
export function newSession(
  app: App,
  token: string,
  columns: Partial<queries.SessionRow> & Pick<queries.SessionRow, 'organization_id'>,
): queries.SessionRow {
  const now = app.clock.now();
  const proof = columns.proof ?? (columns.key_id ? 'key' : 'operator');
  return {
    key_id: null,
    person_id: null,
    member_id: null,
    proof,
    proofs: JSON.stringify({ [proof]: now }),
    browser: null,
    network: null,
    is_alone: 0,
    longest_ms: null,
    kept_input: null,
    kept_at: null,
    toast: null,
    secret_id: null,
    secret: null,
    secret_at: null,
    created_at: now,
    last_seen_at: now,
    ...columns,
    hash: hashOfToken(token),
  };
}

/** Tells whether a session ended by time. */
export function isOver(
  row: Pick<queries.SessionRow, 'created_at' | 'last_seen_at' | 'longest_ms'>,
  life: keyof typeof lives,
  now: number,
): boolean {
  const { idleMs, longestMs } = lives[life];
  const { created_at, last_seen_at, longest_ms } = row;
  return now - last_seen_at >= idleMs || now - created_at >= (longest_ms ?? longestMs);
}

/**
 * Returns the session of a token, with the rights that the key or the member has now; null for an
 * ended session.
 */
export async function findSession(
  app: App,
  authenticator: Pick<Authenticator, 'authenticateHash'>,
  token: string,
): Promise<Session | null> {
  const { db } = app.store;
  const row = await queries.findSession(db, hashOfToken(token));
  const now = app.clock.now();
  if (!row || isOver(row, row.person_id === null ? 'usual' : 'person', now)) return null;
  const organization = await findOrganization(db, row.organization_id);
  const caller = organization && (await callerOf(app, authenticator, row));
  if (!caller) return null;
  if (now - row.last_seen_at >= touchMs) await touch(app, row, now);
  return sessionOf(app, token, { row, caller, organization });
}

function sessionOf(
  app: App,
  token: string,
  found: { row: queries.SessionRow; caller: Caller; organization: OrganizationRow },
): Session {
  const { row, caller, organization } = found;
  const { id, name, timezone, sign_in } = organization;
  const proofs = JSON.parse(row.proofs) as Proofs;
  const strength = strengthOf(app, { id, signIn: sign_in });
  return {
    token,
    caller,
    organization: { name, timezone },
    proofs,
    strength,
    isStrongEnough: isStrongEnough(proofs, strength),
    isAlone: row.is_alone === 1,
    hasToast: row.toast !== null,
    createdAt: row.created_at,
  };
}

async function touch({ store }: App, row: queries.SessionRow, now: number): Promise<void> {
  await store.write(async (trx) => {
    await queries.updateSession(trx, row.hash, { last_seen_at: now });
    if (row.member_id !== null) await touchMember(trx, row.member_id, now);
  }, 'quiet');
}

async function callerOf(
  { store }: App,
  authenticator: Pick<Authenticator, 'authenticateHash'>,
  { organization_id, key_id, person_id }: queries.SessionRow,
): Promise<Caller | null> {
  if (person_id !== null) {
    return memberCaller(store.db, { personId: person_id, organizationId: organization_id });
  }
  if (key_id === null) return operatorOf(organization_id);
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

/** Ends the sessions of a member in the organization of that member. */
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
    await queries.insertSession(trx, newSession(app, token, { organization_id }));
    return true;
  });
  return isBegun ? token : null;
}

/** Deletes ended sessions and links, forms that waited in vain, and secrets; for the scheduler. */
export async function sweepSessions(app: App): Promise<void> {
  const createdBefore = await timeOfAge(app, lives.person.longestMs);
  const keptBefore = await timeOfAge(app, keptMs);
  const secretsBefore = await timeOfAge(app, secretMs);
  const expiredBefore = await timeOfAge(app, 0);
  await app.store.write(async (trx) => {
    await queries.deleteSessionsBefore(trx, createdBefore);
    await queries.dropInputsBefore(trx, keptBefore);
    await queries.dropSecretsBefore(trx, secretsBefore);
    await queries.deleteLinksBefore(trx, expiredBefore);
  });
}
