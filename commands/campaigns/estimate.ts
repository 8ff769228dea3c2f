import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import { campaignArg as args, campaignMailShown, campaignWarning } from '../base/nouns/campaign.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Count the contacts of a run, show its time and mail',
  description:
    'Counts the people who get the mail, and the others by reason. The time follows plan, quota and warming.',
  examples: [
    ['Count the contacts of a run that starts now', 'svc campaigns estimate @last'],
    [
      'Show the time of a run in February',
      'svc campaigns estimate @last --at 2026-02-01T09:00:00Z',
    ],
  ],
  args,
  names: { scheduledFor: 'at' },
  route: campaignRoutes.estimate,
  view: async ({ total, dispatch, skipped, firstAt, lastAt, limitedBy, mail }) => {
    const { card } = await import('../base/output/format.ts');
    const { countLines } = await import('../base/nouns/run-view.ts');
    const left = Object.entries(skipped).filter(([, count]) => count > 0);
    const fates = [['dispatch', dispatch] as const, ...left];
    const lines = countLines(fates.map(([name, count]) => ({ name, count, of: total })));
    const times = card({ firstAt, lastAt, limitedBy }, ['firstAt', 'lastAt', 'limitedBy']);
    const counts = `${total.toLocaleString('en')} contacts\n${lines}\n\n${times}`;
    return mail === null ? counts : [counts, ...(await campaignMailShown(mail))].join('\n\n');
  },
  warning: campaignWarning,
});
