// GET /v1/messages/{id}/email (specification 2.2, 4.1): every listed field, for sent and received
// mail, and the signed storage URLs.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { receiveMail as receiveMailAt } from '../../inbox/receiving/received-mail.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { payload, rawMail, send } from './fixtures.ts';

/** The fields of specification 2.2, in its order, then ours. */
const listedFields = `deliveries id organizationId conversationId status channel direction subject
  fromEmail fromName toEmails ccEmails bccEmails replyToEmails messageIdHeader inReplyTo references
  threadPosition newContent quotedContent hasQuotedContent dkimVerdict spfVerdict dmarcVerdict
  isAutoReply autoReplyReason listUnsubscribeUrl listUnsubscribeEmail priority parsingErrors
  html text attachments arcVerdict authenticationResults`.split(/\s+/);

describe.each(stores)('the email projection on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeEach(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  const project = (id: string, query = '') =>
    api.get<EmailProjection>(`/v1/messages/${id}/email${query}`);

  const receiveMail = (lines: string[]) => receiveMailAt(test.app, lines);

  it('of a sent message has all fields', async () => {
    const parent = await send(api);
    const message = await send(
      api,
      payload(
        {
          html: '<p>It works.</p>',
          replyTo: ['help@example.com'],
          priority: 'high',
          inReplyToMessageId: parent.id,
          attachments: [{ filename: 'a.txt', content: 'aGk=', contentType: 'text/plain' }],
        },
        {
          cc: [{ email: 'bob@example.com' }],
          bcc: [{ email: 'cy@example.com', name: 'Cy' }],
          from: { email: 'news@sandbox.test', name: 'News' },
        },
      ),
    );
    const { status, headers, body } = await project(message.id);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(Object.keys(body).sort(byText)).toEqual([...listedFields].sort(byText));
    expect(body).toEqual({
      deliveries: message.deliveries,
      id: message.id,
      organizationId: test.caller.organizationId,
      conversationId: null,
      status: 'pending',
      channel: 'email',
      direction: 'outbound',
      subject: 'Hello',
      fromEmail: 'news@sandbox.test',
      fromName: 'News',
      toEmails: ['ada@example.com'],
      ccEmails: ['bob@example.com'],
      bccEmails: ['cy@example.com'],
      replyToEmails: ['help@example.com'],
      messageIdHeader: `<${message.id}@sandbox.test>`,
      inReplyTo: `<${parent.id}@sandbox.test>`,
      references: [`<${parent.id}@sandbox.test>`],
      threadPosition: null,
      newContent: 'It works.',
      quotedContent: null,
      hasQuotedContent: false,
      dkimVerdict: null,
      spfVerdict: null,
      dmarcVerdict: null,
      arcVerdict: null,
      authenticationResults: null,
      isAutoReply: false,
      autoReplyReason: null,
      listUnsubscribeUrl: null,
      listUnsubscribeEmail: null,
      priority: 'high',
      parsingErrors: null,
      html: '<p>It works.</p>',
      text: 'It works.',
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', contentId: null, size: 2 }],
    });
  });

  it('of a plain message has null for absent parts', async () => {
    const { id } = await send(api, payload({ text: 'x', html: undefined }));
    const { body } = await project(id);
    expect(Object.keys(body).sort(byText)).toEqual([...listedFields].sort(byText));
    expect(body).toMatchObject({
      fromName: 'Sandbox',
      ccEmails: null,
      bccEmails: null,
      replyToEmails: null,
      inReplyTo: null,
      references: null,
      newContent: 'x',
      priority: null,
      text: 'x',
      html: null,
      attachments: [],
    });
  });

  it('of a received message is parsed from its raw mail', async () => {
    const id = await receiveMail([
      'From: =?utf-8?Q?Ad=C3=A1?= <ada@example.com>',
      'To: Inbox <inbox@sandbox.test>, other@example.com',
      'Cc: bob@example.com',
      'Reply-To: replies@example.com',
      'Subject: =?utf-8?B?UmU6IEdyw7zDn2U=?=',
      'Message-ID: <reply-1@example.com>',
      'In-Reply-To: <first@sandbox.test>',
      'References: <zero@sandbox.test> <first@sandbox.test>',
      'Date: Mon, 05 Jan 2026 11:59:00 +0000',
      'Auto-Submitted: auto-replied',
      'List-Unsubscribe: <https://example.com/u>, <mailto:u@example.com>',
      'X-Priority: 5',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
      '',
      'Thänks!',
      '',
      'On Mon, 5 Jan 2026 at 10:00, Inbox <inbox@sandbox.test> wrote:',
      '> How was it?',
    ]);
    const { status, body } = await project(id);
    expect(status).toBe(200);
    expect(Object.keys(body).sort(byText)).toEqual([...listedFields].sort(byText));
    expect(body).toMatchObject({
      deliveries: [],
      id,
      organizationId: test.caller.organizationId,
      status: 'delivered',
      direction: 'inbound',
      subject: 'Re: Grüße',
      fromEmail: 'ada@example.com',
      fromName: 'Adá',
      toEmails: ['inbox@sandbox.test', 'other@example.com'],
      ccEmails: ['bob@example.com'],
      bccEmails: null,
      replyToEmails: ['replies@example.com'],
      messageIdHeader: '<reply-1@example.com>',
      inReplyTo: '<first@sandbox.test>',
      references: ['<zero@sandbox.test>', '<first@sandbox.test>'],
      newContent: 'Thänks!',
      quotedContent: expect.stringContaining('How was it?'),
      hasQuotedContent: true,
      isAutoReply: true,
      listUnsubscribeUrl: 'https://example.com/u',
      listUnsubscribeEmail: 'u@example.com',
      priority: 'low',
      parsingErrors: null,
      html: null,
      text: expect.stringContaining('Thänks!'),
    });
    const { body: listed } = await api.get<Page<Message>>('/v1/messages?direction=inbound');
    expect(listed.items).toMatchObject([{ id, subject: 'Re: Grüße', deliveries: [] }]);
  });

  it('of a broken mail lists its parsing errors', async () => {
    const id = await receiveMail([
      'From: ada@example.com',
      'Subject: Broken',
      'Content-Type: multipart/mixed; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain; charset=x-unheard-of',
      '',
      'Hi',
    ]);
    const { status, body } = await project(id);
    expect(status).toBe(200);
    expect(body.parsingErrors?.map(({ code }) => code)).toContain('unclosed-multipart');
    for (const error of body.parsingErrors ?? []) {
      expect(error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    }
  });

  it.each([
    ['beyond ASCII', '<ä@example.com>'],
    ['with a space', '<a b@example.com>'],
    ['without brackets', 'not an id'],
    ['without end', `<${'x'.repeat(980)}@example.com>`],
    ['that are two', '<a@b.example> <c@d.example>'],
  ])('allows a reply to a received message with a Message-ID %s', async (_what, header) => {
    const id = await receiveMail([
      'From: ada@example.com',
      'Subject: Odd',
      `Message-ID: ${header}`,
      `References: ${header}`,
      '',
      'Hi',
    ]);
    const reply = await send(api, payload({ inReplyToMessageId: id }));
    const read = await test.app.mime.parse(await rawMail(api, reply.id));
    const { inReplyTo } = (await project(reply.id)).body;
    expect(read.inReplyTo).toBe(inReplyTo);
    expect([null, (await project(id)).body.messageIdHeader]).toContain(inReplyTo);
  });

  describe('the storage URLs', () => {
    const urlsOf = async (id: string, query = 'includeStorageUrls=true') => {
      const { status, body } = await project(id, `?${query}`);
      expect(status).toBe(200);
      if (!body.storageUrls) throw new Error('there are no storage URLs');
      return body.storageUrls;
    };
    const linkGone = { _tag: 'ResourceNotFoundError', resource: 'storage', id: 'this link' };

    it.each(['', '?includeStorageUrls=false', '?urlExpiresIn=60'])(
      'are absent unless requested (%s)',
      async (query) => {
        const { id } = await send(api);
        const { status, body } = await project(id, query);
        expect([status, 'storageUrls' in body]).toEqual([200, false]);
      },
    );

    it('give raw MIME, HTML and text without a key', async () => {
      const { id } = await send(api, payload({ html: '<p>Grüße</p>' }));
      const urls = await urlsOf(id);
      expect(urls).toEqual({
        raw: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/storage\/[\w.-]+$/),
        html: expect.stringMatching(/\/storage\//),
        text: expect.stringMatching(/\/storage\//),
        expiresAt: '2026-01-05T13:00:00.000Z',
      });
      expect(new Set([urls.raw, urls.html, urls.text]).size).toBe(3);
      const raw = await api.download(urls.raw);
      expect([raw.status, raw.headers['content-type']]).toEqual([200, 'message/rfc822']);
      expect(await test.app.mime.parse(raw.body)).toMatchObject({
        subject: 'Hello',
        html: expect.stringContaining('<p>Grüße</p>'),
      });
      const html = await api.download(urls.html ?? '');
      expect([html.status, html.headers['content-type'], html.body.toString()]).toEqual([
        200,
        'text/html; charset=utf-8',
        '<p>Grüße</p>',
      ]);
      const text = await api.download(urls.text ?? '');
      expect([text.status, text.headers['content-type'], text.body.toString()]).toEqual([
        200,
        'text/plain; charset=utf-8',
        'It works.',
      ]);
    });

    it('are null for an absent part', async () => {
      const { id } = await send(api);
      expect(await urlsOf(id)).toMatchObject({ html: null, text: expect.any(String) });
    });

    it('give a received mail unchanged', async () => {
      const id = await receiveMail(['From: ada@example.com', 'Subject: Hi', '', 'Body']);
      const urls = await urlsOf(id);
      expect(urls.html).toBeNull();
      const raw = (await api.download(urls.raw)).body.toString();
      expect(raw).toMatch(/^Received: /);
      expect(raw.endsWith('From: ada@example.com\r\nSubject: Hi\r\n\r\nBody\r\n')).toBe(true);
      expect((await api.download(urls.text ?? '')).body.toString().trim()).toBe('Body');
    });

    it.each([
      ['', 3_600],
      ['&urlExpiresIn=60', 60],
      ['&urlExpiresIn=604800', 604_800],
    ])('work until they expire (%s)', async (query, seconds) => {
      const { id } = await send(api);
      const { raw, expiresAt } = await urlsOf(id, `includeStorageUrls=true${query}`);
      expect(Date.parse(expiresAt)).toBe(test.clock.now() + seconds * 1000);
      await test.clock.advance(seconds * 1000 - 1);
      expect((await api.download(raw)).status).toBe(200);
      await test.clock.advance(1);
      const { status, body } = await api.download(raw);
      expect([status, JSON.parse(body.toString())]).toEqual([404, linkGone]);
    });

    it('accept a lifetime from a minute to a week', async () => {
      const { id } = await send(api);
      for (const [seconds, problem] of [
        ['59', 'must be at least 60'],
        ['604801', 'must be at most 604800'],
        ['0', 'must be at least 60'],
        ['-60', 'must be a whole number'],
        ['1h', 'must be a whole number'],
      ] as const) {
        const query = `?includeStorageUrls=true&urlExpiresIn=${seconds}`;
        const { status, body } = await project(id, query);
        expect([seconds, status, body]).toEqual([
          seconds,
          422,
          {
            _tag: 'ValidationError',
            message: `Invalid query: urlExpiresIn: ${problem}`,
            fields: { urlExpiresIn: [problem] },
          },
        ]);
      }
    });

    it('are 404 when forged, cut, or made for another part or purpose', async () => {
      const { id } = await send(api);
      const { raw } = await urlsOf(id);
      const token = raw.slice(raw.lastIndexOf('/') + 1);
      const expiresAt = test.clock.now() + 3_600_000;
      const flipped = token.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
      const forgeries = [
        flipped,
        token.slice(0, -1),
        token.slice(token.indexOf('-') + 1),
        `x${token}`,
        'x',
        'x'.repeat(2_000),
        test.app.secrets.token('unsubscribe', `${id}.raw.${expiresAt}`),
        test.app.secrets.token('storage', `${id}.other.${expiresAt}`),
        test.app.secrets.token('storage', `${id}.raw.never`),
        test.app.secrets.token('storage', `${id}.raw`),
      ];
      for (const forged of forgeries) {
        const { status, body } = await api.download(raw.replace(token, forged));
        expect([forged.slice(0, 80), status, JSON.parse(body.toString())]).toEqual([
          forged.slice(0, 80),
          404,
          linkGone,
        ]);
      }
    });

    it('end with the deletion of the message', async () => {
      const { id } = await send(api);
      const { raw, text } = await urlsOf(id);
      await api.delete(`/v1/messages/${id}`);
      for (const url of [raw, text ?? '']) {
        const { status, body } = await api.download(url);
        expect([status, JSON.parse(body.toString())]).toEqual([
          404,
          { _tag: 'ResourceNotFoundError', resource: 'message', id },
        ]);
      }
    });

    it('give the same raw mail at every download, except for the time of its signature', async () => {
      const { id } = await send(
        api,
        payload({ attachments: [{ filename: 'a.txt', content: 'aGk=' }] }),
      );
      const first = (await rawMail(api, id)).toString('latin1');
      expect((await rawMail(api, id)).toString('latin1')).toBe(first);
      await test.clock.advance(60_000);
      const unsigned = (raw: string) => raw.slice(raw.indexOf('From: '));
      expect(unsigned((await rawMail(api, id)).toString('latin1'))).toBe(unsigned(first));
    });
  });
});

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
