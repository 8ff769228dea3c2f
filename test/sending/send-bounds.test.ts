// Lists and maps of a request are bounded before what is in them is looked at: a body of a
// quarter of a million bad entries costs no more than a refusal.
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { checkWith } from '../../src/api/validate.ts';
import { createKeyInput } from '../../src/keys/schema.ts';
import { sendPayload } from '../../src/messages/send-schema.ts';
import { startWork, workedMs } from '../support/work-time.ts';

const many = 250_000;
/** To count keys the engine lists them all first: a third of a millisecond for a thousand. */
const manyKeys = 100_000;
const list = (entry: unknown) => Array.from({ length: many }, () => entry);
const map = (value: unknown) =>
  Object.fromEntries(Array.from({ length: manyKeys }, (_, at) => [`k${at}`, value]));

const send = { channel: 'email', to: [{ email: 'a@b.example' }] };
const mail = { subject: 'x', text: 'x' };
const key = { name: 'k', role: 'sender' };

const bodies: [string, z.ZodType, unknown, string][] = [
  ['to', sendPayload, { ...send, to: list({ email: 'x' }), email: mail }, 'to'],
  ['cc', sendPayload, { ...send, cc: list({ email: 'x' }), email: mail }, 'cc'],
  ['bcc', sendPayload, { ...send, bcc: list(1), email: mail }, 'bcc'],
  ['tags', sendPayload, { ...send, tags: list(1), email: mail }, 'tags'],
  ['metadata', sendPayload, { ...send, metadata: map({}), email: mail }, 'metadata'],
  ['headers', sendPayload, { ...send, email: { ...mail, headers: map(1) } }, 'email.headers'],
  ['replyTo', sendPayload, { ...send, email: { ...mail, replyTo: list(1) } }, 'email.replyTo'],
  [
    'templateData',
    sendPayload,
    { ...send, email: { templateSlug: 'a', templateData: map(1) } },
    'email.templateData',
  ],
  [
    'attachments',
    sendPayload,
    { ...send, email: { ...mail, attachments: list(1) } },
    'email.attachments',
  ],
  ['permissions', createKeyInput, { ...key, permissions: map(1) }, 'permissions'],
  [
    'actions',
    createKeyInput,
    { ...key, permissions: { messages: list(1) } },
    'permissions.messages',
  ],
];

describe(`${many} bad entries, or ${manyKeys} keys, of`, () => {
  it.each(bodies)(
    '%s are refused as one, before they are looked at',
    (_what, schema, body, field) => {
      const started = startWork();
      const checked = checkWith(schema, body, 'body');
      const tookMs = workedMs(started);
      const fields = 'error' in checked ? (checked.error.fieldErrors ?? {}) : {};
      expect(Object.keys(fields)).toContain(field);
      expect(Object.keys(fields).some((name) => name.startsWith(`${field}.`))).toBe(false);
      expect(tookMs).toBeLessThan(150);
    },
  );
});

it('at most 100 fields are listed, of unknown ones too', () => {
  const checked = checkWith(sendPayload, { ...send, ...map(1), email: { ...map(1) } }, 'body');
  const fields = 'error' in checked ? (checked.error.fieldErrors ?? {}) : {};
  expect(Object.keys(fields)).toHaveLength(100);
});

it('NUL is refused however deep it stands in a body that is right otherwise', () => {
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'x']));
  const body = { ...send, email: mail, metadata: { ...metadata, k49: 'a\0' } };
  const checked = checkWith(sendPayload, body, 'body');
  expect('error' in checked && checked.error.fieldErrors).toEqual({
    'metadata.k49': ['must not contain NUL characters'],
  });
});
