// The jobs of a support agent in a browser, with their clicks counted: an answer, an approval, a
// send that is undone. Slow: a daemon and a browser start.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import {
  chromiumPath,
  closePages,
  operatorPages,
  type SignedIn,
  startChromium,
} from './chromium.ts';
import type { Made } from './world.ts';

const path = await chromiumPath();

const wide = { viewport: { width: 1280, height: 800 } };

describe.skipIf(path === null)('the inbox in a browser', () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  let browser: Browser;
  let signedIn: SignedIn;
  let mailbox = '';
  beforeAll(async () => {
    home = daemonHome();
    daemon = await home.start();
    browser = await startChromium(path ?? '');
    signedIn = operatorPages(browser, { home, daemon });
    const { body } = await daemon.request<Made>('GET', '/v1/mailboxes');
    mailbox = body.items?.[0]?.id ?? '';
  });
  afterEach(() => closePages(browser));
  afterAll(async () => {
    await browser?.close();
    await home?.close();
  });

  /** Sends a mail to the mailbox, and waits until its thread is listed. */
  async function received(subject: string): Promise<void> {
    const email = { subject, text: `Question of ${subject}`, html: `<p>Of <b>${subject}</b></p>` };
    const body = { channel: 'email', to: [{ email: 'inbox@sandbox.test' }], email };
    await daemon.request('POST', '/v1/messages', { body });
    const listed = `/v1/mailboxes/${mailbox}/threads?q=subject:${subject}`;
    await expect
      .poll(async () => (await daemon.request<Made>('GET', listed)).body.items?.length, {
        timeout: 20_000,
      })
      .toBe(1);
  }

  /** Counts the clicks of a job. */
  function clicksOn(page: Page) {
    const clicks = { count: 0 };
    const click = async (name: string, role: 'link' | 'button' = 'button') => {
      clicks.count += 1;
      await page.getByRole(role, { name }).first().click();
    };
    return { clicks, click };
  }

  it('answers in two clicks, and undoes the send', async () => {
    await received('Hours');
    const { page, faults } = await signedIn(wide);
    await page.goto(`/console/mailboxes/${mailbox}`);
    const { clicks, click } = clicksOn(page);
    await click('Hours', 'link');
    const box = page.getByLabel('Your reply');
    const place = await box.boundingBox();
    expect((place?.y ?? 800) + (place?.height ?? 0)).toBeLessThan(800);
    await box.fill('From 9 to 17.');
    await click('Send');
    await page.getByText('It leaves in 10 seconds.').waitFor();
    expect(clicks.count).toBeLessThanOrEqual(2);
    await click('Undo');
    await page.getByText('Not sent: it is a draft.').waitFor();
    await page.getByRole('link', { name: 'Open the draft' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('is read once it is open, and Done in one click', async () => {
    await received('Opened');
    const { page, faults } = await signedIn(wide);
    await page.goto(`/console/mailboxes/${mailbox}`);
    await page.getByRole('link', { name: /unread.*Opened/ }).click();
    await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
    expect(await page.locator('a.th.new[aria-current]').count()).toBe(0);
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByText('Done.', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Opened' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('approves a proposal in two clicks, in the thread that it answers', async () => {
    await received('Invoice');
    const { body: key } = await daemon.request<Made>('POST', '/v1/api-keys', {
      body: {
        name: 'assistant',
        permissions: { mailboxes: ['read', 'send'] },
        constraints: { mailboxIds: [mailbox] },
        sendMode: 'approval',
      },
    });
    const threads = `/v1/mailboxes/${mailbox}/threads`;
    const { body: found } = await daemon.request<Made>('GET', `${threads}?q=subject:Invoice`);
    const messages = `${threads}/${found.items?.[0]?.id}/messages`;
    const { body: mails } = await daemon.request<Made>('GET', messages);
    const reply = `/v1/mailboxes/${mailbox}/messages/${mails.items?.[0]?.id}/reply`;
    const asked = { body: { text: 'Here it is.' }, ...(key.key && { apiKey: key.key }) };
    await daemon.request('POST', reply, asked);
    const { page, faults } = await signedIn(wide);
    await page.goto(`/console/mailboxes/${mailbox}`);
    const { clicks, click } = clicksOn(page);
    await click('Invoice', 'link');
    await page.getByText('proposes this mail').waitFor();
    await click('Approve and send');
    await page.getByText('Approved. It leaves in 10 seconds.').waitFor();
    expect(clicks.count).toBeLessThanOrEqual(2);
    expect(faults).toEqual([]);
  });
});
