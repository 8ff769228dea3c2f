// Reading files into rows: encodings, line ends, and rows that do not fit their header.
import { describe, expect, it } from 'vitest';
import { columnKey, readTable } from '../../../src/platform/csv/read-table.ts';

/** Yields the bytes in pieces of `size`. */
async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Reads all rows: their lines, names and faults. */
async function read(content: string | Buffer, size = 100_000) {
  const table = await readTable(pieces(Buffer.from(content), size));
  const rows: [line: number, name: string, fault?: string][] = [];
  for await (const { line, field, fault } of table.rows) {
    rows.push(fault === undefined ? [line, field('name')] : [line, field('name'), fault]);
  }
  return { rows, encoding: table.encoding() };
}

const windows1252 = (text: string) =>
  Buffer.from(text.replaceAll('\u20ac', '\x80').replaceAll('\u2019', '\x92'), 'latin1');

describe.each([1, 7, 100_000])('a file in pieces of %i bytes', (size) => {
  it.each([
    ['Latin-1', windows1252('name\nJ\u00f6rgen\n'), 'windows-1252', 'J\u00f6rgen'],
    [
      'Windows-1252',
      windows1252('name\nO\u2019Brien \u20ac\n'),
      'windows-1252',
      'O\u2019Brien \u20ac',
    ],
    ['UTF-8', Buffer.from('name\nJ\u00f6rgen \u4e2d\u6587\n'), 'utf-8', 'J\u00f6rgen \u4e2d\u6587'],
    ['ASCII', Buffer.from('name\nAda\n'), 'utf-8', 'Ada'],
    ['a header in Latin-1', windows1252('name,Stra\u00dfe\nAda,x\n'), 'windows-1252', 'Ada'],
  ])('is read in %s', async (_case, bytes, encoding, name) => {
    expect(await read(bytes, size)).toEqual({ encoding, rows: [[2, name]] });
  });

  it.each([
    ['CR', 'name,n\rAda,1\rBob,"a\rb"\rCy,3\r'],
    ['LF', 'name,n\nAda,1\nBob,"a\nb"\nCy,3\n'],
    ['CR LF', 'name,n\r\nAda,1\r\nBob,"a\r\nb"\r\nCy,3\r\n'],
  ])('counts lines that end with %s', async (_case, text) => {
    expect((await read(text, size)).rows).toEqual([
      [2, 'Ada'],
      [3, 'Bob'],
      [5, 'Cy'],
    ]);
  });
});

it('decides the encoding by most of its characters', async () => {
  const good = Buffer.from('name\nJ\u00f6rg M\u00fcller\n');
  const { encoding, rows } = await read(Buffer.concat([good, windows1252('Bj\u00f6rn\n')]));
  expect([encoding, rows]).toEqual([
    'utf-8',
    [
      [2, 'J\u00f6rg M\u00fcller'],
      [3, 'Bj\uFFFDrn'],
    ],
  ]);
});

it('decides the encoding at the first accent, however late it comes', async () => {
  const ascii = 'Ada\n'.repeat(50_000);
  const { encoding, rows } = await read(windows1252(`name\n${ascii}J\u00f6rgen\n`), 64_000);
  expect([encoding, rows.at(-1)]).toEqual(['windows-1252', [50_002, 'J\u00f6rgen']]);
});

it('leaves bytes without a character in Windows-1252 unreadable', async () => {
  expect((await read(Buffer.from('name\nJ\x9drg\xf6\n', 'latin1'))).rows).toEqual([
    [2, 'J\uFFFDrg\u00f6'],
  ]);
});

it.each([
  ['Windows-1251', [0xc8, 0xe2, 0xe0, 0xed, 0xee, 0xe2]],
  ['GBK', [0xce, 0xd2, 0xb5, 0xc4, 0xc3, 0xfb, 0xd7, 0xd6]],
])('refuses a file in %s', async (_case, bytes) => {
  const file = Buffer.concat([Buffer.from('name\n'), Buffer.from(bytes)]);
  await expect(read(file)).rejects.toThrow(/neither in UTF-8 nor in Windows-1252/);
});

it.each([
  ['a value with a separator', 'name,email\nDoe, Jane,a@example.com\n', 3],
  ['an empty value too many', 'name,email\nDoe,a@example.com,\n', 3],
])('finds a row with %s', async (_case, text, values) => {
  const fault = expect.stringContaining(`has ${values} values under 2 columns`);
  expect((await read(text)).rows).toEqual([[2, 'Doe', fault]]);
});

it.each([
  ['E-mail', 'email'],
  ['Email_Address', 'emailaddress'],
  ['D\u00e9sinscrit', 'desinscrit'],
  ['\u041e\u0442\u043f\u0438\u0441\u0430\u043d', '\u043e\u0442\u043f\u0438\u0441\u0430\u043d'],
])('makes of the column %s the key %s', (name, key) => {
  expect(columnKey(name)).toBe(key);
});
