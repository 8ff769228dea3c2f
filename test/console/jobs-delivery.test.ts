// Jobs about delivery in a real Chromium: how many clicks each takes, and no barrier on its pages.
// Slow: a browser and axe look at seven pages.
import type { Browser as Chromium, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listKeys } from '../../src/access/keys/keys.ts';
import { send } from '../support/delivery.ts';
import { barriersOf, chromiumPath, closePages, openPage, startChromium } from './chromium.ts';
import { browserOf, makePerson } from './persons.ts';
import { consoleWorld, type World } from './world.ts';

const path = await chromiumPath();

describe.skipIf(path === null)(
  'jobs about delivery in a browser',
  () => {
    let world: World;
    let url: string;
    let chromium: Chromium;
    let personId: string;
    beforeAll(async () => {
      world = await consoleWorld();
      ({ url } = await world.http.listen());
      chromium = await startChromium(path ?? '');
      ({ personId } = await makePerson(world, 'jette@example.com', [{ name: 'Jette' }]));
      await send(world.test.app, world.test.caller, 'ada@example.com');
    });
    afterEach(() => closePages(chromium));
    afterAll(async () => {
      await chromium?.close();
      await world?.close();
    });

    async function signedIn(): Promise<{ page: Page; faults: string[] }> {
      const { cookie } = await browserOf(world, personId, { proof: 'passkey' });
      const [name = '', value = ''] = cookie.split('=');
      const watched = await openPage(chromium, url);
      await watched.page.context().addCookies([{ name, value, url: `${url}/console` }]);
      await watched.page.goto('/console');
      return watched;
    }

    /** Presses in turn. Returns the number of clicks. */
    async function press(...targets: Locator[]): Promise<number> {
      for (const target of targets) {
        await target.click();
        await target.page().waitForLoadState();
      }
      return targets.length;
    }

    async function expectNoBarrier(page: Page): Promise<void> {
      expect([page.url(), await barriersOf(page)]).toEqual([page.url(), '[]']);
    }

    it('adds a domain and sends its records to a colleague in at most twelve clicks', async () => {
      const { page, faults } = await signedIn();
      const button = (name: string | RegExp) => page.getByRole('button', { name });
      let clicks = await press(
        page.getByRole('link', { name: 'Domains & senders' }),
        button('Add a domain'),
        page.getByRole('textbox', { name: /^Domain/ }),
      );
      await page.keyboard.type('news.example');
      clicks += await press(button('Add it'));
      await expectNoBarrier(page);
      clicks += await press(button('Make a link'));
      const link = (await page.locator('main').textContent())?.match(/\/domains\/[\w-]{43}/)?.[0];
      const stranger = await openPage(chromium, url);
      await stranger.page.goto(link ?? '');
      expect(await stranger.page.locator('h1').textContent()).toBe('DNS records of news.example');
      await expectNoBarrier(stranger.page);
      expect(clicks).toBeLessThanOrEqual(12);
      expect([faults, stranger.faults]).toEqual([[], []]);
    });

    it('makes a read-only key in at most five clicks', async () => {
      const { page } = await signedIn();
      let clicks = await press(
        page.getByRole('link', { name: 'API keys' }),
        page.getByRole('textbox', { name: 'Name', exact: true }),
      );
      await page.keyboard.type('Reports');
      await expectNoBarrier(page);
      clicks += await press(
        page.getByText('Read only', { exact: true }).last(),
        page.getByRole('button', { name: 'Make the key' }),
      );
      await expect.poll(() => page.locator('main').textContent()).toMatch(/svc_live_\w{38}/);
      const { app, operator } = world.test;
      const { items } = await listKeys(app, operator, { page: 1, limit: 1 });
      expect(items[0]?.roleName).toBe('viewer');
      expect(clicks).toBeLessThanOrEqual(5);
    });

    it('edits a template with its preview beside in at most five clicks', async () => {
      await world.api('POST', '/v1/templates', {
        name: 'Order confirmed',
        slug: 'order',
        subject: 'Your order',
        html: '<p>Thank you</p>',
      });
      const { page, faults } = await signedIn();
      let clicks = await press(
        page.getByRole('link', { name: 'Templates & brand' }),
        page.getByRole('link', { name: 'Order confirmed' }),
        page.getByRole('link', { name: 'Files' }),
        page.getByRole('link', { name: 'body.html' }),
      );
      await page.getByLabel('Content').fill('<p>Thank you, Mia</p>');
      clicks += await press(page.getByRole('button', { name: 'Show it' }));
      const mail = page.frameLocator('iframe').locator('body');
      await expect.poll(() => mail.textContent()).toContain('Thank you, Mia');
      expect([clicks <= 5, faults]).toEqual([true, []]);
    });

    it('has no barrier in Reports, Changes and Organization, wide and narrow', async () => {
      const { page } = await signedIn();
      for (const place of ['reports', 'reports?by=domain', 'changes', 'organization']) {
        await page.goto(`/console/${place}`);
        for (const width of [1280, 375]) {
          await page.setViewportSize({ width, height: 800 });
          await expectNoBarrier(page);
        }
      }
    });
  },
  180_000,
);
