// Waits for a mail to an address, for tests of software that sends mail: `svc messages expect` and
// `GET /v1/messages/expect`. Reads the newest messages, and not the search index: a daemon fills
// that a moment later.
import { boundsOf } from '../../../core/api/resource-schema.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { CapacityError, ResourceNotFoundError, ValidationError } from '../../../platform/errors.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import { readStoreUntil } from '../../../platform/store/changes/read-until.ts';
import { listMessageIds } from '../lists/list-queries.ts';
import { getMessage, getMessageRow } from '../messages.ts';
import { findListedMessages, findRecipients } from '../queries.ts';
import { readTextAndExtracts } from './extracts.ts';
import type { ExpectedMessage, ExpectQuery } from './schema.ts';

/** A mail counts from this long before the wait: a test may send first and then expect. */
const lookBackMs = 60_000;
/** Most messages of a read, the newest first. */
const mostMessages = 1_000;
const perPage = 100;
/** Least and longest time between two reads. */
const readEachMs = 100;
const readAgainMs = 1_000;
/** Longest wait of a request, and the time that it leaves before the time limit of requests. */
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

/** An expected mail, in a single organization. */
interface Search {
  app: App;
  organizationId: string;
  /** Folded address of the recipient. */
  to: string;
  subject: string | undefined;
  since: number;
  /** Ids of messages that do not match. */
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
  const search: Search = {
    app,
    organizationId,
    subject,
    to: foldAddress(to),
    seen: new Set(),
    since: since ?? app.clock.now() - lookBackMs,
  };
  if (subject !== undefined) await matchInWorker(search, subject, []);
  const wait = {
    timeoutMs: withinMs,
    longestPauseMs: readAgainMs,
    eachMs: readEachMs,
    signal,
    isEnough: (id: string | undefined) => id !== undefined,
  };
  const id = await readStoreUntil(app, wait, () => findNewest(search));
  if (id === undefined) {
    if (signal?.aborted) throw interrupted();
    throw new ResourceNotFoundError('message', to);
  }
  const message = await getMessage(app, caller, id);
  const row = await getMessageRow(app.store.db, organizationId, id);
  return { message, ...(await readTextAndExtracts(app, row)) };
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
  const { app, organizationId, since, seen } = search;
  const filter = { organizationId, createdFrom: since };
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
  const recipients = await findRecipients(db, ids);
  const addressed = new Set(
    recipients.filter(({ email }) => foldAddress(email) === search.to).map((row) => row.message_id),
  );
  const wanted = ids.filter((id) => addressed.has(id));
  const subjects = new Map(
    (await findListedMessages(db, wanted)).map((row) => [row.id, row.subject ?? '']),
  );
  const flags = await matchSubjects(
    search,
    wanted.map((id) => subjects.get(id) ?? ''),
  );
  for (const id of ids) search.seen.add(id);
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
