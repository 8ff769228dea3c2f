// Shared parts of the commands on an action of a mailbox. The commands take only the id of the
// action, and look up the mailbox that the routes need.
import { Args } from '@oclif/core';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { CommonFlags } from './command.ts';
import { type Input, type LoadRoute, runRoute } from './route.ts';
import { withCaller } from './session.ts';

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

/** Returns the parameters in the path of an action. @throws ResourceNotFoundError */
export async function actionParams(app: App, { organizationId }: Caller, typed: string) {
  const { wholeId } = await import('./input/whole-id.ts');
  const actionId = await wholeId(app, organizationId, ['mailboxAction'], typed);
  const { actions } = await import('../../src/inbox/approvals/queries.ts');
  const { mailbox_id } = await actions.get(app.store.db, organizationId, actionId);
  return { id: mailbox_id, actionId };
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
  return withCaller(flags, async (app, caller) => {
    const params = { ...(await actionParams(app, caller, actionId)), ...more.params };
    return runRoute(app, caller, await load(), { ...more, params });
  });
}
