// The HTTP operations on the threads of a mailbox (specification 4.4).
import { area } from '../api/area.ts';
import { deleted } from '../api/resource-schema.ts';
import { listThreadMessages } from './messages.ts';
import {
  cursorPageOf,
  listMessagesQuery,
  listThreadsQuery,
  mailboxOfThreads,
  threadPath as params,
  threadMessageOutput,
  threadOutput,
  updateThreadInput,
} from './schema.ts';
import { deleteThread, getThread, listThreads, updateThread } from './threads.ts';

const at = area('mailboxes');
const threadsPath = '/v1/mailboxes/{id}/threads';
const path = `${threadsPath}/{threadId}` as const;

export const threadRoutes = {
  list: at.get(threadsPath, {
    name: 'listThreads',
    summary: 'List the threads of a mailbox, most recent activity first',
    description:
      'Without `folder` all but `spam` and `trash`. A thread that gains activity meanwhile moves ahead ' +
      'of the cursor, so that a walk lists each at most once.',
    params: mailboxOfThreads,
    query: listThreadsQuery,
    output: cursorPageOf(threadOutput),
    run: (app, { caller, params: { id }, query }) => listThreads(app, caller, id, query),
  }),
  get: at.get(path, {
    name: 'getThread',
    summary: 'Show a thread',
    params,
    output: threadOutput,
    run: (app, { caller, params: { id, threadId } }) => getThread(app, caller, id, threadId),
  }),
  update: at.patch(path, {
    name: 'updateThread',
    summary: 'Move a thread, mark it, or put it off',
    params,
    body: updateThreadInput,
    output: threadOutput,
    run: (app, { caller, params: { id, threadId }, body }) =>
      updateThread(app, caller, id, threadId, body),
  }),
  delete: at.delete(path, {
    name: 'deleteThread',
    summary: 'Move a thread to trash; from there it goes for good, with its messages',
    params,
    output: deleted,
    run: (app, { caller, params: { id, threadId } }) => deleteThread(app, caller, id, threadId),
  }),
  messages: at.get(`${path}/messages`, {
    name: 'listThreadMessages',
    summary: 'List the messages of a thread, oldest first',
    params,
    query: listMessagesQuery,
    output: cursorPageOf(threadMessageOutput),
    run: (app, { caller, params: { id, threadId }, query }) =>
      listThreadMessages(app, caller, id, threadId, query),
  }),
};
