// A walk through the open proposals of a mailbox or of all mailboxes, the oldest first. Each is
// shown, then decided or skipped. Proposals that arrive meanwhile are added. Decisions of a second
// reviewer are reported.
//
//   answer    the proposal
//   approve   is sent with the edits; stays open after a temporary refusal, with a new question
//   edit      is shown with the edits, before a new question
//   reject    is refused, with a note
//   skip      stays open
//   quit      stays open, as all remaining proposals do

import type { CursorPage } from '../../../src/core/api/cursor.ts';
import { mailboxActionRoutes } from '../../../src/inbox/approvals/routes.ts';
import type { MailboxAction, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import { answeringRoutes } from '../../../src/inbox/replies/routes.ts';
import { latestThreadMessages } from '../../../src/inbox/threads/messages.ts';
import { threadRoutes } from '../../../src/inbox/threads/routes.ts';
import type { ThreadMessage } from '../../../src/inbox/threads/schema.ts';
import { ResourceNotFoundError, ServiceError } from '../../../src/platform/errors.ts';
import type { Session } from '../asking.ts';
import { given } from '../input/body.ts';
import { itemsOf } from '../items.ts';
import { describeError, UsageError } from '../output/failure.ts';
import { inWords } from '../output/format.ts';
import { type Edits, editableText, editsFrom, type ProposedMail, withEdits } from './mail-text.ts';
import { proposalShown, threadBefore } from './view.ts';

const proposalsAtOnce = 100;
const messagesShown = 5;

export type Answer = 'approve' | 'edit' | 'reject' | 'skip' | 'quit';

/** The reviewer, and functions that ask the reviewer. */
export interface Reviewer {
  show(text: string): void;
  choose(question: string): Promise<Answer>;
  /** Asks for the reason of a rejection; may be empty. */
  why(): Promise<string>;
  /** @throws UsageError where the editor fails. */
  edit(text: string): Promise<string>;
}

/** Counts of a finished walk. */
export interface Reviewed {
  approved: number;
  rejected: number;
  skipped: number;
  /** Proposals that were approved, but permanently refused by the send. */
  failed: number;
}

type Outcome = keyof Reviewed | 'elsewhere' | 'quit';

/** The mailbox of a walk (null for all mailboxes), and the reviewer. */
interface Walk {
  session: Session;
  mailboxId: string | null;
  reviewer: Reviewer;
}

type Place = Pick<MailboxAction, 'id' | 'mailboxId'>;

/** Reads the open proposals, the oldest first. */
async function openProposals({ session, mailboxId }: Walk): Promise<Place[]> {
  const open: Place[] = [];
  const now = session.now();
  let cursor: string | null = null;
  do {
    const state = 'proposed';
    const query: object = { state, limit: String(proposalsAtOnce), ...(cursor && { cursor }) };
    const page: CursorPage<MailboxAction> =
      mailboxId === null
        ? await session.ask(mailboxActionRoutes.listAll, { query })
        : await session.ask(mailboxActionRoutes.list, {
            params: { id: mailboxId },
            query,
          });
    const waiting = page.items.filter(({ expiresAt }) => Date.parse(expiresAt ?? '') > now);
    open.push(...waiting.map(({ id, mailboxId }) => ({ id, mailboxId })));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return open.reverse();
}

function paramsOf({ id, mailboxId }: Place) {
  return { id: mailboxId, actionId: id };
}

function read({ session }: Walk, place: Place): Promise<ShownAction> {
  return session.ask(mailboxActionRoutes.get, { params: paramsOf(place) });
}

function mailOf({ summary, content }: ShownAction): ProposedMail {
  const addressed = summary as Pick<ProposedMail, 'to' | 'cc' | 'bcc' | 'subject'>;
  const { to = [], cc = [], bcc = [], subject = '' } = addressed;
  return { to, cc, bcc, subject, text: content?.text ?? null, html: content?.html ?? null };
}

/** Reads the end of the thread; empty for a new thread or a deleted thread. */
async function threadOf({ session }: Walk, { mailboxId, threadId }: ShownAction) {
  if (threadId === null) return [];
  try {
    if (session.local) {
      const { app, caller } = session.local;
      return await latestThreadMessages(app, caller, mailboxId, threadId, messagesShown);
    }
    const params = { id: mailboxId, threadId };
    const messages: ThreadMessage[] = [];
    for await (const message of itemsOf(session, threadRoutes.messages, { params })) {
      messages.push(message);
      if (messages.length > messagesShown) messages.shift();
    }
    return messages;
  } catch (error) {
    if (error instanceof ResourceNotFoundError && error.resource === 'thread') return [];
    throw error;
  }
}

/**
 * Returns true if the proposal is still open; otherwise shows the state and the deciding person.
 */
function stillWaits({ session, reviewer }: Walk, action: ShownAction): boolean {
  const isOver = Date.parse(action.expiresAt ?? '') <= session.now();
  if (action.state === 'proposed' && !isOver) return true;
  const by = action.decidedBy ? ` by ${inWords(action.decidedBy.displayName)}` : '';
  const state = action.state === 'proposed' ? 'expired' : action.state;
  reviewer.show(`${action.id} is already ${state}${by}.`);
  return false;
}

function saidOf(action: MailboxAction): string {
  if (action.failure) return `It was not sent: ${inWords(action.failure.message)}`;
  const skipped = (action.summary.skippedRecipients ?? []) as { address: string }[];
  const left = skipped.map(({ address }) => inWords(address)).join(', ');
  return `Sent as ${action.messageId}.${left && ` Left out: ${left}.`}`;
}

async function approve(walk: Walk, place: Place, edits: Edits): Promise<Outcome> {
  const params = paramsOf(place);
  const body = given({ edits: Object.keys(edits).length > 0 ? edits : undefined });
  const action = await walk.session.ask(answeringRoutes.approve, { params, body });
  walk.reviewer.show(saidOf(action));
  return action.failure ? 'failed' : 'approved';
}

async function reject(walk: Walk, place: Place): Promise<Outcome> {
  const note = await walk.reviewer.why();
  const params = paramsOf(place);
  const body = given({ note: note === '' ? undefined : note });
  await walk.session.ask(mailboxActionRoutes.reject, { params, body });
  walk.reviewer.show('Rejected.');
  return 'rejected';
}

/** Returns the edits with the changes that the person makes now. @throws UsageError. */
async function edit({ reviewer }: Walk, proposed: ProposedMail, edits: Edits): Promise<Edits> {
  const mail = withEdits(proposed, edits);
  const more = editsFrom(mail, await reviewer.edit(editableText(mail)));
  if (Object.keys(more).length === 0) reviewer.show('Nothing was changed.');
  return { ...edits, ...more };
}

/** Tells whether an error is a refusal, after which the person may try a different answer. */
function isRefusal(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof ServiceError && error.status < 500);
}

/** Asks about a proposal until it is decided or skipped. */
async function decideOn(walk: Walk, first: ShownAction): Promise<Outcome> {
  const { reviewer } = walk;
  const proposed = mailOf(first);
  let edits: Edits = {};
  reviewer.show(threadBefore(await threadOf(walk, first), first.threadId));
  for (let isNews = true; ; ) {
    if (isNews) reviewer.show(proposalShown(first, proposed, withEdits(proposed, edits)));
    isNews = false;
    const answer = await reviewer.choose('Approve, edit, reject, skip or quit?');
    if (answer === 'quit') return 'quit';
    if (answer === 'skip') return 'skipped';
    try {
      if (answer === 'approve') return await approve(walk, first, edits);
      if (answer === 'reject') return await reject(walk, first);
      edits = await edit(walk, proposed, edits);
      isNews = true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      reviewer.show(describeError(error, []));
      if (!stillWaits(walk, await read(walk, first))) return 'elsewhere';
    }
  }
}

/**
 * Asks about a proposal, which may be deleted meanwhile. A walk through all mailboxes then shows
 * the error and continues.
 * @throws ResourceNotFoundError in the walk through a single mailbox, which then ends
 */
async function visit(walk: Walk, place: Place): Promise<Outcome> {
  try {
    const action = await read(walk, place);
    return stillWaits(walk, action) ? await decideOn(walk, action) : 'elsewhere';
  } catch (error) {
    if (walk.mailboxId !== null || !(error instanceof ResourceNotFoundError)) throw error;
    walk.reviewer.show(describeError(error, []));
    return 'elsewhere';
  }
}

/**
 * Asks about each open proposal, of a single mailbox or of all (null), until none is left or the
 * person quits.
 * @throws ResourceNotFoundError (mailbox), InterruptedError.
 */
export async function reviewProposals(
  session: Session,
  mailboxId: string | null,
  reviewer: Reviewer,
): Promise<Reviewed> {
  const walk: Walk = { session, mailboxId, reviewer };
  const seen = new Set<string>();
  const reviewed: Reviewed = { approved: 0, rejected: 0, skipped: 0, failed: 0 };
  for (;;) {
    const left = (await openProposals(walk)).filter(({ id }) => !seen.has(id));
    const [next] = left;
    const where = mailboxId === null ? '' : ' here';
    if (!next && seen.size === 0) reviewer.show(`No proposal waits for a decision${where}.`);
    if (!next) return reviewed;
    seen.add(next.id);
    reviewer.show(`\n${next.id}: ${seen.size} of ${seen.size + left.length - 1}\n`);
    const outcome = await visit(walk, next);
    if (outcome === 'quit') return reviewed;
    if (outcome !== 'elsewhere') reviewed[outcome] += 1;
  }
}
