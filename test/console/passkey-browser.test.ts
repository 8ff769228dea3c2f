// Passkeys in a real Chromium, by its virtual authenticator: adding, signing in by one click, and
// the way from another site (127.0.0.1 beside localhost). Without Chromium these tests are skipped.
// Slow: a browser starts.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { selectPasskeys } from '../../src/access/passkeys/queries.ts';
import { makeMailedLink } from '../../src/access/sessions/mailed-links.ts';
import { beginPersonSession } from '../../src/access/sessions/person-sessions.ts';
import { chromiumPath, openPage, startChromium } from './chromium.ts';
import { makePerson } from './persons.ts';
import { consoleWorld, type World } from './world.ts';

const path = await chromiumPath();
if (path === null) console.warn('No Chromium starts here: tests of passkeys in it are skipped.');

describe.skipIf(path === null)('passkeys in a browser', () => {
  let world: World;
  let browser: Browser;
  let origin: string;
  let personId: string;
  let foreign: Server;
  let foreignPage = '';
  let count = 0;
  beforeAll(async () => {
    world = await consoleWorld();
    const { url } = await world.http.listen();
    world.test.app.publicUrl.current = url;
    origin = url.replace('127.0.0.1', 'localhost');
    foreign = createServer((_request, answer) => answer.end(foreignPage)).listen(0, '127.0.0.1');
    await once(foreign, 'listening');
    browser = await startChromium(path ?? '');
  });
  beforeEach(async () => {
    count += 1;
    ({ personId } = await makePerson(world, `jette-${count}@example.com`));
  });
  afterAll(async () => {
    await browser?.close();
    foreign?.close();
    await world?.close();
  });

  /**
   * Opens a page with an authenticator that answers at once. Without `offers`, the browser offers
   * no passkeys in the list of a typed field. Such an offer would sign in before a test clicks.
   */
  async function opened({ at = origin, isVerifying = true, offers = false } = {}) {
    const watched = await openPage(browser, at);
    if (!offers) {
      await watched.page.addInitScript(
        'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
      );
    }
    const cdp = await watched.page.context().newCDPSession(watched.page);
    await cdp.send('WebAuthn.enable');
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: isVerifying,
        automaticPresenceSimulation: true,
      },
    });
    return watched;
  }

  /** Opens My account in a session by a mailed link. */
  async function inAccount(offers = false) {
    const watched = await opened({ offers });
    const token = await beginPersonSession(world.test.app, {
      personId,
      proof: 'link',
      browser: 'Chromium',
      network: '127.0.0.0/24',
    });
    const place = { domain: 'localhost', path: '/console' };
    const cookie = { name: 'svc_console', value: token ?? '', ...place };
    await watched.page.context().addCookies([{ ...cookie, sameSite: 'Strict', httpOnly: true }]);
    await watched.page.goto('/console/account');
    return watched;
  }

  async function addPasskey(page: Page) {
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name of the passkey').fill('My laptop');
    await page.getByRole('button', { name: 'Make the passkey' }).click();
    await page.getByText('My laptop').first().waitFor();
  }

  async function signOut(page: Page) {
    await page.getByRole('button', { name: 'More of your session' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
  }

  /** Follows a link to a path of the console on a page of another site. */
  async function comeFromAnotherSite(page: Page, target: string): Promise<void> {
    foreignPage = `<!doctype html><title>Webmail</title><a href="${origin}${target}">Open</a>`;
    await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    await page.getByRole('link', { name: 'Open' }).click();
  }

  const overview = (page: Page) => page.waitForURL(/\/console$/);
  const passkeyButton = (page: Page) =>
    page.getByRole('button', { name: 'Sign in with a passkey' });

  it('are added in My account, and sign in by one click', async () => {
    const { page, faults } = await inAccount();
    await addPasskey(page);
    expect(await selectPasskeys(world.test.app.store.db, personId)).toHaveLength(1);
    await signOut(page);
    await passkeyButton(page).click();
    await overview(page);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('are offered in the list of the address, before anything is typed', async () => {
    const { page } = await inAccount(true);
    await addPasskey(page);
    await signOut(page);
    await overview(page);
    await page.context().close();
  });

  it('sign in a visitor from another site, and a mailed link does too', async () => {
    const { page } = await inAccount();
    await addPasskey(page);
    await page.context().clearCookies();
    await comeFromAnotherSite(page, '/console/sign-in');
    await passkeyButton(page).click();
    await overview(page);
    await page.context().clearCookies();
    const { app } = world.test;
    const email = `jette-${count}@example.com`;
    const link = { personId, purpose: 'sign-in', email, browser: 'Chromium', address: '' } as const;
    const { token } = await app.store.write((trx) => makeMailedLink(app, trx, link, false));
    await comeFromAnotherSite(page, `/console/link/${token}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await overview(page);
    await page.context().close();
  });

  it('work at localhost alone: a page at a number links there', async () => {
    const { page } = await opened({ at: origin.replace('localhost', '127.0.0.1') });
    await page.goto('/console/sign-in');
    await page.getByRole('link', { name: origin }).waitFor();
    expect(await passkeyButton(page).isVisible()).toBe(false);
    await page.context().close();
  });

  it('say that no passkey answered, without user verification', async () => {
    const { page } = await opened({ isVerifying: false });
    await page.goto('/console/sign-in');
    await passkeyButton(page).click();
    await page.getByText('No passkey answered').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/sign-in');
    await page.context().close();
  });
});
