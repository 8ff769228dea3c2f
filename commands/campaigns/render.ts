import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import { campaignArg as args, campaignMailShown } from '../base/nouns/campaign.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  examples: [
    ['Show it without values of a contact', 'svc campaigns render @last'],
    [
      'Show it for one contact',
      'svc campaigns render @last --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
  ],
  args,
  names: { contactId: 'contact' },
  route: campaignRoutes.render,
  view: async (mail) => (await campaignMailShown(mail)).join('\n\n'),
});
