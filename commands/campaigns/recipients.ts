import { listRecipientsQuery } from '../../src/campaigns/setup/run-schema.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the contacts that a run has judged',
  examples: [
    ['List contacts without a message', 'svc campaigns recipients @last --outcome failed'],
    ['List bounced messages', 'svc campaigns recipients @last --status bounced'],
  ],
  args,
  find,
  query: listRecipientsQuery,
  route: async () =>
    (await import('../../src/campaigns/setup/routes.ts')).campaignRunRoutes.recipients,
  columns: ['contactId', 'outcome', 'reason', 'messageId', 'status', 'openedAt', 'clickedAt'],
  whenEmpty: 'No contacts found. See the counts: svc campaigns show RUN',
});
