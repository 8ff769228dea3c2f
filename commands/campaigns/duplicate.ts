import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import { campaignArg as args, campaignCard, campaignWarning } from '../base/nouns/campaign.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  examples: [['Copy a campaign', 'svc campaigns duplicate @last --name "Summer sale"']],
  args,
  route: campaignRoutes.duplicate,
  card: campaignCard,
  warning: campaignWarning,
});
