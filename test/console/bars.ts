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

/** Shows the open page in a look. */
async function show(page: Page, { colorScheme, width }: Look): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme });
}

/** Breaches of the bars on a page, and the place of the first row. */
export interface Findings extends Pick<Measures, 'brokenWords' | 'ids' | 'crowded' | 'firstRow'> {
  doubled: string[];
  overflows: string[];
  barriers: string[];
}

/** Measures the page that is open: in all looks, and for barriers in some. */
export async function findingsOf(page: Page, searched: readonly Look[]): Promise<Findings> {
  await show(page, looks[0]);
  const firstRow = await measure(page, 'firstRow');
  const crowded = await measure(page, 'crowded');
  await measure(page, 'unfold');
  const brokenWords = await measure(page, 'brokenWords');
  const ids = await measure(page, 'ids');
  const doubled = await measure(page, 'doubled');
  const overflows: string[] = [];
  const barriers: string[] = [];
  for (const look of looks) {
    await show(page, look);
    const words = `${look.colorScheme}, ${look.width} wide`;
    const overflow = await measure(page, 'overflow');
    if (overflow > 0) overflows.push(`${words}: ${overflow} px`);
    const found = searched.includes(look) ? await barriersOf(page) : '[]';
    if (found !== '[]') barriers.push(`${words}: ${found}`);
  }
  return { brokenWords, ids, crowded, firstRow, doubled, overflows, barriers };
}
