// contract.json as save and publish check it.
import { describe, expect, it } from 'vitest';
import { CompiledContract, checkContract } from '../../../src/content/rendering/contract.ts';
import { TemplateProblem } from '../../../src/content/rendering/problem.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

function problemIn(schema: unknown): [number | null, string] {
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema, null, 1);
  try {
    checkContract(text, 'contract.json');
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    expect(error.path).toBe('contract.json');
    return [error.line, error.message];
  }
  throw new Error('the schema was accepted');
}

function deep(depth: number): unknown {
  return depth === 0 ? {} : { not: deep(depth - 1) };
}

const patterns = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`^${index}$`, {}]));

describe('checkContract', () => {
  it.each<[string, unknown, RegExp, number | null]>([
    ['broken JSON', '{\n "type": "object"\n "a": 1}', /is no JSON: Expected/, 3],
    ['a list', [], /is no object/, null],
    ['over 64 KB', { description: 'x'.repeat(70_000) }, /at most 64 KB/, null],
    ['a depth of 33', deep(32), /nested over 32 deep/, null],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, /2020-12/, 2],
    ['a remote $ref', { $ref: 'https://evil.test/x.json' }, /leads to another document/, 2],
    ['a file as $ref', { items: { $ref: 'file:///etc/passwd' } }, /^\/items: \$ref leads/, 3],
    ['a remote $dynamicRef', { $dynamicRef: 'http://127.0.0.1/' }, /another document/, 2],
    ['a missing local $ref', { $ref: '#/$defs/none' }, /can't resolve reference/, null],
    [
      '$ref in a loop',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      /has \$ref that lead to each other/,
      null,
    ],
    ['$data', { properties: { a: { maximum: { $data: '1/b' } } } }, /\$data is not supported/, 5],
    ['$async', { $async: true }, /\$async is not supported/, 2],
    ['a lookahead', { properties: { a: { pattern: '(?=x)' } } }, /^\/properties\/a: pattern/, 4],
    ['a backreference', { pattern: '(a)\\1' }, /not a pattern of RE2/, 2],
    ['a pattern of names', { patternProperties: { '(?<!x)y': {} } }, /patternProperties/, 3],
    ['nested repetition', { pattern: '((a{1000}){1000}){1000}' }, /not a pattern of RE2/, 2],
    ['a long pattern', { pattern: 'a'.repeat(1001) }, /at most 1000 characters/, 1],
    ['51 patterns', { patternProperties: patterns(51) }, /beyond the 50 patterns/, 53],
    [
      '1,001 keywords',
      { allOf: Array.from({ length: 500 }, () => ({ not: {} })) },
      /over 1000/,
      null,
    ],
    ['a wrong type', { type: 'strange' }, /\/type: must be/, null],
    ['an unknown keyword', { propertys: {} }, /unknown keyword/, null],
    ['an unknown format', { format: 'strange' }, /unknown format "strange"/, null],
  ])('refuses %s with its place', (_name, schema, reason, line) => {
    const [foundLine, message] = problemIn(schema);
    expect(message).toMatch(reason);
    expect(foundLine).toBe(line);
  });

  it.each([
    [
      'properties',
      {
        properties: Object.fromEntries(
          Array.from({ length: 490 }, (_, index) => [`p${index}`, { type: 'string' }]),
        ),
      },
    ],
    ['branches', { anyOf: Array.from({ length: 490 }, (_, index) => ({ const: index })) }],
    ['negations', { allOf: Array.from({ length: 330 }, () => ({ not: {} })) }],
    ['patterns', { patternProperties: patterns(50) }],
  ])('takes many %s, and compiles them within a second', (_name, schema) => {
    const start = startWork();
    checkContract(JSON.stringify(schema), 'contract.json');
    expect(new CompiledContract(schema).errorsIn({ p1: 1 }, 'data')).toBeDefined();
    expect(workedMs(start)).toBeLessThan(1000);
  });

  it('takes data that looks like keywords', () => {
    const schema = { enum: [{ pattern: '(?=x)', $ref: 'https://a.test' }] };
    expect(checkContract(JSON.stringify(schema), 'contract.json')).toEqual(schema);
  });
});

describe('a compiled contract', () => {
  it('runs patterns in linear time', () => {
    const contract = new CompiledContract({ properties: { a: { pattern: '^(a|a)*$' } } });
    const start = startWork();
    expect(contract.errorsIn({ a: `${'a'.repeat(5000)}b` }, 'data')).toEqual({
      'data.a': ['must match pattern "^(a|a)*$"'],
    });
    expect(workedMs(start)).toBeLessThan(1000);
  });

  it('names fields with slashes and dots as they are', () => {
    const contract = new CompiledContract({ properties: { 'a/b~c': { type: 'string' } } });
    expect(contract.errorsIn({ 'a/b~c': 1 }, 'data')).toEqual({ 'data.a/b~c': ['must be string'] });
  });

  it.each([
    ['date', '2026-02-30', '2026-02-28'],
    ['date-time', '2026-11-26 08:00', '2026-11-26T08:00:00Z'],
    ['email', 'a b@c', 'a@b.test'],
    ['time', '8:00', '08:00:00Z'],
    ['uri', '/path', 'https://a.test/path'],
    ['uuid', 'x', '123e4567-e89b-12d3-a456-426614174000'],
  ])('checks the format %s', (format, bad, good) => {
    const contract = new CompiledContract({ properties: { a: { format } } });
    expect(contract.errorsIn({ a: bad }, 'data')).toEqual({
      'data.a': [`must match format "${format}"`],
    });
    expect(contract.errorsIn({ a: good }, 'data')).toBeNull();
  });

  it('looks for the first error alone where all of them are many', () => {
    const branches = Array.from({ length: 1000 }, (_, index) => ({ const: index }));
    const contract = new CompiledContract({ items: { anyOf: branches } });
    const data = Array.from({ length: 20_000 }, () => 'x');
    const start = startWork();
    expect(Object.keys(contract.errorsIn(data, 'data') ?? {})).toEqual(['data.0']);
    expect(workedMs(start)).toBeLessThan(1000);
  });
});
