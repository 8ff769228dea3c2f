// The files of messages in a mailbox: found by number, sent so that no browser runs them.
import { beforeEach, describe, expect, it } from 'vitest';
import { dispositionOf } from '../../../daemon/http/paths/files.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { arrive, mailboxOf, threadsOver } from './mails.ts';

const bytes = Buffer.from([0, 255, 13, 10, 128, 1]);
const part = (type: string, more: readonly string[], content: string) => [
  '--b',
  `Content-Type: ${type}`,
  'Content-Transfer-Encoding: base64',
  ...more,
  '',
  content,
];
const files = [
  ...['--b', 'Content-Type: text/plain', '', 'See the files'],
  ...part('application/pdf', ['Content-Disposition: attachment; filename="a.pdf"'], 'JVBERg=='),
  ...part(
    'text/html',
    ["Content-Disposition: attachment; filename*=UTF-8''%C3%BCber%20uns.html"],
    Buffer.from('<script>alert(1)</script>').toString('base64'),
  ),
  ...part('application/x-own', [], bytes.toString('base64')),
  '--b--',
];

describe.each(stores)('the files of a message, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let messageId: string;
  let path: string;
  beforeEach(async () => {
    messageId = await arrive(test.app, {
      headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
      text: files.join('\r\n'),
    });
    path = `/v1/mailboxes/${await mailboxOf(test.app)}/messages/${messageId}/attachments`;
  });

  it('are listed by the thread and its messages, with type and size', async () => {
    const threads = await threadsOver(test.app, api);
    const { items } = await threads.list('?q=has:attachment');
    expect(items).toMatchObject([{ hasAttachments: true }]);
    const messages = await threads.messages(items[0]?.id ?? '');
    expect(messages.items[0]?.attachments).toEqual([
      { n: 1, filename: 'a.pdf', contentType: 'application/pdf', size: 4 },
      { n: 2, filename: 'über uns.html', contentType: 'text/html', size: 25 },
      { n: 3, filename: null, contentType: 'application/x-own', size: 6 },
    ]);
  });

  it('are downloaded with their bytes and names, an HTML file as a download', async () => {
    const asked = await Promise.all([1, 2, 3].map((n) => api.get(`${path}/${n}`)));
    const headers = asked.map(({ status, headers: of }) => [
      status,
      of['content-type'],
      of['content-disposition'],
      of['content-length'],
      of['x-content-type-options'],
    ]);
    expect(headers).toEqual([
      [200, 'application/pdf', 'inline; filename="a.pdf"', '4', 'nosniff'],
      [
        200,
        'application/octet-stream',
        `attachment; filename="_ber uns.html"; filename*=UTF-8''%C3%BCber%20uns.html`,
        '25',
        'nosniff',
      ],
      [200, 'application/x-own', 'attachment', '6', 'nosniff'],
    ]);
    expect(asked[1]?.headers['content-security-policy']).toContain('sandbox');
    expect((await api.bytes(`${path}/3`)).body).toEqual(bytes);
    expect((await api.get(`${path}/3`, { apiKey: null })).status).toBe(401);
  });

  it('are found in their own mailbox alone', async () => {
    await createMailbox(test.app, test.caller, { slug: 'desk', address: 'desk@sandbox.test' });
    const desk = await mailboxOf(test.app, 'desk@sandbox.test');
    const foreign = await api.get(`/v1/mailboxes/${desk}/messages/${messageId}/attachments/1`);
    expect([foreign.status, foreign.body]).toMatchObject([404, { resource: 'message' }]);
    const beyond = await api.get(`${path}/4`);
    expect([beyond.status, beyond.body]).toMatchObject([404, { resource: 'attachment' }]);
    for (const n of ['0', '-1', 'x', '1000']) {
      expect([n, (await api.get(`${path}/${n}`)).status]).toEqual([n, 422]);
    }
  });

  it('do not count when the HTML shows them', async () => {
    const image = 'Content-ID: <i>\r\nContent-Disposition: inline; filename=i.png';
    const related = [
      ...['--b', 'Content-Type: text/html', '', '<img src="cid:i">'],
      ...part('image/png', [image], 'iVBO'),
      '--b--',
    ];
    await arrive(test.app, {
      subject: 'A picture',
      headers: ['MIME-Version: 1.0', 'Content-Type: multipart/related; boundary=b'],
      text: related.join('\r\n'),
    });
    const threads = await threadsOver(test.app, api);
    expect((await threads.list('?limit=1')).items).toMatchObject([
      { subject: 'A picture', hasAttachments: false },
    ]);
  });
});

describe('the disposition of a file', () => {
  it.each([
    ['image/png', 'a.png', 'inline; filename="a.png"'],
    ['image/svg+xml', 'a.svg', 'attachment; filename="a.svg"'],
    [
      'text/html',
      'a"b\\c.html',
      `attachment; filename="a_b_c.html"; filename*=UTF-8''a%22b%5Cc.html`,
    ],
    ['application/zip', 'a\r\nb', `attachment; filename="a__b"; filename*=UTF-8''a%0D%0Ab`],
    ['application/zip', null, 'attachment'],
  ])('of %s %j', (type, name, disposition) => {
    expect(dispositionOf(type, name)).toBe(disposition);
  });
});
