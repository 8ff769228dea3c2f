// Injected headers and recipients are refused with a 422 and nothing stored, or carried as plain
// text. Checked in the bytes on the wire.

import libmime from 'libmime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { noRows, rawMail, rowCounts, send } from '../messages/fixtures.ts';
import { harmlessInjections, refusedInjections } from './injections.ts';

/** Returns the fields of the header in order, unfolded. */
function fieldsOf(raw: string): [name: string, value: string][] {
  const header = raw.slice(0, raw.indexOf('\r\n\r\n'));
  return header
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
}

describe.each(stores)('an injection into the header, on %s', (store) => {
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

  it.each(refusedInjections)(
    'by %s answers 422, and nothing is stored',
    async (_what, body, field) => {
      const answer = await api.post('/v1/messages', body, { headers: { 'idempotency-key': 'k' } });
      expect(answer.status).toBe(422);
      expect(answer.body).toEqual({
        _tag: 'ValidationError',
        message: expect.stringMatching(/^Invalid body: /),
        fields: { [field]: [expect.any(String)] },
      });
      expect(await rowCounts(test.app)).toEqual(noRows);
    },
  );

  it.each(harmlessInjections)('by $name arrives as text', async ({ body, headers = {}, shown }) => {
    const message = await send(api, body);
    expect(message.recipients.map(({ email }) => email)).toEqual(['ada@example.com']);
    expect(message.deliveries).toHaveLength(1);

    const raw = await rawMail(api, message.id);
    const text = raw.toString('latin1');
    expect(text).not.toMatch(/\r(?!\n)|(?<!\r)\n|\0/);
    expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
    const fields = fieldsOf(text);
    expect(fields.map(([name]) => name).sort(byText)).toEqual(expectedNames(body, headers));
    for (const [name, value] of Object.entries(headers)) {
      const [, arrived = ''] = fields.find(([one]) => one === name) ?? [];
      expect(arrived === value ? arrived : libmime.decodeWords(arrived)).toBe(value);
    }

    const read = await test.app.mime.parse(raw);
    expect(read.from?.email).toBe(message.from.email);
    expect([...read.to, ...read.cc, ...read.bcc].map(({ email }) => email)).toEqual([
      'ada@example.com',
    ]);
    expect({
      subject: read.subject,
      from: read.from?.name ?? null,
      to: read.to[0]?.name ?? null,
      filename: read.attachments[0]?.filename ?? null,
    }).toEqual({ subject: 'Hello', from: message.from.name, to: null, filename: null, ...shown });
  });
});

function expectedNames(body: Record<string, unknown>, own: Record<string, string>): string[] {
  const { attachments, html } = body.email as { attachments?: unknown[]; html?: string };
  const isMultipart = attachments !== undefined || html !== undefined;
  return [
    'DKIM-Signature',
    'DKIM-Signature',
    'From',
    'To',
    'Subject',
    'Message-ID',
    'Date',
    'MIME-Version',
    'X-Service-Token',
    'Feedback-ID',
    'Content-Type',
    ...(isMultipart ? [] : ['Content-Transfer-Encoding']),
    ...Object.keys(own),
  ].sort(byText);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
