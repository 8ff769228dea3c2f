// Shared parts of the commands on a thread. The commands take only the id of the thread, and look
// up the mailbox that the routes need.
import { Args } from '@oclif/core';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { CommonFlags } from '../command.ts';
import { type Input, type LoadRoute, runRoute } from '../route.ts';
import { withCaller } from '../session.ts';

/** The argument of commands on a single thread. */
export const threadArg = {
  thread: Args.string({ description: 'Id of the thread (thread_…)', required: true }),
};

export const threadCard = [
  ...['id', 'subject', 'from.address', 'folder', 'read', 'starred', 'priority', 'labels'],
  ...['messageCount', 'hasAttachments', 'hasDraft', 'snoozedUntil', 'lastActivityAt', 'preview'],
];

export const standingCard = [
  ...['id', 'folder', 'read', 'starred', 'priority', 'labels', 'snoozedUntil'],
];

/** Returns the parameters in the path of a thread. @throws ResourceNotFoundError */
export async function threadParams(app: App, { organizationId }: Caller, typed: string) {
  const { wholeId } = await import('../input/whole-id.ts');
  const threadId = await wholeId(app, organizationId, ['thread'], typed);
  const { findThread } = await import('../../../src/inbox/threads/queries.ts');
  const row = await findThread(app.store.db, threadId);
  if (row?.organization_id !== organizationId) throw new ResourceNotFoundError('thread', threadId);
  return { id: row.mailbox_id, threadId };
}

/** Opens the service, runs a route on the thread of a mailbox, closes the service. */
export function callOnThread<Answer>(
  flags: CommonFlags,
  threadId: string,
  load: LoadRoute<Answer>,
  input: Omit<Input, 'params'> = {},
): Promise<Answer> {
  return withCaller(flags, async (app, caller) => {
    const params = await threadParams(app, caller, threadId);
    return runRoute(app, caller, await load(), { ...input, params });
  });
}
