import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import {
  campaignCard,
  campaignFlags,
  campaignFrom,
  campaignWarning,
} from '../base/nouns/campaign.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  description: 'Nothing is sent before svc campaigns run. Flags override --data.',
  examples: [
    [
      'Create a campaign to a tag',
      'svc campaigns create --name "Spring sale" --subject "Hello {{ contact.firstName }}" --html @spring.html --tag customer --unsubscribe-group usg_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
    ['Create it from a file', 'svc campaigns create --data @campaign.json'],
  ],
  flags: campaignFlags,
  more: campaignFrom,
  route: campaignRoutes.create,
  card: campaignCard,
  warning: campaignWarning,
});
