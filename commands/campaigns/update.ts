import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import {
  campaignArg as args,
  campaignCard,
  campaignFlags,
  campaignFrom,
  campaignWarning,
} from '../base/nouns/campaign.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description:
    'Flags of the content replace the whole content, flags of the audience the whole audience. ' +
    'A run keeps the content and the audience that it began with.',
  examples: [
    ['Rename it', 'svc campaigns update @last --name "Spring sale, second wave"'],
    ['Change its audience', 'svc campaigns update @last --tag customer --exclude-tag vip'],
  ],
  args,
  flags: campaignFlags,
  more: campaignFrom,
  route: campaignRoutes.update,
  card: campaignCard,
  warning: campaignWarning,
});
