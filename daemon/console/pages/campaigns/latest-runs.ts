// Campaigns, each with its latest run.
import { campaignRoutes, campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { RunSummary } from '../../../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import type { Asked } from '../../page.ts';
import { share } from '../../parts/times.ts';

export interface LatestRun {
  campaign: Campaign;
  run: RunSummary | null;
}

/** Asks for the latest run of each campaign. */
export function withRuns(
  { ask }: Pick<Asked, 'ask'>,
  campaigns: readonly Campaign[],
): Promise<LatestRun[]> {
  return Promise.all(
    campaigns.map(async (campaign) => {
      const { items } = await ask(campaignRunRoutes.list, {
        params: { id: campaign.id },
        query: { limit: 1 },
      });
      return { campaign, run: items[0] ?? null };
    }),
  );
}

/** Asks for the newest campaigns with their latest runs. */
export async function latestRuns(asked: Pick<Asked, 'ask'>, limit: number): Promise<LatestRun[]> {
  const { items } = await asked.ask(campaignRoutes.list, { query: { limit } });
  return withRuns(asked, items);
}

/** Returns a part of the delivered mail in percent; a dash without delivered mail. */
export function ofDelivered(part: number, delivered: number): string {
  const found = share(part, delivered);
  return found === null ? '–' : `${Math.round(found * 100)} %`;
}
