// Doors, pages of a person, and pages after a refusal or an action, held to the bars as
// bars.test.ts holds all others. Slow: a browser and axe look at 20 pages in both looks and widths.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startInvitation } from '../../src/access/members/invitations.ts';
import { createMember } from '../../src/access/members/members.ts';
import { members } from '../../src/access/members/queries.ts';
import { makeMailedLink } from '../../src/access/sessions/mailed-links.ts';
import { findingsOf, looks } from './bars.ts';
import { chromiumPath, closePages, openPage, startChromium } from './chromium.ts';
import { browserOf, makePerson } from './persons.ts';
import { consoleWorld, type World } from './world.ts';

const path = await chromiumPath();
const email = 'maximiliane.von-hohenstein@versandabteilung.harbour-books.example';
const name = 'Maximiliane Freifrau von Hohenstein-Wolkenstein';

describe.skipIf(path === null)(
  'a door',
  () => {
    let world: World;
    let url: string;
    let chromium: Chromium;
    let personId: string;
    let domainId: string;
    beforeAll(async () => {
      world = await consoleWorld();
      ({ url } = await world.http.listen());
      chromium = await startChromium(path ?? '');
      ({ personId } = await makePerson(world, email, [{ name }]));
      const domain = 'versandabteilung.harbour-books-and-stationery.example';
      ({ id: domainId } = await world.api('POST', '/v1/email/domains', { domain }));
      await browserOf(world, personId, { browser: 'Safari on iPhone', network: '2001:db8::/48' });
    });
    afterEach(() => closePages(chromium));
    afterAll(async () => {
      await chromium?.close();
      await world?.close();
    });

    /** Returns the path of an invitation without mail. */
    async function invitation(address: string): Promise<string> {
      const { app, operator } = world.test;
      const input = { email: address, role: 'editor', name, mail: false } as const;
      const { id } = await createMember(app, operator, input);
      const token = await app.store.write(async (trx) => {
        const row = await members.get(trx, operator.organizationId, id);
        return startInvitation(app, trx, row, { messageId: null, livesMs: 600_000 });
      });
      return `/console/invitation/${token}`;
    }

    async function link(purpose: 'sign-in' | 'address' | 'end-sessions'): Promise<string> {
      const { app } = world.test;
      const made = { personId, purpose, email, browser: 'Firefox on Windows', address: '' };
      const { token } = await app.store.write((trx) => makeMailedLink(app, trx, made, false));
      return `/console/link/${token}`;
    }

    /** Returns the path of the page of a domain for a colleague. */
    async function shared(): Promise<string> {
      const browser = await world.operator();
      const at = `/console/domains/${domainId}`;
      const { headers } = await browser.post(at, { _action: 'makeLink' });
      const { body } = await browser.get(String(headers.location));
      return /\/domains\/[\w-]{43}/.exec(body)?.[0] ?? '';
    }

    async function expectBars(page: Page): Promise<void> {
      const { firstRow: _, ...found } = await findingsOf(page, looks);
      const none = { brokenWords: [], ids: [], crowded: [], doubled: [] };
      const at = new URL(page.url()).pathname;
      expect([at, found]).toEqual([at, { ...none, overflows: [], barriers: [] }]);
    }

    async function signedIn(): Promise<Page> {
      const { cookie } = await browserOf(world, personId, { proof: 'passkey' });
      const [key = '', value = ''] = cookie.split('=');
      const { page } = await openPage(chromium, url);
      await page.context().addCookies([{ name: key, value, url: `${url}/console` }]);
      return page;
    }

    it.each<[string, () => Promise<string> | string]>([
      ['the sign-in', () => '/console/sign-in'],
      ['a link that is late', () => '/console/sign-in?state=late'],
      ['a silent provider', () => '/console/sign-in?state=sso'],
      ['a sign-out', () => '/console/sign-in?state=out'],
      ['a page without a session', () => '/console/messages'],
      ['a mailed link', () => link('sign-in')],
      ['a new address', () => link('address')],
      ['the end of all sessions', () => link('end-sessions')],
      ['a used link', () => `/console/link/${'A'.repeat(43)}`],
      ['an invitation of somebody new', () => invitation('mara@example.com')],
      ['an ended invitation', () => `/console/invitation/${'A'.repeat(43)}`],
      ['the link of the operator', () => '/console/open/x'],
      ['the records of a domain', shared],
      ['an ended link of a domain', () => '/domains/x'],
    ])('keeps the bars: %s', async (_name, at) => {
      const { page } = await openPage(chromium, url);
      await page.goto(await at());
      await expectBars(page);
    });

    it('keeps the bars after a link was asked for', async () => {
      const { page } = await openPage(chromium, url);
      await page.goto('/console/sign-in');
      await page.getByLabel('Your mail address').fill(email);
      await page.getByRole('button', { name: 'Mail me a link' }).click();
      await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
      await expectBars(page);
    });

    it.each(['/account', '/people', '/organization', '/nowhere', '/messages/msg_none'])(
      'keeps the bars for a person at %s',
      async (at) => {
        const page = await signedIn();
        await page.goto(`/console${at}`);
        await expectBars(page);
      },
    );

    it('keeps the bars with a refused form, a secret, and where it asks again', async () => {
      const page = await signedIn();
      await page.goto('/console/contacts');
      await page.locator('summary', { hasText: 'Add a person' }).click();
      await page.getByLabel('Address', { exact: true }).last().fill('no address');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.locator('.problem').waitFor();
      await expectBars(page);
      const make = async () => {
        await page.goto('/console/keys');
        await page.getByLabel('Name', { exact: true }).fill(`Scanner of ${name}`);
        await page.getByRole('button', { name: 'Make the key' }).click();
      };
      await make();
      await page.getByRole('button', { name: 'I have it' }).waitFor();
      await expectBars(page);
      await world.test.clock.advance(15 * 60_000);
      await make();
      await page.getByRole('heading', { name: /is it still you/ }).waitFor();
      await expectBars(page);
    });
  },
  300_000,
);
