// One row of CSV for any reader (RFC 4180): delimiters are quoted, and formulas are disarmed.
import { describe, expect, it } from 'vitest';
import { csvRow } from '../../../src/platform/csv/write-csv.ts';

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
  ])('has the value %j as %j', (value, written) => {
    expect(csvRow([value, 'z'])).toBe(`${written},z\n`);
  });
});
