// Links that persons get by mail. GET draws a page, since scanners follow links; the button of the
// page uses the link, in whatever browser it is opened. The store has the hash of the token, and
// the encrypted token, which is put into the mail only at delivery (src/outbound/sending/people).
//
//   purpose      | lives      | its button
//   -------------+------------+---------------------------------------------------------------
//   sign-in      | 15 minutes | begins a session
//   proof        | 15 minutes | proves the person at the browser, in the session that asked
//   address      | 15 minutes | gives the person the address that the mail reached
//   take-back    | 7 days     | stops or takes back a change of address, and ends all sessions
//   end-sessions | 7 days     | ends all sessions
//
// Each works once. A link ends with the person, and a link to sign in with a change of the address.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { holdRootKey } from '../../core/root-keys/root-keys.ts';
import { siteOf } from '../../platform/net/network-address.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import { sweep } from '../../platform/store/rows/sweep.ts';
import { recordOfPerson } from '../members/persons.ts';
import { findPerson } from '../members/queries.ts';
import { moveToNewAddress, takeBackAddress } from './address-change.ts';
import * as queries from './link-queries.ts';
import { deleteSessionsOfPerson } from './queries.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const yearMs = 365 * dayMs;

/** Time in which a link works. */
export const linkLivesMs: Readonly<Record<queries.LinkPurpose, number>> = {
  'sign-in': 15 * minuteMs,
  proof: 15 * minuteMs,
  address: 15 * minuteMs,
  'take-back': 7 * dayMs,
  'end-sessions': 7 * dayMs,
};

/** Returns the AES-GCM context that binds an encrypted token to the row of the link. */
export const sealedAs = (hash: string) => `mailedLink:${hash}`;

/** A mailed link, as the page of the link needs it. */
export interface MailedLink {
  personId: string;
  purpose: queries.LinkPurpose;
  /** Address to which the link was mailed. */
  email: string;
  /** Words for the browser that asked, such as "Firefox on Windows". */
  browser: string;
  /** Network that asked: a /24, or a /48 of IPv6. */
  network: string;
  /** Ms since 1970. */
  askedAt: number;
  expiresAt: number;
  /** Token hash of the session that requested a `proof` link; null for each further purpose. */
  sessionHash: string | null;
}

export interface LinkToMake extends Pick<MailedLink, 'personId' | 'purpose' | 'email' | 'browser'> {
  /** IP address of the visitor; empty for a link that the operator prints. */
  address: string;
  sessionHash?: string | null;
}

/** Stores a new link with the hash of the token; for a mail also the encrypted token. */
export async function makeMailedLink(
  app: App,
  trx: Db,
  { personId, purpose, email, browser, address, sessionHash = null }: LinkToMake,
  isMailed: boolean,
): Promise<{ hash: string; token: string }> {
  const token = newToken(app.random);
  const hash = hashOfToken(token);
  const now = app.clock.now();
  if (isMailed) await holdRootKey(app, trx);
  await queries.insertMailedLink(trx, {
    hash,
    person_id: personId,
    purpose,
    token: isMailed ? app.secrets.encrypt(token, sealedAs(hash)) : null,
    message_id: null,
    email,
    browser,
    network: address === '' ? '' : siteOf(address),
    asked_at: now,
    session_hash: sessionHash,
    expires_at: now + linkLivesMs[purpose],
  });
  return { hash, token };
}

/** Returns the token of a link for the mail at delivery; null for a link that no longer works. */
export async function tokenOfLinkMail(app: App, messageId: string): Promise<string | null> {
  const row = await queries.findLinkOfMail(app.store.db, messageId);
  if (!row?.token || row.expires_at <= app.clock.now()) return null;
  return app.secrets.decrypt(row.token, sealedAs(row.hash)).toString();
}

function linkOf(row: queries.MailedLinkRow): MailedLink {
  return {
    personId: row.person_id,
    purpose: row.purpose,
    email: row.email,
    browser: row.browser,
    network: row.network,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    sessionHash: row.session_hash,
  };
}

/** Returns the link of a token, and changes nothing; null for a link that does not work. */
export async function readMailedLink(app: App, token: string): Promise<MailedLink | null> {
  const row = await queries.findMailedLink(app.store.db, hashOfToken(token));
  return row && row.expires_at > app.clock.now() ? linkOf(row) : null;
}

/** Returns the person of a link, even of an expired link; null for an unknown or used link. */
export async function holderOfLink(app: App, token: string): Promise<string | null> {
  return (await queries.findMailedLink(app.store.db, hashOfToken(token)))?.person_id ?? null;
}

/**
 * Uses a link once, and applies the purpose. For `sign-in` and `proof` it only checks the address:
 * the caller begins the session or records the proof. Returns null for a link that does not work.
 */
export function useMailedLink(app: App, token: string): Promise<MailedLink | null> {
  return app.store.write(async (trx) => {
    const row = await queries.takeMailedLink(trx, hashOfToken(token));
    if (!row || row.expires_at <= app.clock.now()) return null;
    return (await actOn(app, trx, row)) ? linkOf(row) : null;
  });
}

async function actOn(app: App, trx: Db, row: queries.MailedLinkRow): Promise<boolean> {
  const { person_id: personId, email } = row;
  const person = await findPerson(trx, personId);
  if (!person) return false;
  switch (row.purpose) {
    case 'sign-in':
    case 'proof':
      return person.email === email;
    case 'address':
      return moveToNewAddress(app, trx, person, email);
    case 'take-back':
      await takeBackAddress(app, trx, person);
      return true;
    case 'end-sessions':
      await deleteSessionsOfPerson(trx, personId);
      await queries.deleteLinksOfPerson(trx, personId);
      await recordOfPerson(app, trx, personId, { action: 'member.sessions-ended' });
      return true;
  }
}

/** Deletes all links and known browsers of a person. */
export async function endLinksOfPerson(_app: App, trx: Db, personId: string): Promise<void> {
  await queries.deleteLinksOfPerson(trx, personId);
  await queries.deleteBrowsersOfPerson(trx, personId);
}

/** Deletes ended links, counts of mails after a day, and browsers unused for a year. */
export async function sweepMailedLinks(app: App): Promise<void> {
  const expiredBefore = await timeOfAge(app, 0);
  const [dayAgo, yearAgo] = [await timeOfAge(app, dayMs), await timeOfAge(app, yearMs)];
  await app.store.write(async (trx) => {
    await queries.deleteMailedLinksBefore(trx, expiredBefore);
    await queries.deleteBrowsersBefore(trx, yearAgo);
  }, 'quiet');
  await sweep(app.store, (trx, limit) => queries.deleteMailTimesBefore(trx, dayAgo, limit));
}
