// Jobs of an owner and an editor in a real Chromium, with their clicks counted, typing left out.
// Slow: a daemon and a browser, and a run whose mail has to bounce.
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import {
  chromiumPath,
  closePages,
  operatorPages,
  type SignedIn,
  startChromium,
  type WatchedPage,
} from './chromium.ts';
import type { Made } from './world.ts';

const path = await chromiumPath();
if (path === null)
  console.warn(
    'No Chromium starts here ($CHROMIUM, PATH, @sparticuz/chromium): browser tests are skipped.',
  );

const lost = 'bounced+margarethe@simulator.test';

describe.skipIf(path === null)('a job', () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  let browser: Browser;
  let signedIn: SignedIn;

  const post = async (at: string, body: object) =>
    (await daemon.request<Made>('POST', at, { body })).body;

  beforeAll(async () => {
    home = daemonHome();
    daemon = await home.start();
    browser = await startChromium(path ?? '');
    signedIn = operatorPages(browser, { home, daemon });
    const ids: string[] = [];
    for (const [at, name] of ['Margarethe Xaver', 'Simon Neumann', 'Elif Becker'].entries()) {
      const email = at === 0 ? lost : `delivered+${at}@simulator.test`;
      ids.push((await post('/v1/contacts', { email, name, tags: ['reader'] })).id);
    }
    const group = await post('/v1/contact-groups', { name: 'newsletter' });
    await post(`/v1/contact-groups/${group.id}/members`, { contactIds: ids });
    await post('/v1/unsubscribe-groups', { name: 'Letter', description: 'Once a month' });
    await post('/v1/messages', {
      channel: 'email',
      to: [{ email: lost, name: 'Margarethe Xaver' }],
      email: { subject: 'Your order HB-48377', text: 'Thank you.' },
    });
    const bounces = Array.from({ length: 6 }, (_, at) => ({
      channel: 'email',
      to: [{ email: `bounced+${at}@simulator.test` }],
      email: { subject: 'Reading', text: 'Come.' },
    }));
    await post('/v1/messages/batch', bounces);
    const ended = async () => {
      const found = await daemon.request<Made>('GET', '/v1/messages?status=bounced');
      expect(found.body.items).toHaveLength(7);
    };
    await vi.waitFor(ended, { timeout: 30_000, interval: 200 });
  });
  afterEach(() => closePages(browser));
  afterAll(async () => {
    await browser?.close();
    await home?.close();
  });

  /** A signed-in page that counts clicks. */
  interface Counted extends WatchedPage {
    clicks: number;
    click(target: Locator): Promise<void>;
  }

  async function begin(): Promise<Counted> {
    const watched = await signedIn({ viewport: { width: 1280, height: 800 } });
    await watched.page.goto('/console');
    const counted: Counted = {
      ...watched,
      clicks: 0,
      async click(target) {
        await target.click();
        counted.clicks += 1;
      },
    };
    return counted;
  }

  const inSide = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name, exact: true });

  it('"why did she get nothing?" takes 3 clicks at most', async () => {
    const one = await begin();
    const { page } = one;
    await one.click(inSide(page, 'Messages'));
    await one.click(page.getByRole('searchbox'));
    await page.keyboard.type('Your order HB');
    await page.keyboard.press('Enter');
    await one.click(page.getByRole('link', { name: 'Your order HB-48377' }));
    const verdict = page.getByRole('heading', { level: 1 });
    await verdict.getByText('It did not arrive: there is no such mailbox').waitFor();
    expect(one.clicks).toBeLessThanOrEqual(3);
    expect(one.faults).toEqual([]);
  });

  it('leaving a single list takes 3 clicks at most, and the way back stands in the toast', async () => {
    const one = await begin();
    const { page } = one;
    await one.click(inSide(page, 'Contacts'));
    await one.click(page.getByRole('link', { name: 'Elif Becker' }));
    await one.click(page.getByRole('button', { name: 'Leave Letter' }));
    await page.getByText('Nothing of “Letter” is sent any more.').waitFor();
    expect(one.clicks).toBeLessThanOrEqual(3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Leave Letter' }).waitFor();
    expect(one.faults).toEqual([]);
  });

  it('an import takes 4 clicks at most, and a meaning is changed by a choice', async () => {
    const one = await begin();
    const { page } = one;
    await one.click(inSide(page, 'Contacts'));
    await one.click(page.getByRole('link', { name: 'Import' }).first());
    const chooser = page.waitForEvent('filechooser');
    await one.click(page.getByLabel('Choose a file'));
    const text =
      '\ufeffE-Mail;Vorname;Nachname;Stammkunde seit\nzoe@example.com;Zoë;Ahrens;2019\nkaputt;;;\n';
    const buffer = Buffer.from(text, 'utf16le');
    await (await chooser).setFiles({ name: 'leute.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Import 1 person' }).waitFor();
    await page.getByText('Line 3').waitFor();
    const since = page.getByLabel('Meaning of Stammkunde seit');
    expect(await since.inputValue()).toBe('custom');
    await Promise.all([page.waitForEvent('load'), since.selectOption('Tags')]);
    expect(await since.inputValue()).toBe('tags');
    await one.click(page.getByRole('button', { name: 'Import 1 person' }));
    await page.getByText('Imported: 1 new, 0 changed, 1 refused.').waitFor();
    await page.getByText('Zoë Ahrens').waitFor();
    expect(one.clicks).toBeLessThanOrEqual(4);
    expect(one.faults).toEqual([]);
  });

  it('a newsletter takes 12 clicks at most', async () => {
    const one = await begin();
    const { page } = one;
    await one.click(page.getByRole('link', { name: 'Write a campaign' }).first());
    await one.click(page.getByLabel('newsletter'));
    await page.locator('#to .sum').getByText('3 people').waitFor();
    await one.click(page.locator('input[name=subject]'));
    await page.keyboard.type('Jo Halle reads');
    await one.click(page.locator('textarea[name=text]'));
    await page.keyboard.type('Hello {{ contact.name }}, there is tea.');
    await one.click(page.getByRole('button', { name: 'Save' }));
    await page.getByText('3 people').first().waitFor();
    await one.click(page.getByRole('button', { name: 'Send a test' }));
    await page.getByText('A test is on its way').waitFor();
    await one.click(page.getByRole('button', { name: 'Send to' }).first());
    await one.click(
      page.locator('[popover]:popover-open').getByRole('button', { name: 'Send to' }),
    );
    await page.waitForURL(/\/runs\/run_/);
    await page.getByText('The run has started.').waitFor();
    expect(one.clicks).toBeLessThanOrEqual(12);
    expect(one.faults).toEqual([]);
  });

  it('an audience is counted while it is chosen, and a failed count shows nothing', async () => {
    const { page } = await begin();
    await page.goto('/console/campaigns/new');
    const sum = page.locator('#to .sum');
    await page.getByLabel('newsletter').check();
    await sum.getByText('3 people').waitFor();
    await page.locator('[name="without.reader"]').check();
    await sum.getByText('Nobody gets it').waitFor();
    await sum.getByText('have a tag that is left out').waitFor();
    expect(await page.getByRole('button', { name: 'Count again' }).isVisible()).toBe(false);
    await page.route('**/campaigns/new', (route) => route.abort());
    await page.locator('[name="without.reader"]').uncheck();
    await vi.waitFor(async () => expect(await sum.innerText()).toBe(''));
  });

  it('last week takes no click, and its bounce peak a single click', async () => {
    const one = await begin();
    const { page } = one;
    for (const label of ['Sent', 'Delivered', 'Opened', 'Clicked', 'Bounced']) {
      await page.locator('.kpis').getByText(label, { exact: true }).waitFor();
    }
    await page.getByText('No such mailbox').first().waitFor();
    expect(one.clicks).toBe(0);
    const peak = page.getByRole('listitem').filter({ hasText: 'addresses of simulator.test' });
    await one.click(peak.getByRole('link'));
    await page.waitForURL(/status=bounced/);
    await page.getByRole('link', { name: 'Reading' }).first().waitFor();
    expect(one.clicks).toBe(1);
    expect(one.faults).toEqual([]);
  });
});
