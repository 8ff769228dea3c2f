// One row of CSV as others read it (RFC 4180): what ends a line or a value is quoted, and a formula is none.
import { describe, expect, it } from 'vitest';
import { csvRow } from '../../src/files/write-csv.ts';

describe('a row of CSV', () => {
  it.each([
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    ['a b;c', 'a b;c'],
    ['=1+1', "'=1+1"],
    ['\t=1', "'\t=1"],
    ["'x", "''x"],
    [null, ''],
  ])('%j is written %j', (value, written) => {
    expect(csvRow([value, 'z'])).toBe(`${written},z\n`);
  });
});
