// Holds every page of a full console to the bars: whole words, no overflow, names for
// ids, a single primary button, a near first row, and no barrier in either look at either width.
// Slow: a browser and axe look at 70 pages, `npm run test:long` in both looks and widths.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { inLong } from '../support/command.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type Findings, findingsOf, type Look, looks, measure } from './bars.ts';
import {
  chromiumPath,
  closePages,
  operatorPages,
  type SignedIn,
  startChromium,
} from './chromium.ts';
import { fillPages, findPaths } from './fixture.ts';
import { fillShop, posts } from './full.ts';
import type { Made } from './world.ts';

const path = await chromiumPath();

/** Pages with a list below the main content, and the content above. */
const below: Readonly<Record<string, string>> = {
  '': 'verdict, tasks, figures and chart of the overview',
  '/messages/:id': 'verdict and story of a message',
  '/domains/:id': 'the name, what is to do, and the faults of the records',
  '/groups/:id': 'name and conditions of a group',
  '/conversations/:id': 'title and facts of a conversation',
  '/templates/:id': 'state and picture of a template',
  '/campaigns/:id': 'the editor of a campaign',
  '/campaigns/:id/runs/:runId': 'finding and funnel of a run',
  '/webhooks/:id': 'state and fields of a webhook',
  '/queue': 'the pace of each domain, and what is held',
  '/reports': 'figures and chart of the period',
};
const mostPixels = 300;
const mostTabs = 6;
const mostBytes = 60 * 1_024;
const mostLagMs = 5_000;

/** Files, and parts of pages in a sandbox, where Axe cannot run. */
const isPart = (at: string) =>
  /\/(?:records|files|look|csv)[/?]|\/(?:html|raw|hits)$|\.csv$/.test(at);

describe.skipIf(path === null)('every page', () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  let browser: Browser;
  let paths: [pattern: string, at: string][] = [];
  const found = new Map<string, Findings & { tabs: number | null }>();
  const faults: string[] = [];
  let signedIn: SignedIn;

  /** Returns the tabs from the top of a page to the first row; null for a page without a list. */
  async function tabsOf(page: Page): Promise<number | null> {
    if ((await measure(page, 'firstRow')) === null) return null;
    let tabs = 0;
    while (tabs <= mostTabs && !(await measure(page, 'isInFirstRow'))) {
      await page.keyboard.press('Tab');
      tabs += 1;
      // The second link at the top is "Skip to the list".
      if (tabs === 2 && (await measure(page, 'isInSkipLink'))) await page.keyboard.press('Enter');
    }
    await measure(page, 'blur');
    return tabs;
  }

  /** Measures pages, each in a different look, or in all. */
  async function walk(page: Page, some: readonly (typeof paths)[number][]): Promise<void> {
    for (const [pattern, at] of some) {
      const answer = await page.goto(at);
      expect([at, answer?.status()]).toEqual([at, 200]);
      const tabs = pattern in below ? null : await tabsOf(page);
      const turn = paths.findIndex(([one]) => one === pattern) % looks.length;
      const some: readonly Look[] = looks.slice(turn, turn + 1);
      const searched = inLong(looks as readonly Look[], some);
      found.set(pattern, { ...(await findingsOf(page, searched)), tabs });
    }
  }

  beforeAll(async () => {
    home = daemonHome();
    daemon = await home.start();
    browser = await startChromium(path ?? '');
    signedIn = operatorPages(browser, { home, daemon });
    const { body } = await daemon.request<Made>('GET', '/v1/mailboxes');
    await fillPages(posts(daemon), body.items?.[0]?.id ?? '');
    await fillShop(daemon);
    const one = await signedIn();
    const all = await findPaths(async (at) => (await one.page.request.get(at)).text());
    paths = [...all].filter(([, at]) => !isPart(at));
    const two = await signedIn();
    const half = Math.ceil(paths.length / 2);
    await Promise.all([walk(one.page, paths.slice(0, half)), walk(two.page, paths.slice(half))]);
    faults.push(...one.faults, ...two.faults);
    await closePages(browser);
  }, 900_000);
  afterAll(async () => {
    await browser?.close();
    await home?.close();
  });

  afterEach(() => closePages(browser));

  /** Returns the findings of a bar, by page. */
  const all = <Name extends keyof Findings>(name: Name) =>
    [...found].flatMap(([pattern, own]) => [own[name]].flat().map((one) => [pattern, one]));

  it('keeps words whole at 375 px', () => {
    expect(all('brokenWords')).toEqual([]);
  });

  it('is as wide as the window', () => {
    expect(all('overflows')).toEqual([]);
  });

  it('says names in place of ids', () => {
    expect(all('ids')).toEqual([]);
  });

  it('has a single primary button, and so has each dialog', () => {
    expect(all('crowded')).toEqual([]);
  });

  it('has each id of an element once', () => {
    expect(all('doubled')).toEqual([]);
  });

  it('has no barrier', () => {
    expect(all('barriers')).toEqual([]);
    expect(found.size).toBeGreaterThan(60);
  });

  it('has no fault', () => {
    // Requests of hostile mail in frames are refused: the picture has the address `x`.
    const isOfFrame = (fault: string) => /\/storage\/|\/html\b|\/x(?:'|$)/.test(fault);
    expect(faults.filter((fault) => !isOfFrame(fault))).toEqual([]);
  });

  it('of a list has the first row near the top at 375 px', () => {
    const rows = all('firstRow').filter(([, top]) => top !== null);
    const late = rows.filter(([, top]) => Number(top) > mostPixels).map(([pattern]) => pattern);
    expect(late.filter((pattern) => !(String(pattern) in below))).toEqual([]);
    expect(Object.keys(below).filter((pattern) => !found.has(pattern))).toEqual([]);
    expect(rows.length - late.length).toBeGreaterThan(15);
  });

  it('of a list has the first row at most six tabs from the top', () => {
    const isList = ([pattern, { firstRow }]: [string, Findings]) =>
      firstRow !== null && !(pattern in below);
    const lists = [...found].filter(isList);
    const far = lists.filter(([, { tabs }]) => tabs === null || tabs > mostTabs);
    expect(far.map(([pattern]) => pattern)).toEqual([]);
    expect(lists.length).toBeGreaterThan(15);
  });

  it('of a thread shows the whole reply box at 1280 × 800', async () => {
    const { page } = await signedIn({ viewport: { width: 1280, height: 800 } });
    await page.goto(paths.find(([pattern]) => pattern.endsWith('/threads/:threadId'))?.[1] ?? '');
    const box = await page.locator('.compose').boundingBox();
    expect(box).not.toBeNull();
    expect([(box?.y ?? -1) >= 0, (box?.y ?? 0) + (box?.height ?? 0) <= 800]).toEqual([true, true]);
    await page.getByLabel('Your reply').click({ trial: true });
    await page.getByRole('button', { name: 'Send', exact: true }).click({ trial: true });
  });

  it('of a first visit has at most 60 KB, not compressed', async () => {
    const fresh = await signedIn();
    const urls: string[] = [];
    fresh.page.on('response', (answer) => void urls.push(answer.url()));
    await fresh.page.goto('/console', { waitUntil: 'load' });
    urls.push((await fresh.page.locator('link[rel=icon]').getAttribute('href')) ?? '');
    const sizes = new Map<string, number>();
    for (const url of urls.filter((one) => !one.includes('/console/live'))) {
      sizes.set(url, (await (await fresh.page.request.get(url)).body()).length);
    }
    expect(sizes.size).toBeGreaterThanOrEqual(4);
    const sum = [...sizes.values()].reduce((one, next) => one + next, 0);
    expect([sum <= mostBytes, Object.fromEntries(sizes)]).toEqual([true, expect.anything()]);
  });

  it('of a run follows its figures within five seconds, without a reload', async () => {
    const post = posts(daemon);
    const people = 12;
    for (let at = 0; at < people; at++) {
      const email = `delivered+follow-${at}@simulator.test`;
      await post('/v1/contacts', { email, name: `Reader ${at}`, tags: ['follows'] });
    }
    const campaign = await post('/v1/campaigns', {
      name: 'Followed',
      channel: 'email',
      email: { subject: 'Followed', text: 'Hello' },
      audience: { includeTags: ['follows'] },
      transactional: true,
    });
    const { page } = await signedIn();
    const soon = new Date(Date.now() + 3_000).toISOString();
    const run = await post(`/v1/campaigns/${campaign.id}/runs`, { scheduledFor: soon });
    await page.goto(`/console/campaigns/${campaign.id}/runs/${run.id}`);
    await page.evaluate('globalThis.isSamePage = true');
    const delivered = page.locator('.funnel > li').filter({ hasText: 'Delivered' }).locator('.v');
    expect(await delivered.textContent()).not.toContain(String(people));
    const isDelivered = async () => {
      const query = `campaignRunId=${run.id}&status=delivered&limit=1`;
      const { body } = await daemon.request<{ pagination: { total: number } }>(
        'GET',
        `/v1/messages?${query}`,
      );
      return body.pagination.total === people;
    };
    await until(isDelivered, 'a run that is delivered');
    await delivered.filter({ hasText: String(people) }).waitFor({ timeout: mostLagMs });
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  });
});
