// Media types and content ids of attachments: legal forms of RFC 2045 5.1 reach the wire, and slips
// of a caller (a semicolon at the end, angle brackets) are dropped.
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMediaType } from '../../../src/mail/mime/media-type.ts';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { payload, rawMail, send } from '../messages/fixtures.ts';

/** Media types as a caller gives them, and as the mail has them. */
const legal: [string, string][] = [
  [
    'text/calendar; charset="UTF-8"; method=REQUEST',
    'text/calendar; charset="UTF-8"; method=REQUEST',
  ],
  [
    'text/calendar;method="REQUEST";charset=utf-8',
    'text/calendar; method="REQUEST"; charset=utf-8',
  ],
  ['text/plain; charset=us-ascii;', 'text/plain; charset=us-ascii'],
  ['application/pdf;', 'application/pdf'],
  ['application/pdf ; ;\t', 'application/pdf'],
  [
    'application/pdf; name="Invoice; May 2026.pdf"',
    'application/pdf; name="Invoice; May 2026.pdf"',
  ],
  [
    'application/x-stuff; title="a \\"quoted\\" word"',
    'application/x-stuff; title="a \\"quoted\\" word"',
  ],
  ['text/plain; format=flowed; delsp=yes', 'text/plain; format=flowed; delsp=yes'],
  [
    'text/csv; charset = "iso-8859-1" ; header=present',
    'text/csv; charset="iso-8859-1"; header=present',
  ],
  ['text/plain;\tcharset=utf-8', 'text/plain; charset=utf-8'],
  [
    'application/vnd.api+json; profile="https://example.com/a?b=c"',
    'application/vnd.api+json; profile="https://example.com/a?b=c"',
  ],
  ["application/x-a'b; title=it's-here", "application/x-a'b; title=it's-here"],
  ['TEXT/HTML; Charset="utf-8"', 'TEXT/HTML; Charset="utf-8"'],
  ['text/plain; empty=""', 'text/plain; empty=""'],
];

const illegal: [string, string][] = [
  ['no subtype', 'text'],
  ['an open quote', 'text/plain; charset="utf-8'],
  ['an open escape', 'text/plain; charset="utf-8\\"'],
  ['a parameter without a value', 'text/plain; charset'],
  ['a value without a name', 'text/plain; =utf-8'],
  ['a bare slash in a value', 'text/plain; a=b/c'],
  ['a parameter twice', 'text/plain; charset=a; Charset=b'],
  ['a semicolon within', 'text/plain;; charset=utf-8'],
  ['letters beyond ASCII', 'text/plain; name="ä"'],
  ['a comma', 'text/plain, text/html'],
  ['a line break within quotes', 'text/plain; name="a\r\n b"'],
  ['a tab within quotes', 'text/plain; name="a\tb"'],
  ['an extended parameter (RFC 2231)', "text/plain; title*=us-ascii'en'a%20b"],
  ['blanks alone', ' '],
];

describe('readMediaType', () => {
  it.each(legal)('reads %s', (given, read) => {
    expect(readMediaType(given)).toBe(read);
  });

  it.each(illegal)('refuses %s', (_, given) => {
    expect(readMediaType(given)).toBeNull();
  });

  it.each([';', ' ', 'a', ';a=', '"', '\\"'])('takes linear time for many of %j', (piece) => {
    const started = startWork();
    readMediaType(`a/b; a="${piece.repeat(255).slice(0, 245)}`);
    expect(workedMs(started)).toBeLessThan(20);
  });
});

describe.each(stores)('attachments on %s', (store) => {
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

  const file = (fields: Record<string, unknown>) => ({
    ...{ filename: 'a.bin', content: 'aGk=' },
    ...fields,
  });

  it.each(legal)('have the media type %s in the mail', async (contentType, stored) => {
    const { id } = await send(api, payload({ attachments: [file({ contentType })] }));
    const { body } = await api.get<EmailProjection>(`/v1/messages/${id}/email`);
    expect(body.attachments).toMatchObject([{ contentType: stored }]);
    const raw = (await rawMail(api, id)).toString('latin1').replaceAll(/\r\n[ \t]+/g, ' ');
    const sent = /^Content-Type: (?!multipart|text\/plain; charset=utf-8$)(.*)$/gim;
    const fields = [...raw.matchAll(sent)].map(([, value]) => value ?? '');
    const { attachments } = await simpleParser(raw);
    expect(attachments).toHaveLength(1);
    const [type = '', ...parameters] = stored.split(/; (?=[\w*-]+=)/);
    const last = fields.at(-1) ?? '';
    expect(last.toLowerCase()).toContain(type.toLowerCase());
    // MailComposer writes values with quotes by RFC 2231, and the name of the file as the name.
    const words = decodeURIComponent(
      last.replaceAll("*0*=utf-8''", '=').replaceAll(/%(?!22|20)/g, '%25'),
    );
    for (const one of parameters.filter((text) => !text.startsWith('name='))) {
      const value = one.replaceAll(/\\(.)/g, '$1').replaceAll('"', '');
      expect(words.replaceAll('"', '').toLowerCase()).toContain(value.toLowerCase());
    }
  });

  it.each(illegal.slice(0, -1))('are refused with 422 for %s', async (_, contentType) => {
    const { status, body } = await api.post<{ fields: object }>(
      '/v1/messages',
      payload({ attachments: [file({ contentType })] }),
    );
    expect(status).toBe(422);
    expect(body.fields).toHaveProperty(['email.attachments.0.contentType']);
  });

  it.each(['multipart/mixed; boundary="x"', 'MESSAGE/rfc822;'])(
    'are no %s',
    async (contentType) => {
      const { status } = await api.post(
        '/v1/messages',
        payload({ attachments: [file({ contentType })] }),
      );
      expect(status).toBe(422);
    },
  );

  it.each([
    ['<logo@example.com>', 'logo@example.com'],
    ['<logo>', 'logo'],
    ['logo@example.com', 'logo@example.com'],
  ])('have the content id %s without its brackets', async (contentId, stored) => {
    const attachments = [file({ contentType: 'image/png', contentId })];
    const html = `<img src="cid:${stored}">`;
    const { id } = await send(api, payload({ html, attachments }));
    const { body } = await api.get<EmailProjection>(`/v1/messages/${id}/email`);
    expect(body.attachments).toMatchObject([{ contentId: stored }]);
    expect((await rawMail(api, id)).toString('latin1')).toMatch(
      new RegExp(`^Content-I[dD]: <${stored.replaceAll('.', '\\.')}>`, 'm'),
    );
  });

  it.each(['<logo', 'logo>', '<<logo>>', '<>', '<a b>'])(
    'have no content id %s',
    async (contentId) => {
      const { status, body } = await api.post<Message & { fields: object }>(
        '/v1/messages',
        payload({ attachments: [file({ contentId })] }),
      );
      expect(status).toBe(422);
      expect(body.fields).toHaveProperty(['email.attachments.0.contentId']);
    },
  );
});
