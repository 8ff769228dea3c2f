// Problems of requests in plain words: each reads on after the name of its field.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkWith } from '../../../src/core/api/validate.ts';
import { scheduledPayload, sendBody } from '../../../src/outbound/messages/send-schema.ts';

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

describe('a name of another mail service', () => {
  const send = (fields: object) => {
    const email = { subject: 'Hi', text: 'It works.' };
    const body = { channel: 'email', to: [{ email: 'ada@example.com' }], email };
    const checked = checkWith(sendBody, { ...body, ...fields }, 'body');
    return 'error' in checked ? { ...checked.error.fieldErrors } : {};
  };

  it.each([
    ['variables', 'did you mean email.templateData?'],
    ['dynamic_template_data', 'did you mean email.templateData?'],
    ['htmlBody', 'did you mean email.html?'],
    ['HtmlBody', 'did you mean email.html?'],
    ['body', 'did you mean email.html or email.text?'],
    ['reply_to', 'did you mean email.replyTo?'],
    ['replyTo', 'did you mean email.replyTo?'],
    ['recipients', 'did you mean to?'],
    ['fromEmail', 'did you mean from?'],
    ['template_id', 'did you mean email.templateId?'],
    ['template', 'did you mean email.templateId or email.templateSlug?'],
    ['categories', 'did you mean tags?'],
    ['customArgs', 'did you mean metadata?'],
    ['scheduledAt', 'send it to POST /v1/messages/scheduled as scheduledFor'],
    ['send_at', 'send it to POST /v1/messages/scheduled as scheduledFor'],
    ['scheduledFor', 'send it to POST /v1/messages/scheduled as scheduledFor'],
    ['idempotencyKey', 'send it as the header Idempotency-Key'],
  ])('%s is answered with our field', (name, hint) => {
    expect(send({ [name]: 'x' })[name]).toEqual([`unknown field; ${hint}`]);
  });

  it('is answered with the field of the scheduled send', () => {
    const checked = checkWith(scheduledPayload, { send_at: 'x' }, 'body');
    const fields = 'error' in checked ? checked.error.fieldErrors : {};
    expect(fields?.send_at).toEqual(['unknown field; did you mean scheduledFor?']);
  });

  it.each([
    ['to', 'Ada <ada@example.com>', '[{"email": "ada@example.com", "name": "Ada"}]', 'a list'],
    ['from', 'Ada <ada@example.com>', '{"email": "ada@example.com", "name": "Ada"}', 'an object'],
    ['from', 'ada@example.com', '{"email": "ada@example.com"}', 'an object'],
    ['tags', 'welcome', '["welcome"]', 'a list'],
  ])('%s as the string %s is answered with the value to write', (name, value, written, type) => {
    const problem = `must be ${type}, not a string: write ${written}`;
    expect(send({ [name]: value })).toEqual({ [name]: [problem] });
  });

  it('shows the object of each string in a list of recipients', () => {
    expect(send({ to: ['"Ada L." <ada@example.com>'] })).toEqual({
      'to.0': [
        'must be an object, not a string: write {"email": "ada@example.com", "name": "Ada L."}',
      ],
    });
  });

  it('shows the list of an address in the content', () => {
    expect(send({ email: { subject: 'Hi', text: 'x', replyTo: 'ada@example.com' } })).toEqual({
      'email.replyTo': ['must be a list, not a string: write ["ada@example.com"]'],
    });
  });
});
