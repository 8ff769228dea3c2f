// Sends concurrent mails from mailboxes in a shared transaction, in rounds. Two mails of a round
// never share a thread, a draft or an idempotency key, so each mail sees the effects of the mails
// before. A refused mail stores nothing and does not stop the other mails.
//
//   request                                         | answer
//   ------------------------------------------------+-------------------------------------------------
//   the key made a mail before                      | the same answer; 409 if the content differs
//   the mailbox is gone, or paused                  | 404, 409
//   the From belongs to another mailbox or nobody   | 403 (senders.ts)
//   no recipient is left                            | skipped
//   the draft was changed meanwhile                 | 409
//   the key only proposes, or is over the limit     | proposed if it is frozen: approve.ts sends it;
//                                                   | else unfrozen: the caller freezes it and repeats
//   any other                                       | sent, or refused like any send
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { isMailboxOf } from '../../identity/mailboxes/mailbox-rows.ts';
import {
  findMailboxes,
  type MailboxAddressRow,
  type MailboxRow,
  selectAddresses,
} from '../../identity/mailboxes/queries.ts';
import {
  deleteIdempotencyKey,
  type IdempotencyRow,
  idempotencyName,
  setKeptResponse,
} from '../../outbound/messages/idempotency-queries.ts';
import { intakeOf } from '../../outbound/queue/intake.ts';
import { keepKeys } from '../../outbound/sending/idempotency.ts';
import {
  ConflictError,
  InternalError,
  ResourceNotFoundError,
  ServiceError,
} from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { storeActions } from '../approvals/actions.ts';
import { storeProposal } from '../approvals/proposals.ts';
import { isProposed } from '../approvals/queries.ts';
import { endDraft, holdDrafts, proposeDraft } from '../threads/drafts/draft-queries.ts';
import {
  acceptMails,
  type Outgoing,
  openAccept,
  type Place,
  placesOf,
  type Sent,
} from './accept.ts';
import type { Frozen } from './frozen.ts';
import { findRunaways } from './loops.ts';
import { type Mail, type Sifted, siftRecipients, summaryOf } from './mail.ts';
import { type Answer, repeatedAnswer, type Unfrozen } from './repeats.ts';
import type { ReplyResult } from './schema.ts';
import { beyondMailbox } from './senders.ts';
import { type Delayed, keepDelayed, requireRoomToUndo } from './undo/delayed.ts';

/** A mail to send, with the row of the idempotency key. */
export interface Asking extends Outgoing {
  claim: IdempotencyRow | null;
  /**
   * The composed mail to store as a proposal. Null to send the mail; if the mail must be proposed,
   * the answer is then `isUnfrozen`.
   */
  frozen: Frozen | null;
}

interface Placed extends Place {
  asked: Asking;
}

interface Ready extends Placed {
  sifted: Sifted;
}

type Answers = Map<Asking, Answer | Unfrozen>;

/** Stores or refuses each mail. Returns the answers in the order of the requests. */
export async function sendTogether(
  app: App,
  trx: Db,
  asked: readonly Asking[],
): Promise<(Answer | Unfrozen)[]> {
  intakeOf(app).took(asked.length);
  await openAccept(app, trx, asked);
  const answers: Answers = new Map();
  // Claims all keys at once, before any contended lock. So a round never waits for a key that a
  // different daemon holds.
  const owned = await keepFirst(trx, asked, answers);
  for (;;) {
    const left = asked.filter((one) => !answers.has(one));
    if (left.length === 0) break;
    await answerRound(app, trx, await roundOf(trx, left), owned, answers);
  }
  return asked.map((one) => answers.get(one) ?? unanswered());
}

function unanswered(): Answer {
  return { error: new InternalError('A mail was left without an answer') };
}

/** Returns names of a mail for thread, draft and key; each name may occur once in a round. */
function namesOf({ mail, claim }: Asking, { threadId }: Place): string[] {
  return [
    ...(threadId === null ? [] : [threadId]),
    ...(mail.draft ? [mail.draft.id] : []),
    ...(claim ? [nameOf(claim)] : []),
  ];
}

/** Returns the mails that depend on no earlier mail of the list. */
async function roundOf(trx: Db, left: readonly Asking[]): Promise<Placed[]> {
  const places = await placesOf(trx, left);
  const taken = new Set<string>();
  return left.flatMap((asked, index): Placed[] => {
    const place = places[index] ?? { threadId: null, isAnswer: false };
    const names = namesOf(asked, place);
    const waits = names.some((name) => taken.has(name));
    for (const name of names) taken.add(name);
    return waits ? [] : [{ ...place, asked }];
  });
}

async function answerRound(
  app: App,
  trx: Db,
  round: readonly Placed[],
  owned: ReadonlySet<Asking>,
  answers: Answers,
): Promise<void> {
  const others = round.flatMap(({ asked }) => (owned.has(asked) ? [] : asked));
  await keepOrRepeat(trx, others, answers);
  const fresh = round.filter(({ asked }) => !answers.has(asked));
  const open = await ofOpenMailboxes(trx, fresh, answers);
  const sifted = await withRecipients(app, trx, open, answers);
  const ready = await withTheirDrafts(app, trx, sifted, answers);
  const sayings = ready.map((one) => ({ ...one, caller: one.asked.caller }));
  const runaways = await findRunaways(trx, sayings, app.clock.now());
  const isSent = (one: (typeof sayings)[number]) =>
    one.caller.sendMode === 'send' && one.asked.frozen === null && !runaways.has(one);
  await send(app, trx, sayings.filter(isSent), answers);
  for (const one of sayings) if (!isSent(one)) answers.set(one.asked, await propose(app, trx, one));
  await keepAnswers(trx, fresh, answers);
}

function nameOf(claim: IdempotencyRow): string {
  return idempotencyName(claim.organization_id, claim.claim_key);
}

/** Stores new keys, and answers repeats. Each key occurs once in `asked`. */
async function keepOrRepeat(trx: Db, asked: readonly Asking[], answers: Answers): Promise<void> {
  const made = await keepKeys(
    trx,
    asked.flatMap(({ claim }) => claim ?? []),
  );
  for (const one of asked) {
    const known = one.claim && made.get(nameOf(one.claim));
    if (one.claim && known) answers.set(one, repeatedAnswer(one.claim, known));
  }
}

/**
 * Stores the idempotency key of the first mail with each key, or answers that mail as a repeat.
 * Returns these first mails.
 */
async function keepFirst(
  trx: Db,
  asked: readonly Asking[],
  answers: Answers,
): Promise<Set<Asking>> {
  const byName = new Map<string, Asking>();
  for (const one of asked.toReversed()) if (one.claim) byName.set(nameOf(one.claim), one);
  const first = [...byName.values()];
  await keepOrRepeat(trx, first, answers);
  return new Set(first);
}

/** Returns the error if the mailbox cannot send this mail now; else null. */
function refusedBy(
  { caller, mailboxId, mail }: Asking,
  mailbox: MailboxRow | undefined,
  addresses: readonly MailboxAddressRow[],
): ServiceError | null {
  if (!isMailboxOf(caller.organizationId, mailbox)) {
    return new ResourceNotFoundError('mailbox', mailboxId);
  }
  return pausedError(mailbox) ?? beyondMailbox(mailbox, addresses, mail.from);
}

/** Returns the error of a paused mailbox; null otherwise. */
export function pausedError({ id, status }: MailboxRow): ConflictError | null {
  if (status !== 'paused') return null;
  return new ConflictError('mailbox', `${id} is paused: resume it (svc mailboxes resume ${id})`);
}

async function ofOpenMailboxes(
  trx: Db,
  placed: readonly Placed[],
  answers: Answers,
): Promise<Placed[]> {
  const ids = [...new Set(placed.map(({ asked }) => asked.mailboxId))];
  const mailboxes = new Map((await findMailboxes(trx, ids)).map((row) => [row.id, row]));
  const addresses = Map.groupBy(await selectAddresses(trx, ids), (row) => row.mailbox_id);
  return placed.filter(({ asked }) => {
    const { mailboxId } = asked;
    const error = refusedBy(asked, mailboxes.get(mailboxId), addresses.get(mailboxId) ?? []);
    if (error) answers.set(asked, { error });
    return !error;
  });
}

async function withRecipients(
  app: App,
  trx: Db,
  placed: readonly Placed[],
  answers: Answers,
): Promise<Ready[]> {
  const mails = placed.map(({ asked: { caller, mail } }) => ({
    organizationId: caller.organizationId,
    mail,
  }));
  const sifted = await siftRecipients(trx, mails);
  return placed.flatMap((one, index): Ready[] => {
    const left = sifted[index];
    if (left && !left.isEmpty) return [{ ...one, sifted: left }];
    const result = resultOf(app, one.asked.mail, left?.skipped ?? []);
    answers.set(one.asked, { result, messageId: null });
    return [];
  });
}

/** Returns the mail and the bytes of the files, from which an undo makes a draft. */
function delayedOf({ caller, mailboxId, mail }: Asking): Delayed {
  const fileBytes = mail.attachments.reduce(
    (sum, { content }) => sum + Buffer.byteLength(content, 'base64'),
    0,
  );
  return { caller, mailboxId, mail, fileBytes };
}

/** Returns the error of a delayed mail if the mailbox has no room for its draft; else null. */
async function withoutRoom(app: App, trx: Db, asked: Asking): Promise<ServiceError | null> {
  if (asked.delaySeconds === 0) return null;
  try {
    await requireRoomToUndo(app, trx, delayedOf(asked));
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

async function withTheirDrafts(
  app: App,
  trx: Db,
  ready: readonly Ready[],
  answers: Answers,
): Promise<Ready[]> {
  const drafts = ready.flatMap(({ asked }) => asked.mail.draft ?? []);
  const held = await holdDrafts(trx, drafts);
  const left: Ready[] = [];
  for (const one of ready) {
    const { draft } = one.asked.mail;
    const error = draft
      ? await refusedDraft(trx, draft.id, held.get(draft.id))
      : await withoutRoom(app, trx, one.asked);
    if (error) answers.set(one.asked, { error });
    else left.push(one);
  }
  return left;
}

/**
 * Returns the error of a draft that has changed since it was read (`state` undefined) or is
 * proposed; null for an unchanged draft.
 */
async function refusedDraft(
  trx: Db,
  id: string,
  state: string | undefined,
): Promise<ConflictError | null> {
  if (state === 'open') return null;
  if (state === undefined) {
    const text = `${id} was changed or sent meanwhile: read it again`;
    return new ConflictError('draft', text);
  }
  return (await isProposed(trx, state)) ? proposedError(id, state) : null;
}

/** Returns the error of a draft with an open proposal. */
export function proposedError(id: string, actionId: string): ConflictError {
  return new ConflictError('draft', `${id} is proposed: a person decides on ${actionId} first`);
}

/** Returns the result of a skipped mail, in which callers replace fields for further outcomes. */
function resultOf(app: App, mail: Mail, skippedRecipients: Sifted['skipped']): ReplyResult {
  return {
    actionId: null,
    messageId: null,
    threadId: mail.threadId,
    status: 'skipped',
    waitReason: null,
    reviewExpectedAt: null,
    skippedRecipients,
    createdAt: isoTime(app.clock.now()),
  };
}

async function send(app: App, trx: Db, ready: readonly Ready[], answers: Answers): Promise<void> {
  if (ready.length === 0) return;
  const departing = ready.map(({ asked, ...rest }) => ({ ...asked, ...rest }));
  const accepted = await acceptMails(app, trx, departing);
  const gone = ready.flatMap((one, index): (Ready & Sent)[] => {
    const sent = accepted[index] ?? unanswered();
    if ('message' in sent) return [{ ...one, ...sent }];
    answers.set(one.asked, sent);
    return [];
  });
  for (const { asked, message } of gone) {
    const { caller, mail } = asked;
    if (asked.delaySeconds > 0) {
      const accepted = { ...delayedOf(asked), messageId: message.id, actionId: null };
      await keepDelayed(app, trx, accepted);
    }
    if (!mail.draft) continue;
    const { id: draft, author: writtenBy, editedBy: changedBy } = mail.draft;
    await endDraft(trx, mail.draft);
    const details = { draft, writtenBy, changedBy };
    await record(app, trx, caller, { subject: message.id, action: 'draft.sent', details });
  }
  const doings = gone.map(({ asked: { caller, mailboxId, mail }, sifted, message, threadId }) => ({
    caller,
    mailboxId,
    type: mail.type,
    messageId: message.id,
    threadId,
    summary: summaryOf({ ...mail, ...sifted }),
  }));
  const actionIds = await storeActions(app, trx, doings);
  for (const [index, { asked, sifted, message, threadId }] of gone.entries()) {
    const result: ReplyResult = {
      ...resultOf(app, asked.mail, sifted.skipped),
      actionId: actionIds[index] ?? null,
      messageId: message.id,
      threadId,
      status: 'sent',
      waitReason: message.deliveries[0]?.scheduling?.waitReason ?? null,
      createdAt: message.createdAt,
    };
    answers.set(asked, { result, messageId: message.id });
  }
}

/** Stores a frozen mail as a proposal. Returns `isUnfrozen` for a mail that is not frozen. */
async function propose(app: App, trx: Db, { asked, sifted }: Ready): Promise<Answer | Unfrozen> {
  const { caller, mailboxId, mail, frozen } = asked;
  if (!frozen) return { isUnfrozen: true };
  const { type, threadId, draft } = mail;
  const about = { mailboxId, type, threadId, summary: summaryOf(frozen.mail) };
  try {
    const proposal = await storeProposal(app, trx, caller, about, frozen);
    const { action, reviewExpectedAt } = proposal;
    if (draft) await proposeDraft(trx, draft, action.id);
    const result: ReplyResult = {
      ...resultOf(app, mail, sifted.skipped),
      actionId: action.id,
      status: 'proposed',
      createdAt: action.createdAt,
      reviewExpectedAt: isoTime(reviewExpectedAt),
    };
    return { result, messageId: null };
  } catch (error) {
    if (error instanceof ServiceError) return { error };
    throw error;
  }
}

/**
 * Stores the answers for repeats, and frees the keys of refused mails. When the message is deleted,
 * the answer is emptied as for any send.
 */
async function keepAnswers(trx: Db, fresh: readonly Placed[], answers: Answers): Promise<void> {
  for (const { asked } of fresh) {
    const { claim } = asked;
    const answer = answers.get(asked);
    if (!claim || !answer) continue;
    if (!('result' in answer)) await deleteIdempotencyKey(trx, claim);
    else {
      const response = JSON.stringify(answer.result);
      await setKeptResponse(trx, { ...claim, message_id: answer.messageId ?? '', response });
    }
  }
}
