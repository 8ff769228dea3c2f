// Attachments of a send: stored byte for byte, 40 MB at most once encoded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { payload, rawMail, rowCounts, send } from '../messages/fixtures.ts';

const megabyte = 1024 * 1024;
const file = (fields: Record<string, unknown> = {}) => ({
  filename: 'a.txt',
  content: 'aGk=',
  ...fields,
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

  const post = (attachments: unknown[]) =>
    api.post<Message>('/v1/messages', payload({ attachments }));

  async function attachmentsOf(id: string) {
    return (await api.get<EmailProjection>(`/v1/messages/${id}/email`)).body.attachments;
  }

  it('are listed with their sizes and media types', async () => {
    const { id } = await send(
      api,
      payload({
        html: '<img src="cid:logo@x">',
        attachments: [
          file({ filename: 'data' }),
          file({ filename: 'Übersicht.pdf', contentType: 'application/pdf', content: 'JVBERg==' }),
          file({
            filename: 'logo.png',
            contentType: 'image/png',
            contentId: 'logo@x',
            content: '',
          }),
        ],
      }),
    );
    const expected = [
      { filename: 'data', contentType: 'application/octet-stream', contentId: null, size: 2 },
      { filename: 'Übersicht.pdf', contentType: 'application/pdf', contentId: null, size: 4 },
      { filename: 'logo.png', contentType: 'image/png', contentId: 'logo@x', size: 0 },
    ];
    expect(await attachmentsOf(id)).toEqual(expected);
    const parsed = await test.app.mime.parse(await rawMail(api, id));
    const parts = parsed.attachments.map(({ filename, contentType, contentId, size }) => {
      return { filename, contentType, contentId, size };
    });
    // The picture of the HTML is inside its multipart/related, before the files.
    expect(
      parts.sort((a, b) => Number(a.contentId !== null) - Number(b.contentId !== null)),
    ).toEqual(expected);
    expect(parsed.parsingErrors).toEqual([]);
  });

  it('of 10 MB are stored byte for byte', async () => {
    const bytes = Buffer.from(seededRandom(7).bytes(10 * megabyte));
    const { id } = await send(
      api,
      payload({ attachments: [file({ content: bytes.toString('base64') })] }),
    );
    expect(await attachmentsOf(id)).toMatchObject([{ size: bytes.length }]);
    const raw = (await rawMail(api, id)).toString('latin1');
    const start = raw.indexOf('Content-Disposition: attachment');
    const [encoded = ''] = raw.slice(raw.indexOf('\r\n\r\n', start) + 4).split('\r\n--');
    expect(Buffer.from(encoded, 'base64').equals(bytes)).toBe(true);
  });

  it('may have line breaks in their base64', async () => {
    const { id } = await send(
      api,
      payload({ attachments: [file({ content: 'aG\r\nkh\naGkh\r\n' })] }),
    );
    expect(await attachmentsOf(id)).toMatchObject([{ size: 6 }]);
  });

  it.each([
    ['other characters', '***'],
    ['the URL alphabet', 'aGk_'],
    ['a missing end', 'aGk'],
    ['one character', 'a'],
    ['padding in the middle', 'aG=kaGk='],
    ['three paddings', 'a==='],
    ['padding alone', '===='],
    ['a space', 'aG k'],
    ['a data URL', 'data:text/plain;base64,aGk='],
    ['letters beyond ASCII', 'aGkä'],
  ])('with %s in their base64 are refused', async (_what, content) => {
    const { status, body } = await post([file(), file({ content })]);
    expect([status, body]).toEqual([
      422,
      {
        _tag: 'ValidationError',
        message: 'Invalid body: email.attachments.1.content: must be base64',
        fields: { 'email.attachments.1.content': ['must be base64'] },
      },
    ]);
  });

  it('take 40 MB in all once encoded, and four bytes more are refused', async () => {
    const before = await rowCounts(test.app);
    const half = 'A'.repeat(20 * megabyte);
    const { status, body } = await post([
      file({ content: half }),
      file({ content: half }),
      file({ content: 'AAAA' }),
    ]);
    const problem = 'may take 41943040 bytes in all once encoded; these take 41943044';
    expect([status, body]).toEqual([
      422,
      {
        _tag: 'ValidationError',
        message: `Invalid body: email.attachments: ${problem}`,
        fields: { 'email.attachments': [problem] },
      },
    ]);
    expect(await rowCounts(test.app)).toEqual(before);
    const accepted = await post([file({ content: half }), file({ content: half })]);
    expect(accepted.status).toBe(201);
  });

  it('beyond the largest body answer 413', async () => {
    const { status, body } = await post([file({ content: 'A'.repeat(60_000_000) })]);
    expect([status, body]).toEqual([
      413,
      { _tag: 'MalformedRequestError', message: 'The body is larger than 60000000 bytes' },
    ]);
  });
});

describe('the check of an attachment', () => {
  it.each([
    ['line breaks and a wrong end', `${'\n'.repeat(1_000_000)}!`],
    ['letters and a wrong end', `${'A'.repeat(4_000_000)}!`],
    ['padding', '='.repeat(4_000_000)],
    ['line breaks between letters', 'A\r\n'.repeat(1_000_000)],
  ])('takes next to no time for %s', (_what, content) => {
    const start = startWork();
    expect(sendPayload.safeParse(payload({ attachments: [file({ content })] })).success).toBe(
      content.startsWith('A\r\n'),
    );
    expect(workedMs(start)).toBeLessThan(1_000);
  });
});
