import { testCampaignInput } from '../../src/campaigns/setup/schema.ts';
import { campaignArg as args } from '../base/nouns/campaign.ts';
import { updateCommand } from '../base/verbs.ts';

const columns = ['to', 'id', 'status', 'problem'];

export default updateCommand({
  summary: 'Send the mail of a campaign to a few addresses',
  description: 'The subject begins with [Test]. The mails are in no run.',
  examples: [['Send a test', 'svc campaigns test @last --to ada@example.com']],
  args,
  body: testCampaignInput,
  names: { to: 'to' },
  route: async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRoutes.test,
  view: async (results) => {
    const { table } = await import('../base/output/format.ts');
    const rows = results.map((result) =>
      'message' in result
        ? { to: result.message.to, id: result.message.id, status: result.message.status }
        : { problem: result.error.message ?? result.error._tag },
    );
    return table(rows, columns);
  },
});
