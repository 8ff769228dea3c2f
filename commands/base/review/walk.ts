// A walk through the open proposals of a mailbox, the oldest first: each is shown and decided on, or left
// as it is. Proposals that arrive meanwhile join it; decisions of others meanwhile are reported.
//
//   answer    the proposal
//   approve   goes, with the edits made so far; after a temporary refusal it stays open and is asked again
//   edit      is shown with the edits, and asked about again
//   reject    is refused, with a note
//   skip      stays open
//   quit      stays open, as all others do

import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { mailboxActionRoutes } from '../../../src/inbox/approvals/routes.ts';
import type { MailboxAction, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import { answeringRoutes } from '../../../src/inbox/replies/routes.ts';
import { latestThreadMessages } from '../../../src/inbox/threads/messages.ts';
import { ResourceNotFoundError, ServiceError } from '../../../src/platform/errors.ts';
import { given } from '../body.ts';
import { describeError, UsageError } from '../failure.ts';
import { inWords } from '../format.ts';
import { runRoute } from '../route.ts';
import { type Edits, editableText, editsFrom, type ProposedMail, withEdits } from './mail-text.ts';
import { proposalShown, threadBefore } from './view.ts';

const mostOpen = 100;
const messagesShown = 5;

export type Answer = 'approve' | 'edit' | 'reject' | 'skip' | 'quit';

/** The person, and how they are asked. */
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
  /** Approved, and refused for good. */
  failed: number;
}

type Outcome = keyof Reviewed | 'elsewhere' | 'quit';

/** The mailbox of a walk and its reviewer. */
interface Walk {
  app: App;
  caller: Caller;
  mailboxId: string;
  reviewer: Reviewer;
}

/** Reads the open proposals, the oldest first. */
async function openProposals({ app, caller, mailboxId }: Walk): Promise<MailboxAction[]> {
  const params = { id: mailboxId };
  const query = { state: 'proposed', limit: String(mostOpen) };
  const page = await runRoute(app, caller, mailboxActionRoutes.list, { params, query });
  const now = app.clock.now();
  return page.items.filter(({ expiresAt }) => Date.parse(expiresAt ?? '') > now).toReversed();
}

function read({ app, caller, mailboxId }: Walk, actionId: string): Promise<ShownAction> {
  const params = { id: mailboxId, actionId };
  return runRoute(app, caller, mailboxActionRoutes.get, { params });
}

function mailOf({ summary, content }: ShownAction): ProposedMail {
  const addressed = summary as Pick<ProposedMail, 'to' | 'cc' | 'bcc' | 'subject'>;
  const { to = [], cc = [], bcc = [], subject = '' } = addressed;
  return { to, cc, bcc, subject, text: content?.text ?? null, html: content?.html ?? null };
}

/** Reads the end of the thread; empty for a new thread or a deleted one. */
async function threadOf({ app, caller, mailboxId }: Walk, threadId: string | null) {
  if (threadId === null) return [];
  try {
    return await latestThreadMessages(app, caller, mailboxId, threadId, messagesShown);
  } catch (error) {
    if (error instanceof ResourceNotFoundError && error.resource === 'thread') return [];
    throw error;
  }
}

/** Returns true if the proposal is still open; otherwise prints the name of its reviewer. */
function stillWaits({ app, reviewer }: Walk, action: ShownAction): boolean {
  const isOver = Date.parse(action.expiresAt ?? '') <= app.clock.now();
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

async function approve(walk: Walk, actionId: string, edits: Edits): Promise<Outcome> {
  const params = { id: walk.mailboxId, actionId };
  const body = given({ edits: Object.keys(edits).length > 0 ? edits : undefined });
  const action = await runRoute(walk.app, walk.caller, answeringRoutes.approve, { params, body });
  walk.reviewer.show(saidOf(action));
  return action.failure ? 'failed' : 'approved';
}

async function reject(walk: Walk, actionId: string): Promise<Outcome> {
  const note = await walk.reviewer.why();
  const params = { id: walk.mailboxId, actionId };
  const body = given({ note: note === '' ? undefined : note });
  await runRoute(walk.app, walk.caller, mailboxActionRoutes.reject, { params, body });
  walk.reviewer.show('Rejected.');
  return 'rejected';
}

/** The edits with those that the person makes now. @throws UsageError. */
async function edit({ reviewer }: Walk, proposed: ProposedMail, edits: Edits): Promise<Edits> {
  const mail = withEdits(proposed, edits);
  const more = editsFrom(mail, await reviewer.edit(editableText(mail)));
  if (Object.keys(more).length === 0) reviewer.show('Nothing was changed.');
  return { ...edits, ...more };
}

/** Refused as a request is, so that the person may try something else. */
function isRefusal(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof ServiceError && error.status < 500);
}

/** Asks about one until it is decided or left. */
async function decideOn(walk: Walk, first: ShownAction): Promise<Outcome> {
  const { reviewer } = walk;
  const proposed = mailOf(first);
  const { id } = first;
  let edits: Edits = {};
  reviewer.show(threadBefore(await threadOf(walk, first.threadId), first.threadId));
  for (let isNews = true; ; ) {
    if (isNews) reviewer.show(proposalShown(first, proposed, withEdits(proposed, edits)));
    isNews = false;
    const answer = await reviewer.choose('Approve, edit, reject, skip or quit?');
    if (answer === 'quit') return 'quit';
    if (answer === 'skip') return 'skipped';
    try {
      if (answer === 'approve') return await approve(walk, id, edits);
      if (answer === 'reject') return await reject(walk, id);
      edits = await edit(walk, proposed, edits);
      isNews = true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      reviewer.show(describeError(error, []));
      if (!stillWaits(walk, await read(walk, id))) return 'elsewhere';
    }
  }
}

/**
 * Asks about each open proposal until none is left or the person quits.
 * @throws ResourceNotFoundError (mailbox), InterruptedError.
 */
export async function reviewProposals(
  app: App,
  caller: Caller,
  mailboxId: string,
  reviewer: Reviewer,
): Promise<Reviewed> {
  const walk: Walk = { app, caller, mailboxId, reviewer };
  const seen = new Set<string>();
  const reviewed: Reviewed = { approved: 0, rejected: 0, skipped: 0, failed: 0 };
  for (;;) {
    const left = (await openProposals(walk)).filter(({ id }) => !seen.has(id));
    const [next] = left;
    if (!next && seen.size === 0) reviewer.show('No proposal waits for a decision here.');
    if (!next) return reviewed;
    seen.add(next.id);
    const action = await read(walk, next.id);
    reviewer.show(`\n${next.id}: ${seen.size} of ${seen.size + left.length - 1}\n`);
    const outcome = stillWaits(walk, action) ? await decideOn(walk, action) : 'elsewhere';
    if (outcome === 'quit') return reviewed;
    if (outcome !== 'elsewhere') reviewed[outcome] += 1;
  }
}
