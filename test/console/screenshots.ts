// `npm run screenshots`: pictures of the console for the documents, from a daemon of its own with a few messages.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../support/cli.ts';
import { daemonHome, until } from '../support/daemon-process.ts';
import { chromiumPath, openPage, startChromium } from './chromium.ts';

const folder = join(repository, 'docs/pictures');
const path = await chromiumPath();
if (path === null)
  throw new Error('No Chromium starts here ($CHROMIUM, PATH, @sparticuz/chromium)');
mkdirSync(folder, { recursive: true });

const home = daemonHome();
const daemon = await home.start();
const browser = await startChromium(path);
try {
  const send = async (email: string, subject: string) => {
    const html = `<h1>${subject}</h1><p>Thank you for your order. It leaves today.</p>`;
    const body = { channel: 'email', to: [{ email }], email: { subject, html, text: subject } };
    return (await daemon.request<{ id: string }>('POST', '/v1/messages', { body })).body.id;
  };
  const first = await send('inbox@sandbox.test', 'Your order 1042');
  await send('inbox@sandbox.test', 'Your invoice 1042');
  await send('bounced@simulator.test', 'Welcome to Acme');
  await send('delivered@simulator.test', 'Reset your password');
  const domain = { domain: 'acme.example' };
  const added = await daemon.request<{ id: string }>('POST', '/v1/email/domains', { body: domain });
  await until(async () => {
    const { body } = await daemon.request<{ status: string }>('GET', `/v1/messages/${first}`);
    return body.status === 'delivered';
  }, 'the first message is delivered');
  const shots = [
    ['messages', '/console/messages', 'light', 1280],
    ['message', `/console/messages/${first}`, 'dark', 1280],
    ['domain', `/console/domains/${added.body.id}`, 'light', 375],
  ] as const;
  for (const [name, at, colorScheme, width] of shots) {
    const { page } = await openPage(browser, daemon.httpUrl, {
      colorScheme,
      viewport: { width, height: 720 },
    });
    const { url } = await home.cli.json<{ url: string }>(['open']);
    await page.goto(new URL(url).pathname);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(at, { waitUntil: 'load' });
    await page.screenshot({ path: join(folder, `console-${name}.png`) });
    await page.context().close();
  }
} finally {
  await browser.close();
  await home.close();
}
// The process of commands would keep this one alive.
process.exit(0);
