// People in a real Chromium: how many clicks the usual work takes, and no barrier on its pages.
// Slow: a browser and axe look at seven pages.
import type { Browser as Chromium, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInvitation } from '../../src/access/members/invitations.ts';
import { createMember } from '../../src/access/members/members.ts';
import { members } from '../../src/access/members/queries.ts';
import { barriersOf, chromiumPath, openPage, startChromium } from './chromium.ts';
import { browserOf, makePerson } from './persons.ts';
import { consoleWorld, type World } from './world.ts';

const path = await chromiumPath();

describe.skipIf(path === null)(
  'people in a browser',
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
    });
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

    /** Returns the path of an invitation without mail. */
    async function invitation(email: string): Promise<string> {
      const { app, operator } = world.test;
      const { id } = await createMember(app, operator, { email, role: 'editor', mail: false });
      const token = await app.store.write(async (trx) => {
        const row = await members.get(trx, operator.organizationId, id);
        return startInvitation(app, trx, row, { messageId: null, livesMs: 60_000 });
      });
      return `/console/invitation/${token}`;
    }

    /** Presses in turn. Returns the number of clicks. */
    async function press(...targets: Locator[]): Promise<number> {
      for (const target of targets) await target.click();
      return targets.length;
    }

    async function expectNoBarrier(page: Page): Promise<void> {
      expect([page.url(), await barriersOf(page)]).toEqual([page.url(), '[]']);
    }

    it('invites a colleague in at most four clicks', async () => {
      const { page } = await signedIn();
      let clicks = await press(page.getByRole('link', { name: 'Settings', exact: true }));
      clicks += await press(page.getByLabel('Mail address'));
      await page.keyboard.type('mara@example.com');
      await page.getByRole('combobox', { name: /^Role/ }).selectOption('editor');
      clicks += 1;
      await expectNoBarrier(page);
      clicks += await press(page.getByRole('button', { name: 'Invite', exact: true }));
      await page.waitForLoadState();
      expect(clicks).toBeLessThanOrEqual(4);
    });

    it('accepts an invitation in at most two clicks, without a script too', async () => {
      for (const javaScriptEnabled of [true, false]) {
        const target = await invitation(`mara-${javaScriptEnabled}@example.com`);
        const { page, faults } = await openPage(chromium, url, { javaScriptEnabled });
        await page.goto(target);
        if (javaScriptEnabled) await expectNoBarrier(page);
        const clicks = await press(page.getByRole('button', { name: 'Accept', exact: true }));
        await page.waitForURL(/\/console$/);
        expect([clicks <= 2, faults]).toEqual([true, []]);
      }
    });

    it('ends another session in at most three clicks', async () => {
      await browserOf(world, personId, { browser: 'Safari on iPhone' });
      const { page } = await signedIn();
      const clicks = await press(
        page.getByRole('link', { name: 'Jette', exact: true }),
        page.getByRole('row', { name: /Safari on iPhone/ }).getByRole('button', { name: 'End' }),
      );
      await expect
        .poll(async () => (await page.locator('main').textContent())?.includes('Safari on iPhone'))
        .toBe(false);
      expect(clicks).toBeLessThanOrEqual(3);
    });
  },
  120_000,
);
