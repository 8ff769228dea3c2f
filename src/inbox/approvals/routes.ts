// The HTTP operations on actions in mailboxes. The approval is in src/inbox/replies, because it
// sends the mail.
import { area } from '../../core/api/area.ts';
import { fileOutput } from '../../core/api/file-schema.ts';
import { mailboxPath } from '../../identity/mailboxes/schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { listActions, listAllActions, rejectAction } from './actions.ts';
import { agentActivity } from './activity.ts';
import { getAction, readProposedFile, readProposedMime } from './proposals.ts';
import {
  actionFilePath,
  actionPage,
  actionPath,
  activityOutput,
  activityQuery,
  listActionsQuery,
  mailboxActionOutput,
  rejectActionInput,
  shownActionOutput,
} from './schema.ts';

const at = area('mailboxes');
const path = '/v1/mailboxes/{id}';

export const mailboxActionRoutes = {
  activity: at.get(`${path}/agent-activity`, {
    name: 'getMailboxActivity',
    summary: 'Count the actions of keys and the events of a mailbox',
    params: mailboxPath,
    query: activityQuery,
    output: activityOutput,
    run: (app, { caller, params: { id }, query }) => agentActivity(app, caller, id, query),
  }),
  list: at.get(`${path}/actions`, {
    name: 'listMailboxActions',
    summary: 'List the actions of keys in a mailbox, newest first',
    params: mailboxPath,
    query: listActionsQuery,
    output: actionPage,
    run: (app, { caller, params: { id }, query }) => listActions(app, caller, id, query),
  }),
  listAll: at.get('/v1/mailbox-actions', {
    name: 'listAllMailboxActions',
    summary: 'List the actions of keys in all mailboxes, newest first',
    description:
      'A key bound to mailboxes sees the actions in its own. `state=proposed` lists the ' +
      'proposals that wait for a decision.',
    query: listActionsQuery,
    output: actionPage,
    run: (app, { caller, query }) => listAllActions(app, caller, query),
  }),
  get: at.get(`${path}/actions/{actionId}`, {
    name: 'getMailboxAction',
    summary: 'Show an action, with the whole mail of a proposal',
    params: actionPath,
    output: shownActionOutput,
    run: (app, { caller, params: { id, actionId } }) =>
      getAction(app, caller, { mailboxId: id, actionId }),
  }),
  raw: at.get(`${path}/actions/{actionId}/raw`, {
    name: 'getProposedMail',
    summary: 'Download the mail of a proposal as it would be sent',
    description:
      'Answers with the MIME whose SHA-256 is the `digest`. It is sent byte for byte, but ' +
      'without Bcc, and after Date, Message-ID, DKIM-Signature and X-Service-Token. 404 once ' +
      'the proposal is decided.',
    params: actionPath,
    sendsFile: true,
    output: fileOutput,
    run: (app, { caller, params: { id, actionId } }) =>
      readProposedMime(app, caller, { mailboxId: id, actionId }),
  }),
  attachment: at.get(`${path}/actions/{actionId}/attachments/{n}`, {
    name: 'getProposedAttachment',
    summary: 'Download an attachment of a proposal by its number',
    description: 'The numbers are in `content` of the action. 404 once it is decided.',
    params: actionFilePath,
    sendsFile: true,
    output: fileOutput,
    run: (app, { caller, params: { id, actionId, n } }) =>
      readProposedFile(app, caller, { mailboxId: id, actionId, n }),
  }),
  reject: at.post(`${path}/actions/{actionId}/reject`, {
    name: 'rejectMailboxAction',
    summary: 'Reject a proposal',
    description: 'Only a person can reject, and once; the note tells the key the reason.',
    status: 200,
    params: actionPath,
    body: rejectActionInput,
    bodyOptional: true,
    output: mailboxActionOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, actionId }, body }) =>
      rejectAction(app, caller, { mailboxId: id, actionId }, body),
  }),
};
