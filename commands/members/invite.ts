import { Args } from '@oclif/core';
import { memberRoutes } from '../../src/access/members/routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Invite a person to the organization',
  description:
    'Mails an invitation that works once, for 7 days. With --no-mail nothing is mailed: ' +
    '"svc members link" prints a link to hand over, "svc members resend" mails one later.',
  examples: [
    ['Invite a developer', 'svc members invite ann@example.com --role developer --name Ann'],
    ['Invite without a mail', 'svc members invite bo@example.com --role owner --no-mail'],
  ],
  args: { email: Args.string({ description: 'Address of the person' }) },
  route: memberRoutes.create,
  card,
});
