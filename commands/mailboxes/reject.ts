// `svc mailboxes reject`. src/inbox/approvals/actions.ts has the states of a proposal.
import { mailboxActionRoutes } from '../../src/inbox/approvals/routes.ts';
import { actionArgs as args, actionCard as card, actionParams as find } from '../base/action.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Reject a proposal of a key: it is not sent',
  examples: [
    [
      'Reject a proposal with a note for the key',
      'svc mailboxes reject act_06dq2k0qz8h3v5m1r9t4w7xy --note "Ask first"',
    ],
  ],
  args,
  find,
  route: mailboxActionRoutes.reject,
  card,
});
