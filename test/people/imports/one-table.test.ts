// The house has one table of foreign exports and one pipeline of imports (src/people/imports).
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serviceColumns, serviceFiles } from '../../../src/people/imports/services.ts';
import { columnKey } from '../../../src/platform/csv/read-table.ts';

const table = 'src/people/imports/services.ts';
/** The words in columns of reasons, some of which are names of columns too. */
const words = 'src/people/imports/words.ts';
const sources = globSync(['src/**/*.ts', 'commands/**/*.ts', 'daemon/**/*.ts']);

/** Words that have a meaning of their own in this service. */
const ownWords = new Set(
  (
    'complained contactid createdat subscribed suppressed unsubscribe unsubscribed updatedat ' +
    'invalidemail emailaddress'
  ).split(' '),
);

const foreignFiles = serviceFiles.filter(({ service }) => service !== 'svc');

/** Keys of the columns that only exports of services have. */
const foreign: ReadonlySet<string> = new Set(
  [
    ...Object.values(serviceColumns).flatMap((columns) =>
      Object.values(columns).flatMap((keys) => keys.split(' ')),
    ),
    ...foreignFiles.flatMap(({ has, contacts }) => [
      ...has.map(columnKey),
      ...Object.values(contacts?.columns ?? {}).flatMap((keys) => keys.split(' ')),
    ]),
  ].filter((key) => key.length > 8 && !ownWords.has(key)),
);

/** Returns the foreign columns in the strings and patterns of a source. */
function columnsIn(text: string): string[] {
  const strings = text.match(/'[^'\n]*'|`[^`]*`|\/\^.*\//g) ?? [];
  const found = strings.flatMap((one) => one.match(/[A-Za-z][\w-]*/g) ?? []);
  return [...new Set(found.map(columnKey))].filter((key) => foreign.has(key)).sort();
}

/** Most foreign columns that a file may name by chance, such as in help or in a header. */
const byChance = 2;

const lists = (all: readonly { file: string; text: string }[]) =>
  all
    .map(({ file, text }) => ({ file, columns: columnsIn(text) }))
    .filter(({ file, columns }) => ![table, words].includes(file) && columns.length > byChance);

const read = (file: string) => ({ file, text: readFileSync(file, 'utf8') });

/** Returns the files that read the rows of a table, or let an audit entry grow. */
const pipelines = (all: readonly { file: string; text: string }[]) =>
  all
    .filter(({ text }) => /\b(?:readTable|csvRows|jsonRows|amendAudit)\(/.test(text))
    .map(({ file }) => file)
    .sort();

describe('foreign exports', () => {
  it('have their columns in a single table', () => {
    expect(foreign.size).toBeGreaterThan(60);
    expect(columnsIn(readFileSync(table, 'utf8')).length).toBeGreaterThan(60);
    expect(lists(sources.map(read))).toEqual([]);
  });

  it('are read and written by a single pipeline', () => {
    expect(pipelines(sources.map(read))).toEqual([
      'src/history/audit/audit.ts',
      'src/people/imports/pipeline.ts',
      'src/people/imports/rows.ts',
      'src/platform/csv/read-csv.ts',
      'src/platform/csv/read-json-lines.ts',
      'src/platform/csv/read-table.ts',
    ]);
  });

  it('are found in a second list and in a second pipeline', () => {
    const list = {
      file: 'src/x.ts',
      text: "const keys = ['Suppression Reason'.length, 'unsub_time', 'LAST_CHANGED', 'keep_until'];",
    };
    const pattern = {
      file: 'src/y.ts',
      text: 'const ignored = /^(memberrating|lastchanged|unsubcampaignid)$/;',
    };
    expect(lists([list, pattern]).map(({ file }) => file)).toEqual(['src/x.ts', 'src/y.ts']);
    const pipeline = { file: 'src/z.ts', text: 'const { rows } = await readTable(source);' };
    expect(pipelines([pipeline])).toEqual(['src/z.ts']);
  });
});
