// Shared parts of the commands on an action of a mailbox. The commands take only the id of the
// action, and look up the mailbox that the routes need.
import { Args } from '@oclif/core';
import { ResourceNotFoundError } from '../../src/platform/errors.ts';
import type { Input, Session } from './asking.ts';
import type { CommonFlags } from './command.ts';
import { findItem, itemsOf } from './items.ts';
import { type LoadRoute, withSession } from './route.ts';

/** The argument of commands on a single action. */
export const actionArgs = {
  action: Args.string({ description: 'Id of the action (act_…)', required: true }),
};

export const actionCard = [
  ...['id', 'type', 'state', 'actor.displayName', 'summary.from', 'summary.replyTo'],
  ...['summary.to', 'summary.cc', 'summary.bcc', 'summary.subject', 'summary.attachments'],
  ...['messageId', 'threadId', 'note', 'failure.message', 'createdAt', 'decidedAt'],
  ...['digest', 'editedDigest'],
];

/**
 * Returns the parameters of a path to an action.
 * @throws ResourceNotFoundError
 */
export async function actionParams(session: Session, typed: string) {
  const { wholeId } = await import('./input/whole-id.ts');
  const actionId = await wholeId(session.findIds, ['mailboxAction'], typed);
  return { id: await mailboxOf(session, actionId), actionId };
}

async function mailboxOf(session: Session, actionId: string): Promise<string> {
  if (session.local) {
    const { app, caller } = session.local;
    const { actions } = await import('../../src/inbox/approvals/queries.ts');
    return (await actions.get(app.store.db, caller.organizationId, actionId)).mailbox_id;
  }
  const { mailboxActionRoutes } = await import('../../src/inbox/approvals/routes.ts');
  const all = itemsOf(session, mailboxActionRoutes.listAll);
  const found = await findItem(all, ({ id }) => id === actionId);
  if (!found) throw new ResourceNotFoundError('action', actionId);
  return found.mailboxId;
}

/**
 * Opens the service, runs a route on the action, closes the service. @throws ResourceNotFoundError
 */
export function callOnAction<Answer>(
  flags: CommonFlags,
  actionId: string,
  load: LoadRoute<Answer>,
  more: Pick<Input, 'params' | 'body'> = {},
): Promise<Answer> {
  return withSession(flags, async (session) => {
    const params = { ...(await actionParams(session, actionId)), ...more.params };
    return session.ask(await load(), { ...more, params });
  });
}
