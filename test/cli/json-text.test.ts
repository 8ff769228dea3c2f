// JSON that commands print: the same value everywhere, without characters that steer a terminal.
import { expect, it } from 'vitest';
import { jsonText } from '../../commands/base/input/json-text.ts';

const terminal = { isTTY: true };
const everything = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('');

it('JSON on a terminal contains no character that steers it', () => {
  const text = jsonText({ [everything]: everything }, 2, terminal);
  expect(
    text.match(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u),
  ).toBeNull();
  expect(JSON.parse(text)).toEqual({ [everything]: everything });
});

it('JSON into a pipe is unchanged', () => {
  const value = { subject: '\u009b31m\u007f\u202e' };
  expect(jsonText(value, 0, { isTTY: false })).toBe(JSON.stringify(value));
});
