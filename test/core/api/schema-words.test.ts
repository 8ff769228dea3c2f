// Problems of requests in plain words: each reads on after the name of its field.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkWith } from '../../../src/core/api/validate.ts';

const schema = z.strictObject({
  email: z.strictObject({ subject: z.string().min(1).max(5), replyTo: z.array(z.string()).min(1) }),
  to: z.array(z.strictObject({ address: z.string() })).max(2),
  count: z.int().min(2).max(9).optional(),
  mode: z.enum(['live', 'test']).optional(),
  labels: z.record(z.string().min(1), z.string()).optional(),
  place: z
    .union([z.strictObject({ city: z.string() }), z.strictObject({ country: z.string() })])
    .optional(),
  value: z.union([z.string(), z.number(), z.null()]).optional(),
});

const good = { email: { subject: 'Hi', replyTo: ['a'] }, to: [] };

function problemsOf(value: unknown): unknown {
  const checked = checkWith(schema, value, 'body');
  return 'error' in checked ? { ...checked.error.fieldErrors } : {};
}

const email = (fields: object) => ({ ...good, email: { ...good.email, ...fields } });

describe('a problem of a request', () => {
  it.each([
    ['a missing field', { to: [] }, { email: ['is required'] }],
    [
      'another type',
      email({ subject: 1 }),
      { 'email.subject': ['must be a string, not a number'] },
    ],
    ['no object', [], { body: ['must be an object, not a list'] }],
    [
      'a long text',
      email({ subject: '123456' }),
      { 'email.subject': ['must have at most 5 characters'] },
    ],
    ['an empty text', email({ subject: '' }), { 'email.subject': ['must not be empty'] }],
    ['an empty list', email({ replyTo: [] }), { 'email.replyTo': ['must not be empty'] }],
    [
      'a long list',
      { ...good, to: [1, 2, 3].map(() => ({ address: 'a' })) },
      { to: ['must have at most 2 entries'] },
    ],
    ['a small number', { ...good, count: 1 }, { count: ['must be at least 2'] }],
    ['a large number', { ...good, count: 10 }, { count: ['must be at most 9'] }],
    ['a fraction', { ...good, count: 2.5 }, { count: ['must be a whole number'] }],
    ['a text for a number', { ...good, count: '2' }, { count: ['must be a number, not a string'] }],
    [
      'an empty name',
      { ...good, labels: { '': 'a' } },
      { 'labels.': ['its name must not be empty'] },
    ],
    ['another choice', { ...good, mode: 'x' }, { mode: ['must be "live" or "test"'] }],
    [
      'none of several types',
      { ...good, value: {} },
      { value: ['must be a string, a number or null, not an object'] },
    ],
  ])('says of %s what is expected', (_, value, fields) => {
    expect(problemsOf(value)).toEqual(fields);
  });
});

describe('an unknown field', () => {
  it.each([
    [
      'of another object',
      { ...good, replyTo: 'a' },
      { replyTo: ['unknown field; did you mean email.replyTo?'] },
    ],
    [
      'beside it',
      email({ subjcet: 'a' }),
      { 'email.subjcet': ['unknown field; did you mean email.subject?'] },
    ],
    [
      'in an entry',
      { ...good, to: [{ address: 'a', adress: 'b' }] },
      { 'to.0.adress': ['unknown field; did you mean to.0.address?'] },
    ],
    [
      'in a later entry',
      { ...good, to: [{ address: 'a' }, { address: 'b', adress: 'c' }] },
      { 'to.1.adress': ['unknown field; did you mean to.1.address?'] },
    ],
    ['that resembles none', { ...good, zzzzzzzzzz: 1 }, { zzzzzzzzzz: ['unknown field'] }],
  ])('is answered with the nearest field %s', (_, value, fields) => {
    expect(problemsOf(value)).toEqual(fields);
  });

  it('gets a suggestion up to five times in a request', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`count${at}`, 1]));
    const problems = Object.values(
      problemsOf({ ...good, ...many }) as Record<string, string[]>,
    ).flat();
    expect(problems.filter((text) => text.includes('did you mean count?'))).toHaveLength(5);
  });
});
