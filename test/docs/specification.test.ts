// Each citation of the specification in code, tests and documents leads to a heading of
// docs/making/specification.md, and a cited rule to an entry of the list below that heading.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../support/cli.ts';
import { readMarkdown } from './markdown.ts';
import { filesUnder } from './plain-tests.ts';

const number = String.raw`\d{1,2}\b(?:\.\d{1,2}\b)?(?!\.\d)`;
const list = `(${number}(?:(?:, | and | to |,? rules? )+${number})*)`;
/**
 * "specification 7 rules 3 and 4, 8.2", "the specification (4.1)", "section 5 of the
 * specification".
 */
const citation = new RegExp(
  String.raw`specification,? \(?${list}|sections? ${list} of the specification`,
  'gi',
);

/** Returns the sections and rules that a text cites, such as "8.2" and "4.2 rule 5". */
function citesIn(text: string): string[] {
  const joined = text.replaceAll(/\n[ \t]*(?:\/\/|\*(?!\/)|#)?[ \t]*/g, ' ');
  return [...joined.matchAll(citation)].flatMap(([, after = '', before = '']) =>
    numbersOf(after || before),
  );
}

/**
 * A whole number behind "rule" is a rule of the section before it; a dotted one is a section again.
 */
function numbersOf(cited: string): string[] {
  const cites: string[] = [];
  let section = '';
  let rule: number | null = null;
  let isRange = false;
  for (const [word] of cited.matchAll(/rule|to|[\d.]+/g)) {
    if (word === 'rule') rule = 0;
    else if (word === 'to') isRange = true;
    else if (rule === null || word.includes('.')) {
      section = word;
      rule = null;
      cites.push(section);
    } else {
      for (let one = isRange ? rule + 1 : Number(word); one <= Number(word); one++) {
        cites.push(`${section} rule ${one}`);
      }
      rule = Number(word);
      isRange = false;
    }
  }
  return cites;
}

/** Lists the numbers of headings, and rules as "4.2 rule 5"; rules of chapters also as "9.3". */
function promises(): Set<string> {
  const known = new Set<string>();
  let section = '';
  for (const line of readMarkdown('docs/making/specification.md').prose) {
    const heading = /^#{2,3} (\d+(?:\.\d+)?) /.exec(line)?.[1];
    const rule = /^(\d+)\. /.exec(line)?.[1];
    if (heading !== undefined) {
      section = heading;
      known.add(section);
    }
    if (rule === undefined) continue;
    known.add(`${section} rule ${rule}`);
    if (!section.includes('.')) known.add(`${section}.${rule}`);
  }
  return known;
}

const files = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'],
  ...['src', 'commands', 'daemon', 'test', 'docs'].flatMap((part) =>
    filesUnder(part, /\.(?:ts|md)$/),
  ),
];

it('reads lists and ranges of sections and rules', () => {
  expect(citesIn('specification 7 rules 1, 3 and 4, 8.2).')).toEqual([
    '7',
    '7 rule 1',
    '7 rule 3',
    '7 rule 4',
    '8.2',
  ]);
  expect(citesIn('(specification\n * 4.2, rules 1 to 3)')).toEqual([
    '4.2',
    '4.2 rule 1',
    '4.2 rule 2',
    '4.2 rule 3',
  ]);
  expect(citesIn('// Section 5 of the specification, specification 7, 503')).toEqual(['5', '7']);
});

it('every citation leads to a heading of docs/making/specification.md, or to a rule below it', () => {
  const known = promises();
  const cites = files.flatMap((file) =>
    citesIn(readFileSync(join(repository, file), 'utf8')).map((cite) => ({ file, cite })),
  );
  expect(cites.length).toBeGreaterThan(200);
  expect(cites.filter(({ cite }) => !known.has(cite))).toEqual([]);
});
