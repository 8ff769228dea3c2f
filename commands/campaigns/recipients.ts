import { campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List contacts without a message', 'svc campaigns recipients @last --outcome failed'],
    ['List bounced messages', 'svc campaigns recipients @last --status bounced'],
  ],
  args,
  find,
  route: campaignRunRoutes.recipients,
  columns: ['contactId', 'outcome', 'reason', 'messageId', 'status', 'openedAt', 'clickedAt'],
  whenEmpty: 'No contacts found. See the counts: svc campaigns show RUN',
});
