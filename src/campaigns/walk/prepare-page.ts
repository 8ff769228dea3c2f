// Reads the contacts of a page and prepares their messages, outside of any transaction: that takes
// workers and time. Also draws the tokens of messages that are queued at once.
import { drawTokens } from '../../access/admission/draw-tokens.ts';
import { findOrganization } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import { findMessageRows } from '../../outbound/messages/queries.ts';
import { dayAfter, dayIn, isTimezone, minuteIn, timeIn } from '../../platform/runtime/calendar.ts';
import type { Db } from '../../platform/store/db.ts';
import type { RunState } from '../../run-ledger/queries.ts';
import {
  findOtherRetries,
  findOtherRuns,
  selectNotSkipped,
} from '../../run-ledger/walk-queries.ts';
import { judgeContacts, type Question, type Recipient } from '../audience/judge.ts';
import { readCandidates, readMatches } from '../audience/read-ahead.ts';
import {
  dispatchedRun,
  type PreparationEnds,
  type Prepared,
  prepareDispatch,
} from '../mail/dispatch.ts';
import type { Room } from './run-waits.ts';
import type { Snapshots } from './walked-run.ts';

/** A message prepared for a contact, with the time of the contact's last change. */
export interface PreparedFor {
  updatedAt: number;
  email: string;
  prepared: Prepared;
}

/** A page before the transaction. */
export interface Page {
  /** The run as it was read. A newer `last_contact_id` means that a daemon continued it. */
  run: RunState;
  snapshots: Snapshots;
  question: Question;
  /** Candidates by id. */
  ids: readonly string[];
  /**
   * Last contact that the page covers: `ids` has all candidates up to this contact. Null for an
   * empty audience, and for a first page that covers no contact.
   */
  reached: string | null;
  prepared: ReadonlyMap<string, PreparedFor>;
  room: Room;
  /** Drawn tokens, and the ms until the next token. */
  tokens: { drawn: number; waitMs: number };
  /** Time zone of contacts that have no zone. */
  timezone: string;
}

/**
 * Prepares the next page of a run, as large as its limits allow. Prepares only the first contacts
 * if the turn ends earlier.
 */
export async function preparePage(
  app: App,
  run: RunState,
  snapshots: Snapshots,
  { room, turn }: { room: Room; turn: PreparationEnds },
): Promise<Page> {
  const { db } = app.store;
  const { organization_id: organizationId } = run;
  const { audience, policy } = snapshots;
  const first: Question = {
    organizationId,
    runId: run.id,
    audience,
    unsubscribeGroupId: policy.unsubscribeGroupId,
    omitRunIds: await findOmitted(db, run),
  };
  const read = await readPage(app, run, snapshots);
  // These contacts matched at the read. A contact changed after this is prepared again.
  const matching = new Set(read.ids);
  const judged =
    read.ids.length > 0 ? await judgeContacts(db, { ...first, matching }, read.ids) : [];
  const recipients = judged.filter((one) => one.skip === null).slice(0, room.most);
  const prepared =
    recipients.length > 0
      ? await prepareDispatch(
          app,
          await dispatchedRun(app, run, snapshots.mailing),
          recipients,
          turn,
        )
      : [];
  const timezone = (await findOrganization(db, organizationId))?.timezone ?? 'UTC';
  const now = app.clock.now();
  const goNow = recipients.filter(
    (one, index) => isRequest(prepared[index]) && quietUntil(one, timezone, now) === null,
  );
  const drawer = { organizationId, keyId: null };
  const tokens = await drawTokens(app, drawer, goNow.length, { leavesHalf: true });
  const parts = recipients.flatMap(({ contactId, updatedAt, email }, index) => {
    const one = prepared[index];
    return one ? [[contactId, { updatedAt, email, prepared: one }] as const] : [];
  });
  return {
    ...(await matched(app, first, cutAt(read, run, recipients[prepared.length]?.contactId))),
    run,
    snapshots,
    room,
    tokens,
    timezone,
    prepared: new Map(parts),
  };
}

/** Ends a page before `contactId`, which has no prepared message; undefined keeps the page. */
function cutAt(
  read: Pick<Page, 'ids' | 'reached'>,
  { last_contact_id }: RunState,
  contactId: string | undefined,
): Pick<Page, 'ids' | 'reached'> {
  if (contactId === undefined) return read;
  const ids = read.ids.slice(0, read.ids.indexOf(contactId));
  return { ids, reached: ids.at(-1) ?? last_contact_id };
}

/** Returns whether a run leaves out the contacts of other runs of the campaign. */
export function leavesOut({ retry_of, only_new }: RunState): boolean {
  return retry_of !== null || only_new === 1;
}

/** Returns the ids of the further runs whose judged contacts are left out of this run. */
export async function findOmitted(db: Db, run: RunState): Promise<string[]> {
  if (run.retry_of !== null) return findOtherRetries(db, run);
  return run.only_new === 1 ? findOtherRuns(db, run) : [];
}

/** Reads which candidates match the queries of the audience. Cuts a page that takes too long. */
async function matched(
  app: App,
  question: Question,
  { ids, reached }: Pick<Page, 'ids' | 'reached'>,
): Promise<Pick<Page, 'question' | 'ids' | 'reached'>> {
  const { audience } = question;
  if (audience === null || ids.length === 0) return { question, ids, reached };
  const { matching, asked } = await readMatches(app, question, audience, ids);
  const isWhole = asked.length === ids.length;
  const end = isWhole ? reached : (asked.at(-1) ?? reached);
  return { question: { ...question, matching }, ids: asked, reached: end };
}

function readPage(
  app: App,
  run: RunState,
  { audience, policy }: Snapshots,
): Promise<{ ids: string[]; reached: string | null }> {
  const { last_contact_id: after, last_of_audience: until, retry_of } = run;
  if (until === null) return Promise.resolve({ ids: [], reached: null });
  const asked = { after, until, limit: policy.pageSize };
  if (retry_of !== null) return readFailed(app.store.db, retry_of, asked);
  if (!audience) throw new Error(`the run ${run.id} has no audience`);
  return readCandidates(app, run.organization_id, audience, { runId: run.id, ...asked });
}

/** Tells whether a message could be made. */
export function isRequest(
  one: Prepared | undefined,
): one is Extract<Prepared, { request: unknown }> {
  return one !== undefined && 'request' in one;
}

/** Returns the end of the quiet hours of a contact, ms since 1970; null outside of them. */
export function quietUntil(
  { quietHours, timezone }: Pick<Recipient, 'quietHours' | 'timezone'>,
  timezoneOfOrganization: string,
  now: number,
): number | null {
  if (!quietHours) return null;
  const known = timezone !== null && isTimezone(timezone);
  return endOfQuietHours(quietHours, known ? timezone : timezoneOfOrganization, now);
}

// The contacts of a run that repeats an earlier run: contacts of the earlier run for which no
// message could be made, or with a failed message. Bounced and complained messages did not fail.

interface Asked {
  after: string | null;
  until: string;
  limit: number;
}

/**
 * Reads a page of the ledger of the repeated run. `ids` has all failed contacts up to `reached`,
 * which is `until` at the end of the ledger.
 */
async function readFailed(
  db: Db,
  runId: string,
  { after, until, limit }: Asked,
): Promise<{ ids: string[]; reached: string }> {
  const rows = await selectNotSkipped(db, runId, { after: after ?? '', until, limit });
  const messageIds = rows.flatMap(({ message_id }) => message_id ?? []);
  const messages = messageIds.length > 0 ? await findMessageRows(db, messageIds) : [];
  const failed = new Set(messages.flatMap(({ id, status }) => (status === 'failed' ? id : [])));
  const found = rows.filter(
    ({ outcome, message_id }) => outcome === 'failed' || failed.has(message_id ?? ''),
  );
  return {
    ids: found.map(({ contact_id }) => contact_id),
    reached: rows.length < limit ? until : (rows.at(-1)?.contact_id ?? until),
  };
}

// Quiet hours of a contact: the time of day, in the contact's zone, without mail. They may pass
// midnight. They end by local time, also on a day with a change of clocks.

/** Longest delay of a message by quiet hours. */
const mostDelayMs = 24 * 3_600_000;
const minutesOfHour = 60;

/** Times of day as `HH:MM`. */
interface QuietHours {
  start: string;
  end: string;
}

function minuteOf(timeOfDay: string): number {
  const [hours = 0, minutes = 0] = timeOfDay.split(':').map(Number);
  return hours * minutesOfHour + minutes;
}

/**
 * Returns the end of the quiet hours in which `now` lies, in ms since 1970; null outside of them.
 * Equal start and end mean no quiet hours.
 */
export function endOfQuietHours(
  { start, end }: QuietHours,
  timezone: string,
  now: number,
): number | null {
  const [from, to, minute] = [minuteOf(start), minuteOf(end), minuteIn(timezone, now)];
  const isSinceYesterday = from > to && minute < to;
  const isWithin = from < to ? from <= minute && minute < to : from > to && minute >= from;
  if (!(isWithin || isSinceYesterday)) return null;
  const today = dayIn(timezone, now);
  const day = from > to && !isSinceYesterday ? dayAfter(today) : today;
  const endsAt = timeIn(timezone, day, to);
  // When clocks are set back, the end comes twice: the first end counts.
  return endsAt > now ? Math.min(now + mostDelayMs, endsAt) : null;
}
