// The 422 of a send (specification 4.2 rules 1 to 4): the whole body, and nothing stored.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { noRows, payload, rowCounts, send } from '../messages/fixtures.ts';
import { badContents, badFields, type InvalidSend } from './invalid-sends.ts';

describe.each(stores)('an invalid send on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const refuse = async (body: InvalidSend[1], fields: InvalidSend[2]) => {
    const answer = await api.post('/v1/messages', body, { headers: { 'idempotency-key': 'k' } });
    const [[name, [problem]] = ['', ['']]] = Object.entries(fields);
    expect(answer.status).toBe(422);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['x-request-id']).toEqual(expect.any(String));
    expect(answer.body).toEqual({
      _tag: 'ValidationError',
      message: `Invalid body: ${name}: ${problem}`,
      fields,
    });
    expect(await rowCounts(test.app)).toEqual(noRows);
  };

  it.each(badContents)('is refused: %s', (_what, body, fields) => refuse(body, fields));

  it.each(badFields)('rule 4: is refused with the field named: %s', (_what, body, fields) =>
    refuse(body, fields),
  );

  it('rule 4: is refused with all wrong fields at once', () =>
    refuse(
      payload(
        { subject: 'a\nb', priority: 'urgent', attachments: [{ filename: 'a' }] },
        { to: [{ email: 'x' }], cc: [{ email: 'y' }], tags: [''] },
      ),
      {
        'to.0.email': ['is not a valid email address'],
        'cc.0.email': ['is not a valid email address'],
        'email.subject': ['must not contain line breaks or control characters'],
        'email.attachments.0.content': ['is required'],
        'email.priority': ['must be "high", "normal" or "low"'],
        'tags.0': ['must not be empty'],
      },
    ));

  it('rule 4: is refused for fields with the names of prototypes', () =>
    refuse(
      '{"constructor":1,"channel":"email","to":[{"email":"a@b.example"}],"email":{"subject":"x","text":"x"}}',
      {
        constructor: ['unknown field'],
      } as unknown as InvalidSend[2],
    ));

  it('answers 400 for malformed JSON before any field', async () => {
    const { status, body } = await api.post('/v1/messages', '{"channel":"email"');
    expect([status, body]).toEqual([
      400,
      {
        _tag: 'MalformedRequestError',
        message: expect.stringMatching(/^The body is not valid JSON: /),
      },
    ]);
    expect(await rowCounts(test.app)).toEqual(noRows);
  });

  it('answers 400 without a body', async () => {
    const { status, body } = await api.request('POST', '/v1/messages');
    expect([status, body]).toEqual([
      400,
      { _tag: 'MalformedRequestError', message: 'The body is missing: send JSON' },
    ]);
  });

  it('answers 422 with a query, which would have no effect', async () => {
    const { status, body } = await api.post('/v1/messages?dryRun=true', payload());
    expect([status, body]).toEqual([
      422,
      {
        _tag: 'ValidationError',
        message: 'Invalid query: dryRun: unknown field',
        fields: { dryRun: ['unknown field'] },
      },
    ]);
    expect(await rowCounts(test.app)).toEqual(noRows);
  });
});

describe.each(stores)('a send at its bounds, on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const repeated = (count: number, value: unknown) => Array.from({ length: count }, () => value);
  const numbered = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, value]));

  it.each([
    ['the longest subject', payload({ subject: 'x'.repeat(998) })],
    ['an empty subject', payload({ subject: '' })],
    ['an empty text', payload({ text: '' })],
    [
      'the longest display name',
      payload({}, { to: [{ email: 'a@b.example', name: 'x'.repeat(200) }] }),
    ],
    ['ten replyTo addresses', payload({ replyTo: repeated(10, 'a@b.example') })],
    ['100 attachments', payload({ attachments: repeated(100, { filename: 'a', content: '' }) })],
    [
      'the longest file name',
      payload({ attachments: [{ filename: 'x'.repeat(255), content: '' }] }),
    ],
    ['50 headers of the longest kind', payload({ headers: numbered(50, 'x'.repeat(998)) })],
    ['ten of the longest tags', payload({}, { tags: repeated(10, 'x'.repeat(100)) })],
    ['the longest metadata value', payload({}, { metadata: { key: 'x'.repeat(2000) } })],
    [
      '50 metadata values of 32 KB in all',
      payload({}, { metadata: numbered(50, 'x'.repeat(640)) }),
    ],
    ['the longest metadata key', payload({}, { metadata: { ['k'.repeat(100)]: null } })],
    [
      'tracking and footer off',
      payload({ tracking: { opens: false }, footer: { enabled: false } }),
    ],
  ])('is accepted with %s', async (_what, body) => {
    expect(await send(api, body)).toMatchObject({ status: 'pending' });
  });

  it('gives 50 recipients over to, cc and bcc a delivery each', async () => {
    const people = (count: number, name: string) =>
      Array.from({ length: count }, (_, i) => ({ email: `${name}${i}@example.com` }));
    const lists = { to: people(20, 'to'), cc: people(20, 'cc'), bcc: people(10, 'bcc') };
    const message = await send(api, payload({}, lists));
    expect([message.recipients.length, message.deliveries.length]).toEqual([50, 50]);
  });
});
