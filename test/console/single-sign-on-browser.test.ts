// Single sign-on in a real Chromium. The provider is at 127.0.0.1 and the console at localhost, so
// the return comes from another site: the browser then sends no `SameSite=Strict` cookie, and a
// form may not lead there. Without Chromium the test is skipped, and says so. Slow: a browser.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPerson, findPersonByBinding } from '../../src/access/members/queries.ts';
import { Forger } from '../access/single-sign-on/forger.ts';
import { chromiumPath, startChromium } from './chromium.ts';
import { browserOf, makePerson } from './persons.ts';
import { consoleWorld, type World } from './world.ts';

const path = await chromiumPath();
if (path === null) console.warn('No Chromium starts here: the test of single sign-on is skipped.');

describe.skipIf(path === null)('single sign-on in a browser', () => {
  let forger: Forger;
  let world: World;
  let browser: Browser;
  let origin: string;
  beforeAll(async () => {
    let now = () => 0;
    forger = await new Forger({ now: () => now() }).listen();
    const { issuer, clientId } = forger;
    const oidc = { issuer, clientId, label: 'Example SSO', domains: ['example.com'] };
    world = await consoleWorld('sqlite', { console: { signIn: { oidc } } });
    now = () => world.test.clock.now();
    const { organizationId: organization } = world.test.caller;
    Object.assign(world.test.app.config.console.signIn.oidc.join, { organization, role: 'viewer' });
    const { url } = await world.http.listen();
    origin = url.replace('127.0.0.1', 'localhost');
    browser = await startChromium(path ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await forger?.close();
  });

  const bindingOf = (subject: string) => ({ issuer: forger.issuer, clientId: 'svc', subject });

  it('signs in by the link of the sign-in page', async () => {
    forger.answerWith({ sub: 'u1', email: 'mara@example.com', email_verified: true });
    const context = await browser.newContext({ baseURL: origin });
    const page = await context.newPage();
    await page.goto('/console/sign-in?next=/console/messages');
    await page.getByRole('link', { name: 'Continue with Example SSO' }).click();
    await page.waitForURL('**/console/messages');
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    await context.close();
  });

  it('binds an account by the button in My account', async () => {
    const { db } = world.test.app.store;
    const { personId } = await makePerson(world, 'jette@example.com');
    const { cookie } = await browserOf(world, personId);
    const [name = '', value = ''] = cookie.split('=');
    const context = await browser.newContext({ baseURL: origin });
    await context.addCookies([{ name, value, url: origin, sameSite: 'Strict' }]);
    const page = await context.newPage();
    forger.answerWith({ sub: 'u2', email: 'jette@example.com', email_verified: true });
    await page.goto('/console/account');
    await page.locator('form:has(input[value="bind"]) button').click();
    await expect
      .poll(async () => (await findPersonByBinding(db, bindingOf('u2')))?.id, { timeout: 15_000 })
      .toBe(personId);
    await page.waitForURL('**/console/account');
    expect(await findPerson(db, personId)).toMatchObject({ oidc_subject: 'u2' });
    await context.close();
  });
});
