import { duplicateCampaignInput } from '../../src/campaigns/setup/schema.ts';
import { campaignArg as args, campaignCard, campaignWarning } from '../base/nouns/campaign.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Copy a campaign without its runs',
  examples: [['Copy a campaign', 'svc campaigns duplicate @last --name "Summer sale"']],
  args,
  body: duplicateCampaignInput,
  route: async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRoutes.duplicate,
  card: campaignCard,
  warning: campaignWarning,
});
