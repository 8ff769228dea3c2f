// The HTTP operations that send from a mailbox (specification 4.4), on drafts, and on approval.
import { area } from '../../core/api/area.ts';
import { idempotencyHeader } from '../../core/api/idempotency.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { ConflictError, PaymentRequiredError } from '../../platform/errors.ts';
import { actionPath, mailboxActionOutput } from '../approvals/schema.ts';
import { forward, reply, sendNew } from './answers.ts';
import { approveAction } from './approve.ts';
import {
  createDraft,
  deleteDraft,
  getDraft,
  listDrafts,
  sendDraft,
  updateDraft,
} from './drafts.ts';
import {
  answerPath,
  approveActionInput,
  createDraftInput,
  draftNoun,
  draftPage,
  draftPath,
  forwardInput,
  listDraftsQuery,
  mailboxOfMail,
  newMessageInput,
  replyInput,
  replyResultOutput,
  sendDraftInput,
  shownDraftOutput,
  updateDraftInput,
} from './schema.ts';

const at = area('mailboxes');
const ofDrafts = area('mailboxes', { noun: draftNoun });
const path = '/v1/mailboxes/{id}';
const answered = `${path}/messages/{messageId}` as const;
const draft = `${path}/drafts/{draftId}` as const;

/** Settings of every operation that sends. */
const sends = {
  permission: 'mailboxes:send',
  drawsOnSendRate: true,
  status: 201,
  headers: idempotencyHeader,
  output: replyResultOutput,
  throws: [PaymentRequiredError, ConflictError],
} as const;

const refused =
  'Blocked and malformed addresses are left out, and listed in `skippedRecipients`; if ' +
  'no recipient is left, nothing is sent. A service key does not answer automatic ' +
  'answers (409). After five sends into a thread within an hour without a message from ' +
  'a person, its next send is a proposal.';

export const answeringRoutes = {
  send: at.post(`${path}/messages`, {
    ...sends,
    name: 'sendFromMailbox',
    summary: 'Send a message from a mailbox and begin a thread',
    description: refused,
    params: mailboxOfMail,
    body: newMessageInput,
    run: (app, { caller, params: { id }, headers, body }) =>
      sendNew(app, caller, id, body, headers['idempotency-key'] ?? null),
  }),
  reply: at.post(`${answered}/reply`, {
    ...sends,
    name: 'replyToMessage',
    summary: 'Reply to a message in its thread',
    description:
      'Goes to its Reply-To, or else its sender; for a message of our own, to its ' +
      'recipients. The service sets recipients, subject and threading headers. ' +
      refused,
    params: answerPath,
    body: replyInput,
    run: (app, { caller, params: { id, messageId }, headers, body }) => {
      const how = { all: false, key: headers['idempotency-key'] ?? null };
      return reply(app, caller, { mailboxId: id, messageId }, body, how);
    },
  }),
  replyAll: at.post(`${answered}/reply-all`, {
    ...sends,
    name: 'replyToAll',
    summary: 'Reply to everybody named in a message except this mailbox',
    description: refused,
    params: answerPath,
    body: replyInput,
    run: (app, { caller, params: { id, messageId }, headers, body }) => {
      const how = { all: true, key: headers['idempotency-key'] ?? null };
      return reply(app, caller, { mailboxId: id, messageId }, body, how);
    },
  }),
  forward: at.post(`${answered}/forward`, {
    ...sends,
    name: 'forwardMessage',
    summary: 'Forward a message, quoted and with its attachments',
    description: refused,
    params: answerPath,
    body: forwardInput,
    run: (app, { caller, params: { id, messageId }, headers, body }) => {
      const key = headers['idempotency-key'] ?? null;
      return forward(app, caller, { mailboxId: id, messageId }, body, key);
    },
  }),
  listDrafts: ofDrafts.get(`${path}/drafts`, {
    name: 'listDrafts',
    summary: 'List the drafts of a mailbox, newest first',
    params: mailboxOfMail,
    query: listDraftsQuery,
    output: draftPage,
    run: (app, { caller, params: { id }, query }) => listDrafts(app, caller, id, query),
  }),
  createDraft: ofDrafts.post(`${path}/drafts`, {
    name: 'createDraft',
    summary: 'Create a draft',
    description:
      'With `inReplyToMessageId` the draft answers that message in its thread; without it, ' +
      'it begins a thread.',
    status: 201,
    params: mailboxOfMail,
    body: createDraftInput,
    output: shownDraftOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => createDraft(app, caller, id, body),
  }),
  getDraft: ofDrafts.get(draft, {
    name: 'getDraft',
    summary: 'Show a draft',
    params: draftPath,
    output: shownDraftOutput,
    run: (app, { caller, params: { id, draftId } }) =>
      getDraft(app, caller, { mailboxId: id, draftId }),
  }),
  updateDraft: ofDrafts.patch(draft, {
    name: 'updateDraft',
    summary: 'Change a draft',
    params: draftPath,
    body: updateDraftInput,
    output: shownDraftOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, draftId }, body }) =>
      updateDraft(app, caller, { mailboxId: id, draftId }, body),
  }),
  deleteDraft: ofDrafts.delete(draft, {
    name: 'deleteDraft',
    summary: 'Delete a draft',
    params: draftPath,
    output: deleted,
    throws: [ConflictError],
    run: (app, { caller, params: { id, draftId } }) =>
      deleteDraft(app, caller, { mailboxId: id, draftId }),
  }),
  sendDraft: at.post(`${draft}/send`, {
    ...sends,
    name: 'sendDraft',
    summary: 'Send a draft',
    description: refused,
    params: draftPath,
    body: sendDraftInput,
    bodyOptional: true,
    run: (app, { caller, params: { id, draftId }, headers, body }) => {
      const key = headers['idempotency-key'] ?? null;
      return sendDraft(app, caller, { mailboxId: id, draftId }, body ?? {}, key);
    },
  }),
  approve: at.post(`${path}/actions/{actionId}/approve`, {
    name: 'approveMailboxAction',
    summary: 'Approve a proposal: send it',
    description:
      'Only a person can approve, and once. Every check of a send is made again, as of ' +
      'now: a temporary refusal (402, a paused mailbox) leaves the proposal as it was, any ' +
      'other ends it as `failed`.',
    permission: 'mailboxes:send',
    drawsOnSendRate: true,
    status: 200,
    params: actionPath,
    body: approveActionInput,
    decides: true,
    bodyOptional: true,
    output: mailboxActionOutput,
    throws: [PaymentRequiredError, ConflictError],
    run: (app, { caller, params: { id, actionId }, body }) =>
      approveAction(app, caller, { mailboxId: id, actionId }, body),
  }),
};
