// Figures over seeded counts: a dash for a base of zero, shares of at most 100 %, and parts within
// the whole.
import { describe, expect, it } from 'vitest';
import { html, inClock, type Part, renderDocument } from '../../daemon/console/html.ts';
import type { Asked, View } from '../../daemon/console/page.ts';
import { ofDelivered } from '../../daemon/console/pages/campaigns/latest-runs.ts';
import { stagesOf } from '../../daemon/console/pages/campaigns/run.ts';
import { senderPages } from '../../daemon/console/pages/domains/senders.ts';
import { reportPages } from '../../daemon/console/pages/reports.ts';
import { share } from '../../daemon/console/parts/times.ts';
import { inLong } from '../support/command.ts';

const rounds = inLong(2_000, 200);

/** Returns a function that gives whole numbers below a bound, often zero. */
function numbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 3 === 0 ? 0 : state % below;
  };
}

const seeds = Array.from({ length: rounds }, (_, seed) => seed);

/** Returns the text of a part, a line for each row of a table and each figure. */
function linesOf(part: Part): string[] {
  const shown = inClock({ timezone: 'UTC', now: 0 }, html`<main>${part}</main>`);
  return renderDocument(shown)
    .split(/<(?:tr|li)\b/)
    .map((row) => row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '));
}

/** Shares in a text; changes have a sign. */
const sharesIn = (text: string) =>
  [...text.matchAll(/(?<![−+\d.])(\d+(?:\.\d)?) %/g)].map(([, found]) => Number(found));

/** Draws a page from answers of routes, by their paths. */
async function drawn(
  pages: typeof reportPages,
  path: string,
  answers: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const ask = async ({ path: route }: { path: string }) => answers[route];
  const asked = {
    ...{ ask, path, query: {}, params: {}, now: Date.UTC(2026, 0, 5), timezone: 'UTC' },
    may: (right: string) => right !== 'organization:read' && !right.endsWith(':write'),
  };
  const page = pages.find((one) => one.path === path);
  const view = (await page?.show(asked as unknown as Asked)) as View;
  return linesOf(view.body);
}

/** Returns figures of mail as the API counts them: each rate is 0 if nothing was tried. */
function stats(next: (below: number) => number) {
  const attempted = next(50);
  const bounced = Math.min(attempted, next(50));
  const delivered = attempted - bounced;
  const tracked = Math.min(delivered, next(50));
  const [opened, clicked] = [Math.min(tracked, next(50)), Math.min(tracked, next(50))];
  const rate = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
  return {
    sent: attempted + next(50),
    deliveryRate: rate(delivered, attempted),
    bounceRate: rate(bounced, attempted),
    uniqueOpenedMessages: opened,
    openTrackingEligibleDeliveredMessages: tracked,
    uniqueMessageOpenRate: rate(opened, tracked),
    uniqueClickedMessages: clicked,
    clickTrackingEligibleDeliveredMessages: tracked,
    uniqueMessageClickRate: rate(clicked, tracked),
  };
}

describe('a figure', () => {
  it('shows a dash for a base of zero, and at most 100 %', () => {
    for (const seed of seeds) {
      const next = numbers(seed);
      const [part, whole] = [next(9), next(9)];
      const found = share(part, whole);
      expect([part, whole, found === null]).toEqual([part, whole, whole === 0]);
      expect(found ?? 0).toBeLessThanOrEqual(1);
      const words = ofDelivered(part, whole);
      expect(sharesIn(words)).toEqual(whole === 0 ? [] : [Math.round((found ?? 0) * 100)]);
    }
  });

  it('of a run is never larger than its whole', () => {
    for (const seed of seeds) {
      const next = numbers(seed);
      const stats = () => ({
        ...{ sent: next(20), delivered: next(20), bounced: next(20), opened: next(20) },
        ...{ clicked: next(20), failed: next(20), unsubscribed: 0, complained: 0 },
      });
      const run = {
        stats: stats(),
        ...{ dispatchedCount: next(20), skippedCount: next(20) },
        ...{ failedCount: next(20), totalRecipients: next(20) },
      };
      for (const { label, value, whole, before } of stagesOf(
        run as never,
        { stats: stats() } as never,
      )) {
        expect([seed, label, value <= whole]).toEqual([seed, label, true]);
        expect([seed, label, before === null || before <= 1]).toEqual([seed, label, true]);
      }
    }
  });

  it('of the reports shows a dash for mail that was not tried', async () => {
    for (const seed of seeds) {
      const next = numbers(seed);
      const [now, before] = [stats(next), stats(next)];
      const item = { ...stats(next), key: 'a.example', name: 'a' };
      let asked = 0;
      const lines = await drawn(reportPages, '/reports', {
        get '/v1/analytics/channel-stats'() {
          asked += 1;
          return { email: asked === 1 ? now : before };
        },
        '/v1/analytics/timeseries': { items: [] },
        '/v1/analytics/breakdown': { by: 'domain', items: [item] },
      });
      expect(asked).toBe(2);
      const row = lines.find((line) => line.includes('a.example')) ?? '';
      const tile = lines.find((line) => line.includes('Bounced')) ?? '';
      for (const line of lines) expect(Math.max(0, ...sharesIn(line))).toBeLessThanOrEqual(100);
      const isTried = ({ deliveryRate, bounceRate }: typeof now) => deliveryRate + bounceRate > 0;
      if (!isTried(item)) expect([seed, sharesIn(row)]).toEqual([seed, []]);
      if (!isTried(now)) expect([seed, sharesIn(tile)]).toEqual([seed, []]);
      const compared = lines.filter((line) => line.includes(' points'));
      if (!isTried(before)) expect([seed, compared.length]).toEqual([seed, 0]);
    }
  });

  it('of a sender without mail shows a dash', async () => {
    for (const windowSends of [0, 7]) {
      const item = {
        ...{ id: 'snd_1', email: 'a@b.example', name: null, isDefault: false, isActive: true },
        ...{ verificationStatus: 'verified', series: [] },
        deliverability: { windowSends, bounceRate: 1, complaintRate: 0, sendingStatus: 'enabled' },
      };
      const lines = await drawn(senderPages, '/senders', {
        '/v1/email/senders': { items: [item], pagination: { page: 1, totalPages: 1, total: 1 } },
      });
      const shares = lines.flatMap(sharesIn);
      expect([windowSends, shares]).toEqual([windowSends, windowSends === 0 ? [] : [100, 0]]);
    }
  });
});
