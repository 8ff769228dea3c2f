// Imports of well-formed, malformed and malicious files: their rows, and the errors that refuse
// them.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { blocked, importInto, pieces, today } from './support.ts';

let test: TestApp;
afterEach(() => test.close());

describe('an import of a file', () => {
  beforeEach(async () => {
    test = await testApp();
  });

  it.each([
    ['a byte order mark', '\uFEFFemail,reason\nada@example.com,bounce\n'],
    ['a byte order mark before JSON', '\uFEFF{"email":"ada@example.com","reason":"bounce"}\n'],
    ['semicolons', 'Email;Reason\nada@example.com;bounce\n'],
    ['tabs', 'reason\temail\nbounce\tada@example.com\n'],
    ['mixed line ends', 'email,reason\r\nada@example.com,bounce\nada@example.com,bounce\r\n'],
    ['no line end at the end', 'email,reason\nada@example.com,bounce'],
    ['quotes and spaces', '"Email" , "Reason"\n"ada@example.com", bounce '],
    ['other columns', 'n,E-mail,x,reason,y\n1,ada@example.com,,hard_bounce,z\n'],
    ['CR alone at the line ends', 'email,reason\rada@example.com,bounce\r'],
    ['rows shorter than the header', 'email,reason,note\nada@example.com,bounce\n'],
    [
      'columns named like methods',
      '__proto__,email,constructor,reason\na,ada@example.com,b,bounce',
    ],
  ])('reads a file with %s', async (_case, text) => {
    for (const size of [1, 7, 100_000]) await importInto(test, pieces(text, size));
    expect(await blocked(test)).toEqual([`ada@example.com bounce ${today}`]);
  });

  it('reports an error at the line where its row begins', async () => {
    const text = 'email,note\r\n\r\nada@example.com,"two\r\nlines"\r\nx,"two\r\nmore"\r\ny,\r\n';
    const { rejected } = await importInto(test, text);
    expect(rejected.first.map(({ line, address }) => [line, address])).toEqual([
      [5, 'x'],
      [7, 'y'],
    ]);
  });

  it('rejects invalid addresses, and adds the rest', async () => {
    const bad = [
      'nobody',
      '@example.com',
      'a@localhost',
      'a b@example.com',
      '<a@example.com>',
      `${'x'.repeat(300)}@example.com`,
      'a@example.com\u0000'.slice(0, 13).replace('c', '\u0001'),
      '',
    ];
    const text = ['email,n', ...bad.map((address) => `"${address}",1`), 'ada@example.com,1'].join(
      '\n',
    );
    const { added, rejected } = await importInto(test, text);
    expect([added.count, rejected.count]).toEqual([1, bad.length]);
    expect(Math.max(...rejected.first.map(({ address }) => address.length))).toBe(100);
  });

  it('reads an address in Latin-1, and reports the encoding', async () => {
    const text = Buffer.from('email\nj\u00f6rg@example.com\nada@example.com\n', 'latin1');
    const { added, encoding } = await importInto(test, text);
    expect([added.count, encoding]).toEqual([2, 'windows-1252']);
    expect((await blocked(test))[1]).toMatch(/^j\u00f6rg@example\.com /);
  });

  it('rejects undecodable addresses', async () => {
    const damaged = Buffer.from('j\u00f6rg@example.com\n', 'latin1');
    const head = Buffer.from('email\nm\u00fcller@example.com\n\u00e4@example.com\n');
    const { added, rejected } = await importInto(test, Buffer.concat([head, damaged]));
    expect([added.count, rejected.first.map(({ line }) => line)]).toEqual([2, [4]]);
  });

  it('rejects a row longer than the header, with its line', async () => {
    const text = 'email,note,reason\nada@example.com,Doe, Jane,bounce\nbob@example.com,,bounce\n';
    const { added, rejected } = await importInto(test, text);
    expect([added.count, rejected.first]).toEqual([
      1,
      [
        {
          line: 2,
          address: 'ada@example.com',
          reason: expect.stringMatching(/^has 4 values under 3 columns/),
        },
      ],
    ]);
  });

  it.each([
    [
      'UTF-16 without a mark',
      Buffer.from('email\na@b.example\n', 'utf16le'),
      /not UTF-8 text.*NUL/,
    ],
    ['a NUL byte', 'email\nada@example.com\nbob@\0example.com\n', /not UTF-8 text.*NUL/],
    ['nothing in it', '', /empty/],
    ['blank lines only', '\n\n\r\n', /empty/],
    [
      'no column of addresses',
      'name,age\nAda,36\n',
      /lacks the column email.*Its columns: name, age/,
    ],
    [
      'a column twice',
      'email,reason,email\na@b.c,bounce,b@b.c\n',
      /column email twice \(1 and 3\)/,
    ],
    [
      'one column under two names',
      'email,Note,note\na@b.c,1,2\n',
      /two columns Note and note \(2 and 3\)/,
    ],
    ['a thousand columns', `${'x,'.repeat(1_000)}\n`, /Its columns: (x, ){10}…$/],
    ['a JSON array', '[{"email":"ada@example.com"}]', /JSON Lines.*jq/],
    ['a JSON document', '{\n  "Suppressions": []\n}', /JSON Lines.*jq/],
    [
      'a quotation mark not closed',
      'email\nada@example.com\n"bob\ncy\n',
      /^Line 3: a quotation mark is not closed/,
    ],
    [
      'a line of 1 MB',
      `email\nada@example.com\n${'x'.repeat(1 << 20)}\n`,
      /^Line 3: .*65,536 characters/,
    ],
    ['a header of 1 MB', 'x'.repeat(1 << 20), /^Line 1: .*65,536 characters/],
    [
      'a JSON line of 1 MB',
      `{"email":"ada@example.com"}\n{"a":"${'x'.repeat(1 << 20)}"}`,
      /^Line 2: .*65,536 bytes/,
    ],
  ])('refuses a file with %s, and explains why', async (_case, content, text) => {
    for (const dryRun of [true, false]) {
      await expect(importInto(test, content, { dryRun })).rejects.toMatchObject({
        _tag: 'ValidationError',
        message: expect.stringMatching(text),
      });
    }
  });

  it('reports the added addresses of a file that breaks off, and continues once it is mended', async () => {
    const good = Array.from({ length: 5_000 }, (_, i) => `a${i}@example.com`).join('\n');
    await expect(importInto(test, `${good}\n"open`)).rejects.toThrow(
      /^Line 5001: a quotation mark is not closed\. \d+ addresses before it were added/,
    );
    const mended = await importInto(test, good);
    expect(mended.added.count + mended.existing.count).toBe(5_000);
    expect(mended.existing.count).toBeGreaterThan(0);
  });

  it('fails with the error of an unreadable source', async () => {
    const broken = async function* () {
      yield* pieces('email\nada@example.com\n');
      throw new Error('the disk is gone');
    };
    await expect(importInto(test, broken())).rejects.toThrow('the disk is gone');
  });

  it('rejects malformed and deeply nested lines of JSON Lines', async () => {
    const lines = ['{"email":"ada@example.com"}', 'nope', '[]', `{"a":${'['.repeat(60_000)}`, '3'];
    const { added, rejected } = await importInto(test, lines.join('\n'));
    expect(added.count).toBe(1);
    expect(rejected.first.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
  });

  it('replaces impossible dates by today', async () => {
    const dates = ['2099-01-01', '1', 'soon', '-5', '99999999999999999999', '2024-13-45 10:00:00'];
    const rows = dates.map((date, i) => `a${i}@example.com,${date}`);
    await importInto(test, ['email,created_at', ...rows].join('\n'));
    expect(await blocked(test)).toEqual(dates.map((_, i) => `a${i}@example.com manual ${today}`));
  });

  it('reads dates without a zone as UTC', async () => {
    await importInto(test, 'email,created_at\nada@example.com,2024-02-03 04:05:06\n');
    expect(await blocked(test)).toEqual(['ada@example.com manual 2024-02-03T04:05:06.000Z']);
  });
});
