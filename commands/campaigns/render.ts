import { renderCampaignInput } from '../../src/campaigns/campaigns/schema.ts';
import { campaignArg as args } from '../base/campaign.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Show the mail of a campaign as a contact would get it',
  examples: [
    [
      'Show it for one contact',
      'svc campaigns render @last --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
  ],
  args,
  body: renderCampaignInput,
  names: { contactId: 'contact' },
  route: async () =>
    (await import('../../src/campaigns/campaigns/routes.ts')).campaignRoutes.render,
  view: async ({ subject, preheader, html, text }) => {
    const { card, plainText } = await import('../base/format.ts');
    const head = card({ subject, preheader }, ['subject', 'preheader']);
    return [head, plainText(text ?? html ?? '')].join('\n\n');
  },
});
