// Shared parts of the commands on a thread. The commands take only the id of the thread, and look
// up the mailbox that the routes need.
import { Args } from '@oclif/core';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Input, Session } from '../asking.ts';
import type { CommonFlags } from '../command.ts';
import { firstFound, itemsOf } from '../items.ts';
import { type LoadRoute, withSession } from '../route.ts';

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

/**
 * Returns the parameters of a path to a thread.
 * @throws ResourceNotFoundError
 */
export async function threadParams(session: Session, typed: string) {
  const { wholeId } = await import('../input/whole-id.ts');
  const threadId = await wholeId(session.findIds, ['thread'], typed);
  const id = await mailboxOf(session, threadId);
  if (id === undefined) throw new ResourceNotFoundError('thread', threadId);
  return { id, threadId };
}

async function mailboxOf(session: Session, threadId: string): Promise<string | undefined> {
  if (session.local) {
    const { app, caller } = session.local;
    const { findThread } = await import('../../../src/inbox/threads/queries.ts');
    const row = await findThread(app.store.db, threadId);
    return row?.organization_id === caller.organizationId ? row.mailbox_id : undefined;
  }
  const { mailboxRoutes } = await import('../../../src/identity/mailboxes/routes.ts');
  const { threadRoutes } = await import('../../../src/inbox/threads/routes.ts');
  return firstFound(itemsOf(session, mailboxRoutes.list), async ({ id }) => {
    await session.ask(threadRoutes.get, { params: { id, threadId } });
    return id;
  });
}

/** Opens the service, runs a route on the thread of a mailbox, closes the service. */
export function callOnThread<Answer>(
  flags: CommonFlags,
  threadId: string,
  load: LoadRoute<Answer>,
  input: Omit<Input, 'params'> = {},
): Promise<Answer> {
  return withSession(flags, async (session) => {
    const params = await threadParams(session, threadId);
    return session.ask(await load(), { ...input, params });
  });
}
