// Passkeys (WebAuthn): a person adds several, signs in by them without typing, and removes them.
//
//   passkey   | event                                                    | then
//   ----------+----------------------------------------------------------+----------
//   (none)    | added after a fresh proof (adding.ts)                    | accepted
//   accepted  | answers a question of this browser, once, in five minutes | accepted
//   accepted  | a right answer whose counter did not grow (0 and 0 is    | refused
//             | fine: synced passkeys do not count)                      |
//   any       | removed by the person; a new start by the operator; the  | (none)
//             | person ends                                              |
import type { App } from '../../core/app.ts';
import { hashOfToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import type { EndPerson } from '../members/hooks.ts';
import { recordOfPerson } from '../members/persons.ts';
import { findPerson, lockPersons, updatePerson } from '../members/queries.ts';
import { mayAddPasskey } from './adding.ts';
import * as ceremony from './ceremony.ts';
import { type Asking, checkChallenge, newChallenge } from './challenges.ts';
import * as queries from './queries.ts';
import { type PasskeyReason, PasskeyRefusal } from './refusals.ts';
import { passkeyName, registrationResponse, signInResponse } from './schema.ts';
import { passkeySite } from './site.ts';

/** A person who adds a passkey. */
export interface Adding {
  personId: string;
  /** Token of the session. */
  browser: string;
  /** Whether the fresh proof of the session is a passkey or the provider, not a mailed link. */
  isStronglyProven: boolean;
}

function refused(reason: PasskeyReason, personId: string | null = null): PasskeyRefusal {
  return new PasskeyRefusal(reason, personId);
}

/** Parses the JSON of a browser; returns undefined for any other text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Checks the challenge that an authenticator signed. Keeps the hash, and the reason of a refusal.
 */
class SignedChallenge {
  readonly #app: App;
  readonly #asking: Asking;
  /** Reason of a refused answer: `old` or `foreign` for the challenge, else `invalid`. */
  reason: PasskeyReason = 'invalid';
  hash = '';

  constructor(app: App, asking: Asking) {
    this.#app = app;
    this.#asking = asking;
  }

  readonly isRight = (signed: string): boolean => {
    const challenge = Buffer.from(signed, 'base64url').toString('utf8');
    const state = checkChallenge(this.#app, challenge, this.#asking);
    if (state !== 'right') this.reason = state;
    this.hash = hashOfToken(challenge);
    return state === 'right';
  };
}

/** Returns the options with which a browser makes a passkey, or a refusal. */
export async function registrationOptions(
  app: App,
  adding: Adding,
): Promise<ceremony.PublicKeyCredentialCreationOptionsJSON | PasskeyRefusal> {
  const { personId, browser } = adding;
  const site = passkeySite(app);
  if (!site) return refused('no-site');
  const { db } = app.store;
  const person = await findPerson(db, personId);
  if (!person || !(await mayAddPasskey(app, db, adding))) return refused('not-first');
  const known = await queries.selectPasskeys(db, personId);
  if (known.length >= queries.mostPasskeys) return refused('full');
  return ceremony.creationOptions(site, {
    personId,
    email: person.email,
    challenge: newChallenge(app, { purpose: 'add', browser, personId }),
    known: known.filter(({ rp_id }) => rp_id === site.rpId).map((row) => row.credential_id),
  });
}

/**
 * Checks a browser's answer (JSON) to `registrationOptions`. Returns the stored passkey, or a
 * refusal.
 */
export async function verifyRegistration(
  app: App,
  adding: Adding,
  answer: { response: string; name: string },
): Promise<queries.PasskeyRow | PasskeyRefusal> {
  const { personId, browser } = adding;
  const site = passkeySite(app);
  if (!site) return refused('no-site');
  const response = registrationResponse.safeParse(parsed(answer.response));
  if (!response.success) return refused('unreadable');
  const challenge = new SignedChallenge(app, { purpose: 'add', browser, personId });
  const made = await ceremony.checkCreation(site, response.data, challenge.isRight);
  if (!made) return refused(challenge.reason, personId);
  const now = app.clock.now();
  const row: queries.PasskeyRow = {
    id: app.newId('passkey'),
    person_id: personId,
    rp_id: site.rpId,
    credential_id: made.credentialId,
    public_key: made.publicKey,
    counter: made.counter,
    is_synced: made.isSynced ? 1 : 0,
    name: passkeyName.parse(answer.name) || 'Passkey',
    created_at: now,
    last_used_at: null,
    refused_at: null,
  };
  return app.store.write(async (trx) => {
    // Lets concurrent requests add passkeys in sequence: the second sees the passkey of the first.
    await lockPersons(trx, [personId]);
    if (!(await mayAddPasskey(app, trx, adding))) return refused('not-first', personId);
    const known = await queries.selectPasskeys(trx, personId);
    if (known.length >= queries.mostPasskeys) return refused('full', personId);
    if (!(await queries.insertUsedChallenge(trx, challenge.hash, now))) return refused('used');
    if (!(await queries.insertPasskey(trx, row))) return refused('taken', personId);
    if (!adding.isStronglyProven) await updatePerson(trx, personId, { new_start_at: null });
    const details = { name: row.name };
    await recordOfPerson(app, trx, personId, { action: 'member.passkey-added', details });
    return row;
  });
}

/**
 * Returns the options with which a browser requests a passkey, or a refusal. At a sign-in
 * (`personId` null) the browser offers all passkeys of this site, and no passkey is read.
 */
export async function signInOptions(
  app: App,
  asking: Asking,
): Promise<ceremony.PublicKeyCredentialRequestOptionsJSON | PasskeyRefusal> {
  const site = passkeySite(app);
  if (!site) return refused('no-site');
  const { personId } = asking;
  const known = personId === null ? null : await queries.selectPasskeys(app.store.db, personId);
  const here = known?.filter(({ rp_id, refused_at }) => rp_id === site.rpId && !refused_at);
  return ceremony.requestOptions(site, {
    challenge: newChallenge(app, asking),
    allowed: here?.map(({ credential_id }) => credential_id) ?? null,
  });
}

/** Checks a browser's answer (JSON) to `signInOptions`. Returns the used passkey, or a refusal. */
export async function verifySignIn(
  app: App,
  asking: Asking,
  answer: string,
): Promise<queries.PasskeyRow | PasskeyRefusal> {
  const site = passkeySite(app);
  if (!site) return refused('no-site');
  const response = signInResponse.safeParse(parsed(answer));
  if (!response.success) return refused('unreadable');
  const row = await queries.findPasskey(app.store.db, response.data.id);
  if (!row || row.rp_id !== site.rpId) return refused('unknown');
  const { userHandle } = response.data.response;
  // The answer must name the person, but may leave the name out if the person is known already.
  const named = userHandle ? Buffer.from(userHandle, 'base64url').toString() : asking.personId;
  const isOf = named === row.person_id && [null, row.person_id].includes(asking.personId);
  if (!isOf) return refused('unknown');
  const challenge = new SignedChallenge(app, asking);
  const { isRight } = challenge;
  const { public_key: publicKey } = row;
  const checked = await ceremony.checkRequest(site, response.data, { publicKey, isRight });
  if (!checked) return refused(challenge.reason, row.person_id);
  return app.store.write((trx) => acceptAnswer(app, trx, { row, checked, hash: challenge.hash }));
}

interface RightAnswer {
  row: queries.PasskeyRow;
  checked: ceremony.CheckedAnswer;
  /** Hash of the challenge. */
  hash: string;
}

async function acceptAnswer(
  app: App,
  trx: Db,
  { row: { id, person_id }, checked: { counter, isSynced }, hash }: RightAnswer,
): Promise<queries.PasskeyRow | PasskeyRefusal> {
  const now = app.clock.now();
  if (!(await queries.insertUsedChallenge(trx, hash, now))) return refused('used', person_id);
  const row = await queries.lockPasskey(trx, id);
  if (!row) return refused('unknown');
  if (row.refused_at !== null) return refused('copied', person_id);
  const hasGrown = counter > row.counter || (counter === 0 && row.counter === 0);
  if (!hasGrown) {
    await queries.updatePasskey(trx, row, { refused_at: now });
    const details = { name: row.name };
    await recordOfPerson(app, trx, person_id, { action: 'member.passkey-refused', details });
    return refused('copied', person_id);
  }
  const change = { counter, is_synced: isSynced ? 1 : 0, last_used_at: now };
  await queries.updatePasskey(trx, row, change);
  return { ...row, ...change };
}

/** Deletes all passkeys of a person. */
export const endPasskeys: EndPerson = async (_app, trx, personId) => {
  await queries.deletePasskeysOf(trx, personId);
};

/** Renames a passkey of a person. Returns false if the person has no passkey with the id. */
export async function renamePasskey(
  app: App,
  of: queries.PasskeyOf,
  name: string,
): Promise<boolean> {
  const change = { name: passkeyName.parse(name) || 'Passkey' };
  return app.store.write((trx) => queries.updatePasskey(trx, of, change));
}

/** Removes a passkey of a person. Returns false if the person has no passkey with the id. */
export async function removePasskey(app: App, of: queries.PasskeyOf): Promise<boolean> {
  return app.store.write(async (trx) => {
    const removed = await queries.deletePasskey(trx, of);
    if (!removed) return false;
    const details = { name: removed.name };
    const change = { action: 'member.passkey-removed', details } as const;
    await recordOfPerson(app, trx, of.person_id, change);
    return true;
  });
}
