// Results of a run by domain of the receiver and by link, from real mail and clicks of people.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seeResults } from '../../../src/campaigns/setup/results.ts';
import { type TrackingWorld, trackingWorld } from '../../outbound/tracking/fixtures.ts';
import { stores } from '../../support/command.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

const links =
  '<a href="https://shop.example/a">A</a><a href="https://shop.example/b?to={{ contact.email }}">B</a>';

describe.each(stores)('results of a run on %s', (store) => {
  let world: TrackingWorld;
  beforeEach(async () => {
    world = await trackingWorld(store);
  });
  afterEach(() => world.close());

  /** Sends a run to three people at one domain and one at another; returns the run. */
  async function sent(html: string) {
    const { app, caller } = world;
    await makeContacts(app, caller, 3, { domain: 'a.example' });
    await makeContacts(app, caller, 1, { domain: 'b.example' });
    const tracking = { opens: true, clicks: true };
    const email = { subject: 'News', html, text: 'News', tracking };
    const campaign = await makeCampaign(app, caller, { email });
    const run = await makeRun(app, caller, campaign);
    await whileWalking(app, async () => {
      const ended = async () => {
        await world.clock.advance(1_000);
        expect((await readRun(app, caller, run)).dispatchedCount).toBe(4);
      };
      await vi.waitFor(ended, { timeout: 20_000 });
    });
    return run;
  }

  const see = ({ id, campaignId }: { id: string; campaignId: string }) =>
    seeResults(world.app, world.caller, { campaignId, runId: id });

  it.each([
    ['equal for all', links.replace('{{ contact.email }}', 'x'), 'https://shop.example/b?to=x'],
    ['filled for each', links, 'https://shop.example/b?to=u0@a.example'],
  ])('has receivers, and links that are %s', async (_name, html, second) => {
    const run = await sent(`<p>Hi</p>${html}`);
    const copies = await world.copies(4);
    const none = { bounced: 0, opened: 0, clicked: 0 };
    expect(await see(run)).toEqual({
      people: 4,
      receivers: [
        { domain: 'a.example', sent: 3, delivered: expect.any(Number), ...none },
        { domain: 'b.example', sent: 1, delivered: expect.any(Number), ...none },
      ],
      links: [],
    });
    const [one, , two, four] = copies;
    // Clicks right after the delivery are those of scanners.
    await world.clock.advance(120_000);
    for (const path of [one?.links[1], one?.links[1], two?.links[1], one?.links[0]]) {
      await world.ask(path ?? '');
    }
    await world.ask(four?.links[0] ?? '', { headers: { 'user-agent': 'GoogleImageProxy' } });
    await vi.waitFor(async () => {
      await world.clock.advance(1_000);
      const { receivers, links: found } = await see(run);
      expect(receivers).toMatchObject([
        { domain: 'a.example', sent: 3, delivered: 2, opened: 2, clicked: 2 },
        { domain: 'b.example', sent: 1, clicked: 0 },
      ]);
      expect(found).toEqual([
        { url: second, people: 2 },
        { url: 'https://shop.example/a', people: 1 },
      ]);
    });
  });

  it('are of no other organization', async () => {
    const run = await sent('<p>Hi</p>');
    const stranger = { ...world.caller, organizationId: 'org_x' };
    const asked = seeResults(world.app, stranger, { campaignId: run.campaignId, runId: run.id });
    await expect(asked).rejects.toThrow('campaign');
  });
});
