// The time that libraries and our readers take for hostile texts grows with the length alone.
// Slow: each text is read at four lengths.
import { describe, expect, it } from 'vitest';
import { repository } from '../support/cli.ts';
import { doorways, otherImports } from './doorways.ts';
import { fasterGrowth, repeated } from './growth.ts';
import { readers } from './hostile-texts.ts';
import { importersOf } from './main-thread.ts';

/** Libraries that read text from outside. */
const libraries = [
  ...['@css-inline/css-inline', 'csv-parse', 'htmlparser2', 'isbot'],
  ...['libmime', 'liquidjs', 'mailauth', 'mailparser', 'mrml', 'nodemailer', 'parse5'],
  'parse5-html-rewriting-stream',
];

describe('the growth of time', () => {
  it('is found in a reader that backtracks', async () => {
    const reader = (text: string) => text.replace(/\s+$/, '');
    expect(await fasterGrowth(reader, repeated(' ', '', 'a'), 32_000)).toMatch(/ms for/);
  });

  it('is found in no linear reader', async () => {
    const reader = (text: string) => [...text].length;
    expect(await fasterGrowth(reader, repeated(' '), 4_000_000)).toBeNull();
  });
});

describe('libraries', () => {
  it('meet text from outside on the main thread at the driven doorways only', () => {
    const driven = Object.values(doorways).flatMap(({ imports }) => imports);
    const known = [...driven, ...Object.keys(otherImports)].sort((a, b) =>
      a.localeCompare(b, 'en'),
    );
    expect(importersOf(repository, 'daemon/daemon.ts', libraries)).toEqual(known);
  });
});

describe.each(Object.entries({ ...doorways, ...readers }))('%s', (_, { most, run, texts }) => {
  it(`takes time in proportion to hostile texts, up to ${most} characters`, async () => {
    const found: string[] = [];
    for (const hostile of texts) {
      const growth = await fasterGrowth(run, hostile, most);
      if (growth !== null) found.push(`${JSON.stringify(hostile(40).slice(0, 80))}: ${growth}`);
    }
    expect(found).toEqual([]);
  });
});
