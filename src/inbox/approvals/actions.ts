// Actions of keys and installations in mailboxes. A proposal is an action that waits for a person:
// src/inbox/replies stores the proposal here, and sends the mail after the approval.
//
// state      moved by                               to        also
// (none)     a key acted                            executed
// (none)     a key that only proposes, or a limit   proposed  at most 100 are open in a mailbox
// proposed   approve                                approved  only within the transaction
// approved   the mail was sent                      executed  messageId
// approved   the send was refused for good          failed    failure has the reason
// executed   the send was undone within its delay   failed    the note is `undone`
// proposed   reject                                 rejected  the content is deleted
// proposed   7 days                                 expired   the content is deleted
// proposed   the installation is uninstalled        expired   the same; failure has the reason

import { type CursorPage, cutPage, positionOfId, readCursor } from '../../core/api/cursor.ts';
import { boundNamed, readByTime } from '../../core/api/filtered-page.ts';
import { type Caller, callerId } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Details } from '../../history/audit/audit.ts';
import type { AuditAction } from '../../history/audit/schema.ts';
import type { EventKind } from '../../history/events/kinds.ts';
import { eventToRecord, record } from '../../history/events/record.ts';
import { reachOf } from '../../identity/mailboxes/bound-keys.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { ofMailboxThat } from '../../identity/mailboxes/queries.ts';
import { ConflictError, ForbiddenError, ResourceNotFoundError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson, toJson } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { mailboxActionRejected } from './events.ts';
import { deleteProposal } from './proposal-queries.ts';
import * as queries from './queries.ts';
import type {
  ActionActor,
  ActionType,
  ListActions,
  MailboxAction,
  RejectAction,
} from './schema.ts';

const expiredAtOnce = 100;

/** An action to record: mailbox, type, message, thread and the summary for display. */
export interface ActionOf {
  mailboxId: string;
  type: ActionType;
  messageId: string | null;
  threadId: string | null;
  summary: Readonly<Record<string, unknown>>;
}

/** Returns the action in the form of the API. */
export function presentAction(row: queries.ActionRow): MailboxAction {
  return {
    id: row.id,
    mailboxId: row.mailbox_id,
    type: row.type,
    state: row.state,
    actor: { kind: row.actor_kind, id: row.actor_id, displayName: row.actor_name },
    messageId: row.message_id,
    threadId: row.thread_id,
    summary: fromJson<Record<string, unknown>>(row.summary),
    createdAt: isoTime(row.created_at),
    decidedAt: isoTime(row.decided_at),
    decidedBy: fromJson<ActionActor>(row.decided_by),
    note: row.note,
    expiresAt: isoTime(row.expires_at),
    failure: fromJson<MailboxAction['failure']>(row.failure),
    digest: row.digest,
    editedDigest: row.edited_digest,
  };
}

/** Returns whether the caller is a program: programs have limited sends, recorded as actions. */
export function isService({ by, owner }: Caller): boolean {
  return by.kind !== 'operator' && owner === 'service';
}

/** Presents the caller in an action. The operator counts as a user without an id. */
function actorOf(caller: Caller): ActionActor {
  const { by, keyName } = caller;
  if (by.kind === 'operator') return { kind: 'user', id: null, displayName: 'operator' };
  return { kind: actorKinds[by.kind], id: callerId(caller), displayName: keyName };
}

const actorKinds = {
  operator: 'user',
  member: 'user',
  key: 'key',
  installation: 'installation',
} as const;

/** Returns a new row for an executed action of a key, an installation or a member. */
export function rowOf(app: App, caller: Caller, id: string, action: ActionOf): queries.ActionRow {
  const { installation, by } = caller;
  return {
    id: app.newId('mailboxAction'),
    organization_id: caller.organizationId,
    mailbox_id: action.mailboxId,
    type: action.type,
    state: 'executed',
    actor_kind: actorKinds[by.kind],
    actor_id: installation?.id ?? id,
    actor_name: caller.keyName,
    by_person: isService(caller) ? 0 : 1,
    message_id: action.messageId,
    thread_id: action.threadId,
    summary: JSON.stringify(action.summary),
    created_at: app.clock.now(),
    decided_at: null,
    decided_by: null,
    note: null,
    expires_at: null,
    failure: null,
    digest: null,
    edited_digest: null,
    proposal_bytes: 0,
  };
}

/** An action with the caller of the request. */
export interface Doing extends ActionOf {
  caller: Caller;
}

/**
 * Records actions of keys, in the transactions that perform them. Returns an id for each; null for
 * the operator, as acts of the operator are not actions.
 */
export async function storeActions(
  app: App,
  trx: Db,
  doings: readonly Doing[],
): Promise<(string | null)[]> {
  const rows = doings.map(({ caller, ...action }) => {
    const id = callerId(caller);
    return id === null ? null : rowOf(app, caller, id, action);
  });
  await queries.insertActions(
    trx,
    rows.flatMap((row) => row ?? []),
  );
  return rows.map((row) => row?.id ?? null);
}

/** Records an action. Returns the id; null for the operator. */
export async function storeAction(
  app: App,
  trx: Db,
  caller: Caller,
  action: ActionOf,
): Promise<string | null> {
  const [id = null] = await storeActions(app, trx, [{ ...action, caller }]);
  return id;
}

/** Returns the row of an action in a mailbox. @throws ResourceNotFoundError. */
export async function getActionRow(
  db: Db,
  organizationId: string,
  mailboxId: string,
  id: string,
): Promise<queries.ActionRow> {
  await getMailboxRow(db, organizationId, mailboxId);
  const row = await queries.actions.find(db, organizationId, id);
  if (row?.mailbox_id !== mailboxId) throw new ResourceNotFoundError('action', id);
  return row;
}

async function pageOfActions(
  { store }: App,
  { limit, cursor, state, type, actor, ...times }: ListActions,
  scope: queries.ActionScope,
): Promise<CursorPage<MailboxAction>> {
  const place = 'mailboxId' in scope ? scope.mailboxId : scope.organizationId;
  const { from, to } = boundsOf(times);
  const isTimed = boundNamed(times) !== null;
  const filter = { state, type, actor, ...(isTimed && { span: { from, to } }) };
  const list = ['actions', place, state, type, actor, from, to];
  const before = cursor === undefined ? undefined : readCursor(list, cursor).id;
  const rows = await readByTime(store, scope.organizationId, times, (db) =>
    queries.selectActions(db, scope, filter, before, limit + 1),
  );
  const { shown, nextCursor } = cutPage(list, rows, limit, positionOfId);
  return { items: shown.map(presentAction), nextCursor };
}

/**
 * Returns a page of the actions in a mailbox, newest first.
 * @throws ResourceNotFoundError, ValidationError (cursor).
 */
export async function listActions(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  query: ListActions,
): Promise<CursorPage<MailboxAction>> {
  await getMailboxRow(app.store.db, organizationId, mailboxId);
  return pageOfActions(app, query, { organizationId, mailboxId });
}

/**
 * Returns a page of the actions in all mailboxes that the caller reaches, newest first. Leaves out
 * deleted mailboxes. @throws ValidationError (cursor).
 */
export async function listAllActions(
  app: App,
  caller: Caller,
  query: ListActions,
): Promise<CursorPage<MailboxAction>> {
  const where = ofMailboxThat('mailbox_id', reachOf(app, caller));
  return pageOfActions(app, query, { organizationId: caller.organizationId, where });
}

/** Requires the key of a person. @throws ForbiddenError for a service. */
export function requirePerson({ owner }: Caller): void {
  if (owner === 'person') return;
  throw new ForbiddenError('Only a person decides: use a key made with --owner person');
}

/**
 * Moves a proposal to `approved` or `rejected`, once, by a person, and deletes the content.
 * @throws ForbiddenError for a service; ResourceNotFoundError; ConflictError if the proposal is
 * decided or expired.
 */
export async function decide(
  app: App,
  trx: Db,
  caller: Caller,
  at: { mailboxId: string; actionId: string },
  decision: { state: 'approved' | 'rejected'; note: string | null },
): Promise<queries.ActionRow> {
  requirePerson(caller);
  const row = await getActionRow(trx, caller.organizationId, at.mailboxId, at.actionId);
  const now = app.clock.now();
  const isOver = row.state === 'proposed' && (row.expires_at ?? now) <= now;
  const change = {
    ...decision,
    decided_at: now,
    decided_by: JSON.stringify(actorOf(caller)),
  };
  const isMoved = !isOver && (await queries.moveAction(trx, row, 'proposed', change));
  if (!isMoved) {
    const state = isOver ? 'expired' : row.state;
    throw new ConflictError('action', `${row.id} is already ${state}: it is decided only once`);
  }
  await deleteProposal(trx, row.id);
  return { ...row, ...change };
}

/** The result of an approved action. */
export interface Execution {
  messageId: string | null;
  threadId: string | null;
  summary: Readonly<Record<string, unknown>>;
  failure: { _tag: string; message: string } | null;
  /** Digest of the edited MIME; null without edits. */
  editedDigest: string | null;
}

/** Ends an approved action as executed or failed, in the transaction of the approval. */
export async function settleAction(
  trx: Db,
  row: queries.ActionRow,
  { messageId, threadId, summary, failure, editedDigest }: Execution,
): Promise<queries.ActionRow> {
  const change = {
    state: failure ? ('failed' as const) : ('executed' as const),
    message_id: messageId,
    thread_id: threadId,
    summary: JSON.stringify(summary),
    failure: toJson(failure),
    edited_digest: editedDigest,
  };
  await queries.moveAction(trx, row, 'approved', change);
  return { ...row, ...change };
}

/** Ends an executed action as failed after the send was undone. */
export async function endUndone(trx: Db, organizationId: string, id: string): Promise<void> {
  const row = await queries.actions.find(trx, organizationId, id);
  if (!row) return;
  const message = 'The send was undone before the mail left: its words are a draft';
  await queries.moveAction(trx, row, 'executed', {
    state: 'failed',
    note: 'undone',
    message_id: null,
    failure: JSON.stringify({ _tag: 'ConflictError', message }),
  });
}

/** Publishes and audits a decision. Returns the action in the form of the API. */
export async function recordDecision(
  app: App,
  trx: Db,
  caller: Caller,
  row: queries.ActionRow,
  how: { action: AuditAction; kind: EventKind & { sample: MailboxAction }; changes?: Details },
): Promise<MailboxAction> {
  const shown = presentAction(row);
  const { note, type, summary, failure } = shown;
  const details = {
    mailboxId: row.mailbox_id,
    type,
    note,
    failure,
    to: summary.to,
    edits: how.changes,
  };
  await record(app, trx, caller, {
    subject: row.mailbox_id,
    event: eventToRecord(how.kind, shown),
  });
  await record(app, trx, caller, { subject: row.id, action: how.action, details });
  return shown;
}

/** Rejects a proposal. @throws the errors of `decide`. */
export function rejectAction(
  app: App,
  caller: Caller,
  at: { mailboxId: string; actionId: string },
  { note = null }: RejectAction,
): Promise<MailboxAction> {
  return app.store.write(async (trx) => {
    const row = await decide(app, trx, caller, at, { state: 'rejected', note });
    const kind = mailboxActionRejected;
    return recordDecision(app, trx, caller, row, { action: 'action.rejected', kind });
  });
}

/**
 * Expires the open proposals of an installation, in the transaction that uninstalls it. `reason`
 * becomes the failure of each proposal.
 */
export async function expireProposalsOf(
  trx: Db,
  organizationId: string,
  installationId: string,
  reason: string,
): Promise<void> {
  const failure = JSON.stringify({ _tag: 'ForbiddenError', message: reason });
  const rows = await queries.selectProposalsOf(trx, organizationId, installationId);
  for (const row of rows) {
    const isMoved = await queries.moveAction(trx, row, 'proposed', { state: 'expired', failure });
    if (isMoved) await deleteProposal(trx, row.id);
  }
}

/** Expires proposals after 7 days without a decision, for the scheduler. Returns their count. */
export async function expireActions(app: App): Promise<number> {
  const { store, clock } = app;
  let ended = 0;
  for (;;) {
    const rows = await queries.selectExpired(store.db, clock.now(), expiredAtOnce);
    if (rows.length === 0) return ended;
    const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await store.write(async (trx) => {
      for (const row of sorted) {
        const isMoved = await queries.moveAction(trx, row, 'proposed', { state: 'expired' });
        if (isMoved) await deleteProposal(trx, row.id);
      }
    }, 'soon');
    ended += rows.length;
  }
}
