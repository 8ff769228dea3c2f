// The console in a real Chromium: a newcomer's first minute, live pages, keys, and mail that would
// like to run or to call home. Without Chromium these tests are skipped, and say so. bars.test.ts
// walks every page.
import { type AddressInfo, createServer } from 'node:net';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import {
  chromiumPath,
  closePages,
  operatorPages,
  type SignedIn,
  startChromium,
} from './chromium.ts';

const path = await chromiumPath();
if (path === null)
  console.warn(
    'No Chromium starts here ($CHROMIUM, PATH, @sparticuz/chromium): browser tests are skipped.',
  );

/** Mail that would run a script, load from a host, change the page around it, and leave it. */
const hostileMail = (
  host: string,
) => `<h1>Big</h1><script>document.title='ran'</script><img src="http://${host}/pixel.png">
<link rel="stylesheet" href="http://${host}/x.css"><style>@import 'http://${host}/y.css'; body{background:url(http://${host}/z)}</style>
<iframe src="http://${host}/"></iframe><form action="http://${host}/"><input autofocus onfocus="top.document.title='ran'"></form>
<a href="http://${host}/" target="_top">x</a><meta http-equiv="refresh" content="0;url=http://${host}/">`;

describe.skipIf(path === null)('the console in a browser', () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  let browser: Browser;
  let signedIn: SignedIn;
  beforeAll(async () => {
    home = daemonHome();
    daemon = await home.start();
    browser = await startChromium(path ?? '');
    signedIn = operatorPages(browser, { home, daemon });
  });
  afterEach(() => closePages(browser));
  afterAll(async () => {
    await browser?.close();
    await home?.close();
  });

  const openMenu = (page: Page) =>
    page.getByRole('button', { name: 'More of your session' }).click();

  /** Loads the page again until it shows this. */
  const untilShown = (page: Page, wanted: Locator) =>
    expect
      .poll(async () => {
        await page.reload();
        return wanted.isVisible();
      })
      .toBe(true);

  it('takes a newcomer from svc open to a delivered mail, its thread and an answer', async () => {
    const { page, faults } = await signedIn();
    await page.goto('/console');
    await page.getByRole('link', { name: 'Send a test mail' }).first().click();
    await page.getByLabel('Subject').fill('First mail');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.waitForURL(/\/messages\/msg_/);
    // Without a reload: the page is live.
    await page.getByRole('heading', { name: 'It arrived' }).waitFor();
    await page.getByRole('link', { name: 'Inbox', exact: true }).click();
    await untilShown(page, page.getByRole('link', { name: 'First mail' }));
    await page.getByRole('link', { name: 'First mail' }).click();
    await page.getByRole('heading', { name: 'First mail' }).waitFor();
    await page.getByLabel('Your reply').fill('An answer');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('An answer').first().waitFor();
    expect(faults).toEqual([]);
  });

  it('says that a list has news, and moves nothing under the cursor', async () => {
    const { page, faults } = await signedIn();
    await page.goto('/console/messages');
    const before = await page.locator('tbody').innerHTML();
    const body = {
      channel: 'email',
      to: [{ email: 'delivered@simulator.test' }],
      email: { subject: 'News', text: 'x' },
    };
    await daemon.request('POST', '/v1/messages', { body });
    await page.getByText('There is news.').waitFor();
    expect(await page.locator('tbody').innerHTML()).toBe(before);
    await page.getByRole('link', { name: 'Load the page again' }).click();
    await page.getByRole('link', { name: 'News' }).first().waitFor();
    expect(faults).toEqual([]);
  });

  it('loads a page at most once a second under many events, and misses nothing while its stream was lost', async () => {
    const { page, faults } = await signedIn();
    const opened = page.waitForResponse(/\/console\/live/);
    await page.goto('/console');
    await opened;
    let loads = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/console')) loads += 1;
    });
    const began = performance.now();
    const messages = Array.from({ length: 100 }, (_, at) => ({
      channel: 'email',
      to: [{ email: 'delivered@simulator.test' }],
      email: { subject: `Many ${at}`, text: 'x' },
    }));
    for (let batch = 0; batch < 4; batch++) {
      const sent = await daemon.request('POST', '/v1/messages/batch', { body: messages });
      expect(sent.status).toBe(200);
    }
    await expect.poll(() => loads).toBeGreaterThan(0);
    const seconds = (performance.now() - began) / 1_000;
    expect(loads).toBeLessThanOrEqual(2 + seconds);
    await page.goto('/console/conversations');
    await page.context().setOffline(true);
    await daemon.request('POST', '/v1/conversations', { body: { title: 'While it was away' } });
    await page.context().setOffline(false);
    await page.getByText('There is news.').waitFor();
    await page.getByRole('link', { name: 'Load the page again' }).click();
    await page.getByRole('link', { name: 'While it was away' }).waitFor();
    // Without a network Chromium tells of each request that fails.
    const offline = /^failed: |ERR_INTERNET_DISCONNECTED/;
    expect(faults.filter((fault) => !offline.test(fault))).toEqual([]);
  });

  it('reads, stars and archives mail by the keyboard alone', async () => {
    const { page, faults } = await signedIn();
    const body = {
      channel: 'email',
      to: [{ email: 'inbox@sandbox.test' }],
      email: { subject: 'By keys', text: 'x' },
    };
    await daemon.request('POST', '/v1/messages', { body });
    await page.goto('/console/mailboxes');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/mailboxes\/mbx_/);
    await untilShown(page, page.getByRole('link', { name: 'By keys' }));
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By keys' }).waitFor();
    await page.keyboard.press('s');
    await page.getByText('★ By keys').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('Typed, so that no key acts: es');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Typed, so that no key acts: es').first().waitFor();
    await page.keyboard.press('e');
    await page.getByText('Done.').waitFor();
    expect(faults).toEqual([]);
  });

  it('acts on no single key once they are turned off, after a reload too', async () => {
    const { page, faults } = await signedIn();
    await page.goto('/console/mailboxes');
    await openMenu(page);
    await page.getByRole('button', { name: 'Turn single keys off' }).click();
    await page.reload();
    await openMenu(page);
    await page.getByRole('button', { name: 'Turn single keys on' }).waitFor();
    await page.keyboard.press('j');
    expect(await page.locator('tr.selected').count()).toBe(0);
    await page.getByRole('button', { name: 'Turn single keys on' }).click();
    await page.keyboard.press('j');
    expect(await page.locator('tr.selected').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it('works without JavaScript', async () => {
    // A session of the test, which ends it.
    const plainly = operatorPages(browser, { home, daemon });
    const { page, faults } = await plainly({ javaScriptEnabled: false });
    await page.goto('/console');
    await page.getByRole('link', { name: 'Domains & senders', exact: true }).click();
    await page.getByRole('button', { name: 'Add a domain' }).click();
    await page.getByRole('textbox', { name: /^Domain / }).fill('plain.example');
    await page.getByRole('button', { name: 'Add it' }).click();
    await page.getByRole('heading', { name: 'plain.example' }).waitFor();
    await openMenu(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Use an API key instead').click();
    await page.getByLabel('API key').waitFor();
    expect(faults.filter((fault) => !fault.includes('401'))).toEqual([]);
  });

  it('shows hostile mail in a frame that runs nothing, loads nothing and leads nowhere', async () => {
    let calls = 0;
    const listener = createServer((socket) => {
      calls += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const body = {
      channel: 'email',
      to: [{ email: 'inbox@sandbox.test' }],
      email: { subject: 'Hostile', html: hostileMail(host), text: 'x' },
    };
    const { id } = (await daemon.request<{ id: string }>('POST', '/v1/messages', { body })).body;
    const { page, faults } = await signedIn();
    await page.goto(`/console/messages/${id}`);
    const frame = page.frameLocator('iframe.thumb');
    await frame.getByRole('heading', { name: 'Big' }).waitFor();
    expect(await page.title()).toBe('Hostile · svc');
    expect(page.url()).toContain(`/console/messages/${id}`);
    await page.waitForLoadState('networkidle');
    expect(calls).toBe(0);
    await new Promise((resolve) => listener.close(resolve));
    // Chromium tells of each refusal, and of nothing else.
    const refusals =
      /Content Security Policy|sandboxed|Blocked script|(?:failed|foreign): http:\/\/127/;
    expect(faults.filter((fault) => !refusals.test(fault))).toEqual([]);
    expect(faults.length).toBeGreaterThan(0);
  });
});
