// Lists and maps of a request are bounded before their entries are read: a body of a quarter of a
// million bad entries costs no more than a refusal.
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createKeyInput } from '../../../src/access/keys/schema.ts';
import { checkWith } from '../../../src/core/api/validate.ts';
import { sendPayload } from '../../../src/outbound/messages/send-schema.ts';

const many = 250_000;
/**
 * The engine lists all keys of a map before counting them: a third of a millisecond for a thousand.
 */
const manyKeys = 10_000;
const send = { channel: 'email', to: [{ email: 'a@b.example' }] };
const mail = { subject: 'x', text: 'x' };
const key = { name: 'k', role: 'sender' };
const map = (value: unknown) =>
  Object.fromEntries(Array.from({ length: manyKeys }, (_, at) => [`k${at}`, value]));

/** Wraps an object and counts the reads of its entries. */
function watched(inner: object): { inner: object; looks: () => number } {
  let looks = 0;
  const get = (target: object, name: string | symbol) => {
    if (typeof name === 'string' && /^k?\d+$/.test(name)) looks += 1;
    return Reflect.get(target, name);
  };
  return { inner: new Proxy(inner, { get }), looks: () => looks };
}

type Where = readonly [field: string, schema: z.ZodType, around: (inner: object) => object];

const lists: readonly Where[] = [
  ['to', sendPayload, (to) => ({ ...send, to, email: mail })],
  ['cc', sendPayload, (cc) => ({ ...send, cc, email: mail })],
  ['bcc', sendPayload, (bcc) => ({ ...send, bcc, email: mail })],
  ['tags', sendPayload, (tags) => ({ ...send, tags, email: mail })],
  ['email.replyTo', sendPayload, (replyTo) => ({ ...send, email: { ...mail, replyTo } })],
  [
    'email.attachments',
    sendPayload,
    (attachments) => ({ ...send, email: { ...mail, attachments } }),
  ],
  ['permissions.messages', createKeyInput, (messages) => ({ ...key, permissions: { messages } })],
];

const maps: readonly Where[] = [
  ['metadata', sendPayload, (metadata) => ({ ...send, metadata, email: mail })],
  ['email.headers', sendPayload, (headers) => ({ ...send, email: { ...mail, headers } })],
  [
    'email.templateData',
    sendPayload,
    (templateData) => ({ ...send, email: { templateSlug: 'a', templateData } }),
  ],
  ['permissions', createKeyInput, (permissions) => ({ ...key, permissions })],
];

function expectUnread([field, schema, around]: Where, large: object): void {
  const { inner, looks } = watched(large);
  const checked = checkWith(schema, around(inner), 'body');
  const fields = 'error' in checked ? (checked.error.fieldErrors ?? {}) : {};
  expect(Object.keys(fields)).toContain(field);
  expect(Object.keys(fields).some((name) => name.startsWith(`${field}.`))).toBe(false);
  expect(looks()).toBe(0);
}

describe(`${many} bad entries or ${manyKeys} keys are refused unread in`, () => {
  it.each(lists)('the list %s', (...where) => {
    expectUnread(
      where,
      Array.from({ length: many }, () => 1),
    );
  });

  it.each(maps)('the map %s', (...where) => {
    expectUnread(where, map(1));
  });
});

it('a refusal lists at most 100 fields, also unknown ones', () => {
  const checked = checkWith(sendPayload, { ...send, ...map(1), email: { ...map(1) } }, 'body');
  const fields = 'error' in checked ? (checked.error.fieldErrors ?? {}) : {};
  expect(Object.keys(fields)).toHaveLength(100);
});

it('NUL is refused at any depth of an otherwise valid body', () => {
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'x']));
  const body = { ...send, email: mail, metadata: { ...metadata, k49: 'a\0' } };
  const checked = checkWith(sendPayload, body, 'body');
  expect('error' in checked && checked.error.fieldErrors).toEqual({
    'metadata.k49': ['must not contain NUL characters'],
  });
});
