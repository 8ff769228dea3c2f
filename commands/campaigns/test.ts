import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import { campaignArg as args } from '../base/nouns/campaign.ts';
import { updateCommand } from '../base/verbs.ts';

const columns = ['to', 'id', 'status', 'problem'];

export default updateCommand({
  description: 'The subject begins with [Test]. The mails are in no run.',
  examples: [['Send a test', 'svc campaigns test @last --to ada@example.com']],
  args,
  names: { to: 'to' },
  route: campaignRoutes.test,
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
