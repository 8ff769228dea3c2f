// Parsing a body: the result of JSON.parse within the bounds, and 400 beyond them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../daemon/http/body.ts';
import { MalformedRequestError } from '../../src/platform/errors.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

describe('parseJson', () => {
  it('agrees with JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20, stringUnit: 'binary' }), (text) => {
        fc.pre(!/__proto__|constructor/.test(text));
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['"\\\\"', '"\\""', '"[[[["', '"\\\\\\"[{"', '[" \\u005b"]', '"é [\\" 😀"'])(
    'reads %s, with brackets and quotes inside a text',
    (text) => expect(parse(text)).toEqual(JSON.parse(text)),
  );

  it('reads 64 levels and rejects 65', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(JSON.stringify(parse(nested(64)))).toBe(nested(64));
    expect(() => parse(nested(65))).toThrow(MalformedRequestError);
    expect(() => parse(`[${'{"a":'.repeat(65)}1${'}'.repeat(65)}]`)).toThrow(/nested deeper/);
  });

  it('rejects more values than it is safe to allocate', () => {
    expect(() => parse(`[${'[],'.repeat(300_000)}1]`)).toThrow(/more than 100000 values/);
    expect(parse(`[${'1,'.repeat(99_997)}1]`)).toHaveLength(99_998);
  });

  it.each(['{', '{"a"}', '"', '"\\', '[1,]', 'undefined', "{'a':1}", '1 2', ']', '\0'])(
    'rejects %j',
    (text) => expect(() => parse(text)).toThrow(MalformedRequestError),
  );

  it('takes the last of duplicate keys', () => {
    expect(parse('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  it('rejects a forbidden key in any spelling', () => {
    expect(() => parse('[{"\\u005f_proto__":1}]')).toThrow(/forbidden key/);
    expect(parse('{"constructor":"Acme Builders"}')).toEqual({ constructor: 'Acme Builders' });
  });

  it.each(['{}', '{"a":"\ufeffb"}', '[1]', '"é"', ' null', '"\ufeff"'])(
    'reads %j behind a byte order mark',
    (text) => expect(parse(`\ufeff${text}`)).toEqual(JSON.parse(text)),
  );

  it.each(['\ufeff\ufeff{}', ' \ufeff{}', '{}\ufeff', '{\ufeff}'])('rejects %j', (text) =>
    expect(() => parse(text)).toThrow(MalformedRequestError),
  );

  it('returns undefined for a byte order mark alone', () =>
    expect(parse('\ufeff')).toBeUndefined());

  it('returns undefined for an empty body', () => expect(parse('')).toBeUndefined());
});
