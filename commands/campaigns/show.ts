// `svc campaigns show`: a campaign with the newest run, or a run.

import type { RunSummary } from '../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../src/campaigns/setup/schema.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand } from '../base/command.ts';
import { jsonText } from '../base/input/json-text.ts';
import { campaignCard, campaignWarning, runPlace } from '../base/nouns/campaign.ts';
import { runText } from '../base/nouns/run-view.ts';
import { writeLine, writeWarning } from '../base/output/output.ts';
import { liveScreen } from '../base/output/screen.ts';
import { withSession } from '../base/route.ts';
import { idArg } from '../base/verbs.ts';

const endedStatuses: readonly string[] = ['completed', 'failed', 'cancelled'];

/** The shown campaign (null if the user named a run) and run (null without runs). */
interface Shown {
  campaign: Campaign | null;
  run: RunSummary | null;
}

export default class CampaignsShow extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show a campaign and its newest run, or a run';

  static override description =
    'Draws progress and pace of the run, the results of the messages, the reason of a wait and ' +
    'the command that helps. On a terminal a run that has not ended is redrawn every second until ' +
    'q or Ctrl-C; elsewhere it is printed once.';

  static override examples = [
    { description: 'Show the newest campaign', command: 'svc campaigns show @last' },
    {
      description: 'Print the counts of a run',
      command: 'svc campaigns show run_06dq2k0qz8h3v5m1r9t4w7xy --json | jq .stats',
    },
  ];

  static override args = idArg('Id of the campaign (camp_…) or of the run (run_…), or @last');

  async run(): Promise<void> {
    const { args, flags } = await this.parse(CampaignsShow);
    await withSession(flags, async (session) => {
      const read = await reader(session, args.id);
      const { campaign, run } = await read();
      if (flags.json) return writeLine(jsonText(campaign ?? run));
      const text = async (shown: Shown) => shownText(shown, session.now());
      const isOver = run === null || endedStatuses.includes(run.status);
      if (isOver || !process.stdout.isTTY) {
        writeLine(await text({ campaign, run }));
        const warning = campaign && campaignWarning(campaign);
        if (warning) writeWarning(warning);
        return;
      }
      await liveScreen(async () => `${await text(await read())}\n\nq leaves`);
    });
  }
}

/** Returns a function that reads the named campaign or run. @throws ResourceNotFoundError. */
async function reader(session: Session, named: string): Promise<() => Promise<Shown>> {
  const routes = await import('../../src/campaigns/setup/routes.ts');
  const get = { campaign: routes.campaignRoutes.get, run: routes.campaignRunRoutes.get };
  if (named.startsWith('run_')) {
    const params = await runPlace(session, named);
    return async () => ({ campaign: null, run: await session.ask(get.run, { params }) });
  }
  const { id } = await session.ask(get.campaign, { params: { id: named } });
  return async () => {
    const params = { id };
    const campaign = await session.ask(get.campaign, { params });
    const query = { limit: 1 };
    const { items } = await session.ask(routes.campaignRunRoutes.list, { params, query });
    return { campaign, run: items[0] ?? null };
  };
}

async function shownText({ campaign, run }: Shown, now: number): Promise<string> {
  const { card } = await import('../base/output/format.ts');
  const parts = [
    campaign && card(campaign, campaignCard),
    run ? await runText(run, now) : `No runs yet. Make one: svc campaigns run ${campaign?.id}`,
  ];
  return parts.filter(Boolean).join('\n\n');
}
