// A real browser for tests: Chromium of this machine, by $CHROMIUM or in the PATH, else the one of
// @sparticuz/chromium. Errors of scripts and of the content security policy, failed requests and
// requests to other hosts fail the test.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import packaged from '@sparticuz/chromium';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import type { DaemonHome, DaemonProcess } from '../support/daemon-process.ts';

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

/**
 * Pages and frames share a process: by default each frame with mail starts its own, which takes
 * longer than the page. What a frame may do does not depend on its process.
 */
const args = ['--no-sandbox', '--disable-site-isolation-trials', '--renderer-process-limit=1'];

/** Starts Chromium, without the flags of the package, as they turn web security off. */
export async function startChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args });
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

/** Closes all pages: an open page is live, and loads again while a later test works. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

/** Opens a page of the console as the operator. */
export type SignedIn = (options?: BrowserContextOptions) => Promise<WatchedPage>;

/**
 * Returns a function that opens pages of a daemon's console. The first page signs in by the link of
 * `svc open`, and further ones share the session.
 */
export function operatorPages(
  browser: Browser,
  { home, daemon }: { home: DaemonHome; daemon: DaemonProcess },
): SignedIn {
  let session: Promise<Awaited<ReturnType<BrowserContext['storageState']>>> | undefined;
  const signIn = async (options: BrowserContextOptions) => {
    const { page } = await openPage(browser, daemon.httpUrl, options);
    const { url } = await home.cli.json<{ url: string }>(['open']);
    await page.goto(new URL(url).pathname);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.waitForURL(/\/console$/);
    const state = await page.context().storageState();
    await page.context().close();
    return state;
  };
  return async (options = {}) => {
    session ??= signIn(options);
    return openPage(browser, daemon.httpUrl, { ...options, storageState: await session });
  };
}

/** Rules of axe that depend on colours. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the barriers of a page as JSON, or of the rules about colours alone; frames with mail are
 * left out.
 */
export async function barriersOf(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string) => {
    const asked = { expression, awaitPromise: true };
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', asked);
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value;
  };
  // Axe comes by the protocol of the debugger, as the page allows no foreign script.
  if (await evaluate('typeof axe === "undefined"')) await evaluate(axe.source);
  const options = { iframes: false, ...(rules === 'colours' && { runOnly: colourRules }) };
  const found = await evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html])))`,
  );
  await session.detach();
  return String(found);
}
