// The HTTP operations that send from a mailbox (specification 4.4), on drafts, and on approval.
import { area } from '../api/area.ts';
import { deleted } from '../api/resource-schema.ts';
import { ConflictError, PaymentRequiredError } from '../errors.ts';
import { actionPath, mailboxActionOutput } from '../mailbox-actions/schema.ts';
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
  draftOutput,
  draftPage,
  draftPath,
  forwardInput,
  idempotencyHeader,
  listDraftsQuery,
  mailboxOfMail,
  newMessageInput,
  replyInput,
  replyResultOutput,
  sendDraftInput,
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
  'Addresses that are blocked or malformed are left out, and told of in `skippedRecipients`; where ' +
  'nobody is left, nothing is sent. The key of a service answers no automatic answer (409); after five ' +
  'sends into a thread within an hour without a word of a person, its next one is a proposal.';

export const answeringRoutes = {
  send: at.post(`${path}/messages`, {
    ...sends,
    name: 'sendFromMailbox',
    summary: 'Send a message from a mailbox, which begins a thread',
    description: refused,
    params: mailboxOfMail,
    body: newMessageInput,
    run: (app, { caller, params: { id }, headers, body }) =>
      sendNew(app, caller, id, body, headers['idempotency-key'] ?? null),
  }),
  reply: at.post(`${answered}/reply`, {
    ...sends,
    name: 'replyToMessage',
    summary: 'Answer a message in its thread',
    description:
      'To its Reply-To, or else its sender; to the recipients of a message of our own. The service sets ' +
      `recipients, subject and threading headers. ${refused}`,
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
    summary: 'Answer a message and all who are named in it, but for this mailbox',
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
    summary: 'Send a message on, quoted and with its attachments',
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
    summary: 'Begin a message',
    description:
      'With `inReplyToMessageId` in the thread of that message, whose answer it is; else it begins one.',
    status: 201,
    params: mailboxOfMail,
    body: createDraftInput,
    output: draftOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => createDraft(app, caller, id, body),
  }),
  getDraft: ofDrafts.get(draft, {
    name: 'getDraft',
    summary: 'Show a draft',
    params: draftPath,
    output: draftOutput,
    run: (app, { caller, params: { id, draftId } }) =>
      getDraft(app, caller, { mailboxId: id, draftId }),
  }),
  updateDraft: ofDrafts.patch(draft, {
    name: 'updateDraft',
    summary: 'Change a draft',
    params: draftPath,
    body: updateDraftInput,
    output: draftOutput,
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
    summary: 'Let go what was proposed',
    description:
      'Only a person does that, once. All that a send is asked is asked again, as of now: a refusal ' +
      'that passes by itself (402, a paused mailbox) leaves the proposal as it was, any other ends it ' +
      'as `failed`.',
    permission: 'mailboxes:send',
    drawsOnSendRate: true,
    status: 200,
    params: actionPath,
    body: approveActionInput,
    bodyOptional: true,
    output: mailboxActionOutput,
    throws: [PaymentRequiredError, ConflictError],
    run: (app, { caller, params: { id, actionId }, body }) =>
      approveAction(app, caller, { mailboxId: id, actionId }, body),
  }),
};
