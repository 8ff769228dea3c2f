// Explains the state of a message in sentences: for each recipient the last event, the next event
// and its time, the command that helps, and the server's own words. The sentences themselves are in
// explain-words.ts.

import { findOrganization } from '../../access/organizations/queries.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { absenceOf } from '../../mail/smtp/destination.ts';
import { type Cause, causes } from '../../mail/smtp/reply-rules/causes.ts';
import { isGreylisting } from '../../mail/smtp/reply-rules/classify-reply.ts';
import { findRefusedMembers, memberRefusalWords } from '../../people/blocks/member-refusals.ts';
import type { BlockReason } from '../../people/blocks/schema.ts';
import { isRecipientsWish } from '../../people/blocks/suppression.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { findRunState, type RunState } from '../../run-ledger/queries.ts';
import type { HoldRow } from '../deliveries/hold-queries.ts';
import { findHolds } from '../deliveries/holds-in-force.ts';
import { type DeliveryRow, findDeliveries } from '../deliveries/queries.ts';
import { countBefore } from '../deliveries/queue-queries.ts';
import { metadataOf, shownStatus } from '../messages/captured.ts';
import { getMessageRow } from '../messages/messages.ts';
import { findRecipients } from '../messages/queries.ts';
import type { Attempt } from '../messages/schema.ts';
import { domainOfWarming, organizationOfShare } from '../queue/claiming/stops.ts';
import { stateOf } from '../queue/desk/queue.ts';
import {
  aboutOther,
  decidedByRecipient,
  type ErrorWords,
  errorWords,
  type Facts,
  type Help,
  noTlsWords,
  outcomeWords,
  privateAddressWords,
  runWords,
  stateWords,
  statusWords,
  type WaitWords,
  waitWords,
} from './explain-words.ts';
import type { MessageExplanation, RecipientExplanation, ServerWords } from './schema.ts';
import { timeInWords } from './time-words.ts';

const mostCountedAhead = 10_000;

/** Explains the state of a message in sentences. @throws ResourceNotFoundError. */
export async function explainMessage(
  app: App,
  caller: Caller,
  id: string,
): Promise<MessageExplanation> {
  const { db } = app.store;
  const message = await getMessageRow(db, caller.organizationId, id);
  const rows = await findDeliveries(db, [id]);
  const kinds = new Map((await findRecipients(db, [id])).map((row) => [row.id, row.kind]));
  const recipients: RecipientExplanation[] = [];
  const organization = await nameForCommands(db, caller.organizationId);
  for (const row of rows) {
    const explained = await explainDelivery(app, row, organization);
    recipients.push({ ...explained, kind: kinds.get(row.recipient_id) ?? null });
  }
  return {
    messageId: id,
    subject: message.subject,
    status: message.status,
    createdAt: isoTime(message.created_at),
    summary: summaryOf(message.direction, rows),
    recipients,
  };
}

function summaryOf(direction: 'inbound' | 'outbound', rows: readonly DeliveryRow[]): string {
  if (direction === 'inbound') return 'The message was received: there is nothing to deliver.';
  const counts = [...Map.groupBy(rows, statusInWords)].map(
    ([status, { length }]) => `${length} ${status}`,
  );
  return `${rows.length} recipient${rows.length === 1 ? '' : 's'}: ${counts.join(', ')}.`;
}

function statusInWords({ status, attempts }: DeliveryRow): string {
  return shownStatus({ status, metadata: metadataOf(fromJson<Attempt[]>(attempts) ?? []) });
}

/** Returns the value for `--org`; null for the first organization, the default of commands. */
async function nameForCommands(db: Db, organizationId: string): Promise<string | null> {
  const { name = organizationId, is_first } = (await findOrganization(db, organizationId)) ?? {};
  return is_first === 1 ? null : name;
}

async function explainDelivery(
  app: App,
  row: DeliveryRow,
  organization: string | null,
): Promise<RecipientExplanation> {
  const now = app.clock.now();
  const attempts = fromJson<Attempt[]>(row.attempts) ?? [];
  const last = attempts.at(-1);
  const hold = (await findHolds(app.store.db, [row])).of(row);
  const ahead = row.turn === null ? 0 : await countBefore(app.store.db, row.turn, mostCountedAhead);
  const nextAtMs = nextTimeOf(app, row, hold);
  const run = await findStoppedRun(app.store.db, row);
  const known = factsOf(row, last, { now, hold, run, ahead, nextAtMs });
  const plan = planOf(row, hold, run);
  const { cause, remedy } = errorFactsOf(row);
  const refused = await findRefusedMembers(app, row.organization_id, [row.email]);
  return {
    recipientId: row.recipient_id,
    deliveryId: row.id,
    kind: null,
    email: row.email,
    status: row.status,
    state: stateOf(row),
    happened: fill(happenedWords(row, last), known),
    happenedAt: isoTime(row.terminal_at ?? row.last_attempt_at ?? row.created_at),
    waitReason: row.due_at === null ? null : row.wait_reason,
    because: plan.because && fill(plan.because, known),
    next: plan.next && fill(plan.next, known),
    nextAt: isoTime(nextAtMs),
    help: plan.help && {
      purpose: plan.help.purpose,
      command: fillCommand(plan.help, known, organization),
    },
    said: saidOf(row, last),
    errorCode: row.error_code,
    ...(cause !== undefined && { cause }),
    ...(remedy !== undefined && { remedy }),
    ...(refused.size > 0 && { memberRefusals: memberRefusalWords(row.email) }),
    attemptCount: row.attempt_count,
    attempts,
  };
}

/** Returns the campaign run for which a delivery waits, or null. */
async function findStoppedRun(
  db: Db,
  { wait_reason, campaign_run_id: runId }: DeliveryRow,
): Promise<RunState | null> {
  if (wait_reason !== 'campaign-paused' || runId === null) return null;
  return (await findRunState(db, runId)) ?? null;
}

/** Returns the words for mail of a stopped run; null if the run continues. */
function wordsOfRun({ status, hold_reason: reason }: RunState) {
  if (status !== 'paused' && status !== 'held') return null;
  return (runWords as Readonly<Record<string, WaitWords>>)[reason ?? status] ?? null;
}

/** Facts in `errorDetails`, besides the reply of the server. */
interface ErrorFacts {
  verb?: string;
  code?: number | null;
  refusedAddress?: string;
  cause?: Cause;
  remedy?: string;
}

function errorFactsOf({ error_code, error_details }: DeliveryRow): ErrorFacts {
  return (error_code === null ? null : fromJson<ErrorFacts>(error_details)) ?? {};
}

function saidOf(row: DeliveryRow, last: Attempt | undefined): ServerWords | null {
  const details = fromJson<Partial<ServerWords & { mx: string | null }>>(row.error_details);
  if (details?.reply !== undefined && details.verb !== undefined) {
    const { code = null, enhancedCode = null, reply, verb, mx = null, address = null } = details;
    return { code, enhancedCode, reply, verb, host: mx, address };
  }
  if (!last) return null;
  const { code, enhancedCode, reply, verb, host, address } = last;
  return { code, enhancedCode, reply, verb, host, address };
}

/** Returns the latest time of the next step; null if it is unknown. */
function nextTimeOf(app: App, row: DeliveryRow, hold: HoldRow | null): number | null {
  if (isUnconfirmed(row)) {
    const { assumeDeliveredAfterMinutes } = app.config.delivery.relay;
    return (row.sent_at ?? 0) + assumeDeliveredAfterMinutes * 60_000;
  }
  return hold || row.turn !== null || row.claimed_by !== null ? null : row.due_at;
}

function isUnconfirmed({ status, terminal_at }: DeliveryRow): boolean {
  return status === 'sent' && terminal_at === null;
}

function errorWordsOf(row: DeliveryRow): ErrorWords | null {
  const { error_code: code } = row;
  if (code === null) return null;
  const { verb, code: replyCode, cause, remedy, refusedAddress } = errorFactsOf(row);
  // Without a reply we refused the server ourselves: a rule requires TLS, which it does not offer.
  if (code === 'policy' && verb === 'STARTTLS' && replyCode === null) return noTlsWords;
  if (code === 'policy' && verb === 'dns' && replyCode === null) return privateAddressWords;
  const words = (errorWords as Readonly<Record<string, ErrorWords>>)[code] ?? errorWords.unknown;
  if (refusedAddress !== undefined) return { ...words, advice: aboutOther };
  if (cause === undefined || remedy === undefined) return words;
  return { ...words, means: causes[cause]?.means ?? words.means, advice: remedy };
}

/** Returns the template of the sentence about the last event. */
function happenedWords(row: DeliveryRow, last: Attempt | undefined): string {
  const { status, error_code } = row;
  if (status === 'failed' && error_code !== null) {
    const isRefusedHere = last?.outcome === 'failed' && last.verb === 'dns';
    const isOurs = row.attempt_count === 0 || isRefusedHere || error_code === 'cancelled';
    return isOurs ? outcomeWords.notSent : outcomeWords.givenUp;
  }
  if (status === 'bounced' && error_code !== null) return bouncedWords(row, last);
  if (last?.outcome === 'deferred') {
    if (last.host === null && error_code === 'unknown') return outcomeWords.interrupted;
    if (isGreylisting({ ...last, text: last.reply })) return outcomeWords.greylisted;
    if (absenceOf(last) !== null) return outcomeWords.absent;
    return error_code === 'connection' ? outcomeWords.unreached : outcomeWords.deferred;
  }
  const isCaptured = last?.outcome === 'sent' && last.host === null;
  return isCaptured && status === 'delivered' ? capturedWords(last) : statusWords[status];
}

/**
 * Returns the words for a captured mail. Captures by an earlier version have no `capturedBy`:
 * nearly all came from `delivery.mode`.
 */
function capturedWords({ capturedBy = 'delivery.mode' }: Attempt): string {
  if (capturedBy === 'delivery.mode') return outcomeWords.captured;
  if (capturedBy === 'delivery.allow') return outcomeWords.notAllowed;
  return outcomeWords.capturedByRoute;
}

function bouncedWords(row: DeliveryRow, last: Attempt | undefined): string {
  const isOfOther = errorFactsOf(row).refusedAddress !== undefined;
  if (row.sent_at !== null)
    return isOfOther ? outcomeWords.returnedForOther : outcomeWords.returned;
  return last?.verb === 'dns' ? outcomeWords.unknownToDns : outcomeWords.bounced;
}

interface Plan {
  because: string | null;
  next: string | null;
  help: Help | null;
}

/** Returns the templates for the reason of the wait, the next step, and the command that helps. */
function planOf(row: DeliveryRow, hold: HoldRow | null, run: RunState | null): Plan {
  const done: Plan = { because: null, next: null, help: null };
  if (row.due_at === null) {
    if (isUnconfirmed(row)) return { ...done, ...stateWords.unconfirmed };
    const error = row.status === 'failed' || row.status === 'bounced' ? errorWordsOf(row) : null;
    if (!error) return done;
    const next = isByRecipient(row) ? decidedByRecipient : error.advice;
    return { ...done, next, help: error.help };
  }
  if (row.claimed_by !== null) return { ...done, ...stateWords.claimed };
  if (hold) return { ...done, ...stateWords.held };
  if (row.turn !== null) return { ...done, ...stateWords.ready };
  if (organizationOfShare(row.lane) !== null) return stateWords.shared;
  if (domainOfWarming(row.lane) !== null) return stateWords.warming;
  const isScheduled = row.status === 'scheduled';
  if (isScheduled && row.wait_reason === 'rate') return stateWords.paced;
  const ofRun = run && wordsOfRun(run);
  if (ofRun) return ofRun;
  if (row.wait_reason !== null) return waitWords[row.wait_reason];
  return { ...done, ...(isScheduled ? stateWords.scheduled : stateWords.waiting) };
}

/** Returns true if the block that ended the delivery is an unsubscribe or a complaint. */
function isByRecipient({ error_code, error_details }: DeliveryRow): boolean {
  if (error_code !== 'suppressed') return false;
  const { reason } = fromJson<{ reason?: BlockReason }>(error_details) ?? {};
  return reason !== undefined && isRecipientsWish(reason);
}

interface Moment {
  now: number;
  hold: HoldRow | null;
  run: RunState | null;
  ahead: number;
  nextAtMs: number | null;
}

function factsOf(row: DeliveryRow, last: Attempt | undefined, moment: Moment): Facts {
  const { now, hold, run, ahead, nextAtMs } = moment;
  const { attempt_count: attempts } = row;
  const known = {
    host: last?.host ?? `The server of ${row.domain}`,
    verb: last?.verb === 'dot' ? 'the end of the message' : (last?.verb ?? 'connect'),
    domain: row.domain,
    email: row.email,
    senderDomain: row.sender_domain,
    organization: row.organization_id,
    message: row.message_id,
    delivery: row.id,
    attempts: String(attempts),
    attemptsMade: `${attempts} attempt${attempts === 1 ? '' : 's'}`,
    nextAttempt: String(attempts + 1),
    due: timeInWords(nextAtMs ?? row.claimed_at ?? row.due_at ?? now, now),
    expires: timeInWords(row.expires_at, now),
    ahead: aheadInWords(ahead),
    hold: hold ? [hold.id, hold.note].filter((part) => part !== null).join(': ') : '',
    holdId: hold?.id ?? '',
    captor: last?.capturedBy ?? '',
    run: row.campaign_run_id ?? '',
    runDetail: run?.hold_detail ?? 'no details',
    waitReason: row.wait_reason ?? 'none yet',
    refused: errorFactsOf(row).refusedAddress ?? '',
  };
  const means = errorWordsOf(row)?.means ?? errorWords.unknown.means;
  return { ...known, means: fill(means, { ...known, means: '' }) };
}

function aheadInWords(count: number): string {
  if (count === 0) return 'no other is before it';
  if (count === 1) return '1 other is before it';
  return count >= mostCountedAhead
    ? `${mostCountedAhead} others or more are before it`
    : `${count} others are before it`;
}

function fill(words: string, known: Facts): string {
  return words.replace(/\{(\w+)\}/g, (_, name: keyof Facts) => known[name]);
}

/** Commands that serve all organizations, and so need no `--org`. */
const ofAllOrganizations = /^svc (?:queue|orgs) /;

/**
 * Fills the template of a command. Adds `--org`, unless the organization is the default, or the
 * command serves all organizations. Quotes addresses for the shell, because strangers chose them.
 */
function fillCommand({ command }: Help, known: Facts, organization: string | null): string {
  const filled = command.replace(/\{(\w+)\}/g, (_, name: keyof Facts) => quoted(known[name]));
  if (organization === null || ofAllOrganizations.test(command)) return filled;
  return `${filled} --org ${quoted(organization)}`;
}

function quoted(word: string): string {
  return /^[\w.@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
