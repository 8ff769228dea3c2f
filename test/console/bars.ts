// Bars of the console: measures of a page in both widths and both looks.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { barriersOf } from './chromium.ts';

const source = readFileSync(new URL('./measure.js', import.meta.url), 'utf8');

/** Measures of the page (measure.js). */
interface Measures {
  brokenWords: string[];
  ids: string[];
  crowded: string[];
  unfold: undefined;
  blur: undefined;
  firstRow: number | null;
  isInFirstRow: boolean;
  isInSkipLink: boolean;
  overflow: number;
  doubled: string[];
}

/** Measures the page as it is now. */
export function measure<Name extends keyof Measures>(
  page: Page,
  name: Name,
): Promise<Measures[Name]> {
  // A script of the page has no `eval`; the protocol of the debugger has.
  return page.evaluate(`(${source.slice(source.indexOf('('), source.lastIndexOf(';'))}).${name}()`);
}

export const looks = [
  { colorScheme: 'light', width: 375 },
  { colorScheme: 'dark', width: 375 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
] as const;
export type Look = (typeof looks)[number];

/** Breaches of the bars on a page, and the place of the first row. */
export interface Findings extends Pick<Measures, 'brokenWords' | 'ids' | 'crowded' | 'firstRow'> {
  doubled: string[];
  overflows: string[];
  barriers: string[];
}

/** Searches the open page for barriers in looks of one width; returns the found ones in words. */
async function barriersIn(page: Page, searched: readonly Look[]): Promise<string[]> {
  const barriers: string[] = [];
  for (const [at, { colorScheme, width }] of searched.entries()) {
    await page.emulateMedia({ colorScheme });
    // Looks of a width differ in colours alone (look.test.ts).
    const found = await barriersOf(page, at === 0 ? 'all' : 'colours');
    if (found !== '[]') barriers.push(`${colorScheme}, ${width} wide: ${found}`);
  }
  return barriers;
}

/** Measures the page that is open: at both widths, and for barriers in some looks. */
export async function findingsOf(page: Page, searched: readonly Look[]): Promise<Findings> {
  await page.setViewportSize({ width: 375, height: 800 });
  const firstRow = await measure(page, 'firstRow');
  const crowded = await measure(page, 'crowded');
  await measure(page, 'unfold');
  const brokenWords = await measure(page, 'brokenWords');
  const ids = await measure(page, 'ids');
  const doubled = await measure(page, 'doubled');
  const overflows: string[] = [];
  const barriers: string[] = [];
  for (const width of [375, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const overflow = await measure(page, 'overflow');
    if (overflow > 0) overflows.push(`${width} wide: ${overflow} px`);
    const looksOfWidth = searched.filter((look) => look.width === width);
    barriers.push(...(await barriersIn(page, looksOfWidth)));
  }
  return { brokenWords, ids, crowded, firstRow, doubled, overflows, barriers };
}
