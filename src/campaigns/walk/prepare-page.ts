// Reads the contacts of a page and prepares their messages, outside of any transaction: it takes
// workers and time. The tokens of messages that go at once are drawn here too.
import { drawTokens } from '../../access/admission/draw-tokens.ts';
import { findOrganization } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import { isTimezone } from '../../platform/runtime/calendar.ts';
import type { Db } from '../../platform/store/db.ts';
import type { RunState } from '../../run-ledger/queries.ts';
import { findOtherRetries, findOtherRuns } from '../../run-ledger/walk-queries.ts';
import { judgeContacts, type Question, type Recipient } from '../audience/judge.ts';
import { readCandidates, readMatches } from '../audience/read-ahead.ts';
import {
  dispatchedRun,
  type PreparationEnds,
  type Prepared,
  prepareDispatch,
} from '../mail/dispatch.ts';
import { endOfQuietHours } from './quiet-hours.ts';
import { readFailed } from './retried.ts';
import type { Room } from './run-waits.ts';
import type { Snapshots } from './walked-run.ts';

/** A message that was prepared for a contact as it was then. */
export interface PreparedFor {
  updatedAt: number;
  email: string;
  prepared: Prepared;
}

/** A page before the transaction. */
export interface Page {
  /** The run as it was read; the place tells whether another daemon continued. */
  run: RunState;
  snapshots: Snapshots;
  question: Question;
  /** Candidates by id. */
  ids: readonly string[];
  /** All candidates up to this contact are in `ids`; null for an organization without contacts. */
  reached: string | null;
  prepared: ReadonlyMap<string, PreparedFor>;
  room: Room;
  /** Drawn tokens, and the ms until the next token. */
  tokens: { drawn: number; waitMs: number };
  /** Zone of contacts without their own. */
  timezone: string;
}

/**
 * Prepares the next page of a run with room for messages, or the first contacts if the turn ends
 * before.
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
  // The read has found that they match. A contact that is changed from here on is prepared again.
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
    ...{ run, snapshots, room, tokens, timezone },
    prepared: new Map(parts),
  };
}

/** Ends a page before a contact without a message. */
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

/** Returns the runs of which this run leaves out the contacts. */
export async function findOmitted(db: Db, run: RunState): Promise<string[]> {
  if (run.retry_of !== null) return findOtherRetries(db, run);
  return run.only_new === 1 ? findOtherRuns(db, run) : [];
}

/**
 * Reads which candidates match the queries of the audience. Shortens a page that takes too long.
 */
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

/** Returns the end of the quiet hours of a contact; null outside of them. */
export function quietUntil(
  { quietHours, timezone }: Pick<Recipient, 'quietHours' | 'timezone'>,
  timezoneOfOrganization: string,
  now: number,
): number | null {
  if (!quietHours) return null;
  const known = timezone !== null && isTimezone(timezone);
  return endOfQuietHours(quietHours, known ? timezone : timezoneOfOrganization, now);
}
