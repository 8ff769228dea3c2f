// A real browser for tests: Chromium of this machine, by $CHROMIUM or in the PATH, else the one of
// @sparticuz/chromium. Errors of scripts and of the content security policy, failed requests and
// requests to other hosts fail the test.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import packaged from '@sparticuz/chromium';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const names = ['chromium', 'chromium-headless-shell', 'google-chrome', 'chrome'];

/** Returns the path of a Chromium that starts; null on machines without one or its libraries. */
export async function chromiumPath(): Promise<string | null> {
  const { CHROMIUM, PATH = '' } = process.env;
  const places = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  for (const place of [...(CHROMIUM ? [CHROMIUM] : []), ...places]) {
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      // Another place may have it.
    }
  }
  const place = await packaged.executablePath().catch(() => null);
  return place !== null && spawnSync(place, ['--version']).status === 0 ? place : null;
}

/** Starts Chromium, without the flags of the package, as they turn web security off. */
export async function startChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** A page with its faults. */
export interface WatchedPage {
  page: Page;
  faults: string[];
}

/** Opens a page. Requests to other places than `origin` are faults. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL: origin, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('requestfailed', (request) => {
    // A page that is left ends its live stream.
    const isLeft = request.failure()?.errorText === 'net::ERR_ABORTED';
    if (!isLeft) faults.push(`failed: ${request.url()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`foreign: ${url}`);
  });
  return { page, faults };
}

/** Returns the barriers of a page as JSON; frames with mail are left out. */
export async function barriersOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  // Axe comes by the protocol of the debugger, as the page allows no foreign script.
  await session.send('Runtime.evaluate', { expression: axe.source });
  const expression =
    'axe.run({ iframes: false }).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html])))';
  const found = await session.send('Runtime.evaluate', { expression, awaitPromise: true });
  await session.detach();
  return String(found.result.value);
}
