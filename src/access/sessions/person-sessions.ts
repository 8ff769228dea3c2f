// Sessions of persons: their beginning, further proofs, the switch between organizations, and the
// list in My account.
import type { App } from '../../core/app.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import { placesOf } from '../members/persons.ts';
import type { MemberRow } from '../members/queries.ts';
import { touchMember, updatePerson } from '../members/queries.ts';
import { findOrganization } from '../organizations/queries.ts';
import { isStrongEnough, type Proof, type Proofs, strengthOf } from './proofs.ts';
import * as queries from './queries.ts';
import { isOver, newSession } from './sessions.ts';

/** A person who signs in. */
export interface SigningIn {
  personId: string;
  /** Organization to open; by default the organization of the last visit. */
  organizationId?: string | undefined;
  proof: Proof;
  /** Time of the proof, ms since 1970; 0 if the provider does not say. Default: now. */
  provenAt?: number | undefined;
  browser: string;
  network: string;
  /** Begins a session that opens no other organization of the person. */
  isAlone?: boolean;
  longestMs?: number | null;
}

/**
 * Begins a session of a person. Returns the token; null for a person without an active membership.
 */
export async function beginPersonSession(app: App, given: SigningIn): Promise<string | null> {
  const now = app.clock.now();
  const { personId, proof, provenAt = now, browser, network, isAlone = false, longestMs } = given;
  const proofs = { [proof]: provenAt };
  const place = await placeToOpen(app, given, proofs);
  if (!place) return null;
  const token = newToken(app.random);
  const row = newSession(app, token, {
    organization_id: place.organization_id,
    person_id: personId,
    member_id: place.id,
    proof,
    proofs: JSON.stringify(proofs),
    browser,
    network,
    is_alone: Number(isAlone),
    longest_ms: longestMs ?? null,
  });
  await app.store.write(async (trx) => {
    await queries.insertSession(trx, row);
    await touchMember(trx, place.id, now);
    await updatePerson(trx, personId, { last_signed_in_at: now });
  });
  return token;
}

/**
 * Returns the active membership in the wished organization; else the last visited membership that
 * `proofs` open; else the last visited membership. Undefined without an active membership.
 */
async function placeToOpen(
  app: App,
  { personId, organizationId }: SigningIn,
  proofs: Proofs,
): Promise<MemberRow | undefined> {
  const all = await placesOf(app.store.db, personId);
  const places = all
    .filter(({ status }) => status === 'active')
    .sort((a, b) => (b.last_seen_at ?? 0) - (a.last_seen_at ?? 0));
  const wished = places.find((place) => place.organization_id === organizationId);
  if (wished) return wished;
  for (const place of places) {
    const organization = await findOrganization(app.store.db, place.organization_id);
    if (!organization) continue;
    const strength = strengthOf(app, { id: organization.id, signIn: organization.sign_in });
    if (isStrongEnough(proofs, strength)) return place;
  }
  return places[0];
}

/**
 * Returns the person, the organization and the proofs of an open session of a person. Null for an
 * ended session, and for a session of a key or of the operator.
 */
export async function findPersonSession(
  app: App,
  hash: string,
): Promise<{ personId: string; organizationId: string; proofs: Proofs } | null> {
  const row = await queries.findSession(app.store.db, hash);
  if (!row?.person_id || isOver(row, 'person', app.clock.now())) return null;
  const proofs = JSON.parse(row.proofs) as Proofs;
  return { personId: row.person_id, organizationId: row.organization_id, proofs };
}

/** Records a proof in an open session; `at` is the time of the proof, ms since 1970. */
export async function recordProof(
  app: App,
  hash: string,
  proof: Proof,
  at = app.clock.now(),
): Promise<void> {
  await app.store.write(async (trx) => {
    const row = await queries.findSession(trx, hash);
    if (!row) return;
    const before = JSON.parse(row.proofs) as Proofs;
    const proofs = { ...before, [proof]: Math.max(at, before[proof] ?? 0) };
    await queries.updateSession(trx, hash, { proofs: JSON.stringify(proofs) });
  });
}

/**
 * Opens a different organization of the person in a session. Returns false without an active
 * membership there, and for a session that is bound to an organization.
 */
export async function switchOrganization(
  app: App,
  token: string,
  organizationId: string,
): Promise<boolean> {
  const hash = hashOfToken(token);
  return app.store.write(async (trx) => {
    const row = await queries.findSession(trx, hash);
    if (!row?.person_id || row.is_alone === 1) return false;
    const places = await placesOf(trx, row.person_id);
    const place = places.find((one) => one.organization_id === organizationId);
    if (place?.status !== 'active') return false;
    await touchMember(trx, place.id, app.clock.now());
    return queries.updateSession(trx, hash, {
      organization_id: organizationId,
      member_id: place.id,
    });
  });
}

/** A session in My account. */
export interface ListedSession {
  id: string;
  browser: string | null;
  network: string | null;
  proof: Proof;
  createdAt: string;
  lastSeenAt: string;
  isOwn: boolean;
}

const idCharacters = 16;
const idOf = (hash: string) => hash.slice(0, idCharacters);

/** Returns the open sessions of a person; `token` is of the calling session. */
export async function listSessions(
  app: App,
  personId: string,
  token: string,
): Promise<ListedSession[]> {
  const rows = await queries.selectSessionsOfPerson(app.store.db, personId);
  const own = hashOfToken(token);
  return rows
    .filter((row) => !isOver(row, 'person', app.clock.now()))
    .map(({ hash, proof, browser, network, created_at, last_seen_at }) => ({
      id: idOf(hash),
      browser,
      network,
      proof,
      createdAt: isoTime(created_at),
      lastSeenAt: isoTime(last_seen_at),
      isOwn: hash === own,
    }));
}

/** Ends a listed session of a person. */
export async function endListedSession(app: App, personId: string, id: string): Promise<void> {
  await app.store.write(async (trx) => {
    const rows = await queries.selectSessionsOfPerson(trx, personId);
    const row = rows.find(({ hash }) => idOf(hash) === id);
    if (row) await queries.deleteSession(trx, row.hash);
  });
}

/** Ends all sessions of a person except the session of `token`. */
export async function endOtherSessions(app: App, personId: string, token: string): Promise<void> {
  await app.store.write((trx) => queries.deleteOtherSessions(trx, personId, hashOfToken(token)));
}
