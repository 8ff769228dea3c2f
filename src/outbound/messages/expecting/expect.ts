// Waits for a mail: to an address, for tests of software that sends mail (`svc messages expect`,
// `GET /v1/messages/expect`), or in a mailbox (src/inbox/threads/expect.ts). Reads the newest
// messages, and not the search index: a daemon fills that a moment later.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { CapacityError, ResourceNotFoundError, ValidationError } from '../../../platform/errors.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import { readStoreUntil } from '../../../platform/store/changes/read-until.ts';
import { boundsOf } from '../../../platform/store/rows/time-range.ts';
import { listMessageIds } from '../lists/list-queries.ts';
import { getMessage, getMessageRow } from '../messages.ts';
import { findListedMessages, findRecipients } from '../queries.ts';
import { readTextAndExtracts } from './extracts.ts';
import type { ExpectedMessage, ExpectQuery } from './schema.ts';

/** Time before the wait from which a mail counts: a test may send first and then expect. */
const lookBackMs = 60_000;
/** Most messages that a read examines, the newest first. */
const mostMessages = 1_000;
const perPage = 100;
/** Least and longest time between two reads. */
const readEachMs = 100;
const readAgainMs = 1_000;
/** Longest wait. It ends at least `reserveSeconds` before the time limit of requests. */
const longestSeconds = 25;
const reserveSeconds = 3;

export interface Expected {
  to: string;
  /** RE2 pattern that a part of the subject matches, in any case. */
  subject?: string | undefined;
  /** Only mail created at or after this time, ms since 1970 (default: a minute ago). */
  since?: number | undefined;
  withinMs: number;
  /** Ends the wait early, with a CapacityError. */
  signal?: AbortSignal | undefined;
}

/** A mail that is awaited, in a single organization. */
export interface Awaited extends Pick<Expected, 'subject' | 'since' | 'withinMs' | 'signal'> {
  organizationId: string;
  direction?: 'inbound';
  /** Selects the wanted messages, and the messages about which too little is known yet. */
  sift(ids: readonly string[]): Promise<{ wanted: Set<string>; unknown?: Set<string> }>;
}

interface Search extends Pick<Awaited, 'organizationId' | 'direction' | 'subject' | 'sift'> {
  app: App;
  since: number;
  /** Ids of messages that an earlier read has examined. */
  seen: Set<string>;
}

/**
 * Waits for a mail, and returns it with text, codes and links.
 * @throws ResourceNotFoundError if none comes in time; ValidationError for an invalid pattern;
 * CapacityError if `signal` aborts, or the parse worker is full.
 */
export async function expectMessage(
  app: App,
  caller: Caller,
  { to, subject, since, withinMs, signal }: Expected,
): Promise<ExpectedMessage> {
  const { organizationId } = caller;
  const folded = foldAddress(to);
  const sift = async (ids: readonly string[]) => {
    const recipients = await findRecipients(app.store.db, ids);
    const own = recipients.filter(({ email }) => foldAddress(email) === folded);
    return { wanted: new Set(own.map((row) => row.message_id)) };
  };
  const awaited = { organizationId, subject, since, withinMs, signal, sift };
  const id = await awaitMessage(app, awaited);
  if (id === undefined) {
    if (signal?.aborted) throw interrupted();
    throw new ResourceNotFoundError('message', to);
  }
  const message = await getMessage(app, caller, id);
  const row = await getMessageRow(app.store.db, organizationId, id);
  return { message, ...(await readTextAndExtracts(app, row)) };
}

/**
 * Waits for a message, and returns the id; undefined if none comes in time, or after the abort.
 * @throws ValidationError for an invalid pattern; CapacityError if the parse worker is full.
 */
export async function awaitMessage(
  app: App,
  { withinMs, signal, since = app.clock.now() - lookBackMs, ...awaited }: Awaited,
): Promise<string | undefined> {
  const search: Search = { ...awaited, app, since, seen: new Set() };
  if (search.subject !== undefined) await matchInWorker(search, search.subject, []);
  const wait = {
    timeoutMs: withinMs,
    longestPauseMs: readAgainMs,
    eachMs: readEachMs,
    signal,
    isEnough: (id: string | undefined) => id !== undefined,
  };
  return readStoreUntil(app, wait, () => findNewest(search));
}

/** Waits for a mail as `expectMessage` does, within the time limit of requests. */
export function expectInRequest(
  app: App,
  caller: Caller,
  { within, to, subject, ...range }: ExpectQuery,
  signal: AbortSignal | undefined,
): Promise<ExpectedMessage> {
  const most = Math.min(longestSeconds, app.config.http.requestTimeoutSeconds - reserveSeconds);
  const withinMs = Math.max(0, Math.min(within, most)) * 1_000;
  const { from: since } = boundsOf(range);
  return expectMessage(app, caller, { to, subject, since, withinMs, signal });
}

function interrupted(): CapacityError {
  const text = 'The wait has ended for another request or the end of the daemon: ask again';
  return new CapacityError(text, 1, { reason: 'capacity-streams' });
}

/** Returns the id of the newest match among messages that no earlier read has seen. */
async function findNewest(search: Search): Promise<string | undefined> {
  const { app, organizationId, direction, since, seen } = search;
  const filter = { organizationId, direction, createdFrom: since };
  for (let offset = 0; offset < mostMessages; offset += perPage) {
    const ids = await listMessageIds(app.store.db, filter, perPage, offset);
    const fresh = ids.filter((id) => !seen.has(id));
    const found = await firstMatch(search, fresh);
    if (found !== undefined || ids.length < perPage || fresh.length === 0) return found;
  }
  return undefined;
}

async function firstMatch(search: Search, ids: readonly string[]): Promise<string | undefined> {
  if (ids.length === 0) return undefined;
  const { db } = search.app.store;
  const sifted = await search.sift(ids);
  const wanted = ids.filter((id) => sifted.wanted.has(id));
  const subjects = new Map(
    (await findListedMessages(db, wanted)).map((row) => [row.id, row.subject ?? '']),
  );
  const flags = await matchSubjects(
    search,
    wanted.map((id) => subjects.get(id) ?? ''),
  );
  for (const id of ids) if (!sifted.unknown?.has(id)) search.seen.add(id);
  return wanted.find((id, index) => flags[index] && subjects.has(id));
}

/** Returns a flag for each subject: whether the pattern matches. */
async function matchSubjects(search: Search, texts: readonly string[]): Promise<boolean[]> {
  if (search.subject === undefined || texts.length === 0) return texts.map(() => true);
  return matchInWorker(search, search.subject, texts);
}

/** Matches texts in the parse worker. @throws ValidationError for an invalid pattern */
async function matchInWorker(
  { app, organizationId }: Search,
  pattern: string,
  texts: readonly string[],
): Promise<boolean[]> {
  const matched = await app.mime.matchTexts({ pattern, texts }, organizationId);
  if ('matches' in matched) return matched.matches;
  throw ValidationError.of('subject', `is not a pattern of RE2: ${matched.problem}`);
}
