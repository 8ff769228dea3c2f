// The projection of a received mail: texts, attachments, reports, faults.
import { describe, expect, it } from 'vitest';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { fixture, mail, sane } from './fixture.ts';

const parse = (name: string) => parseMime(fixture(name));
const codes = (parsed: { parsingErrors: { code: string }[] }) =>
  parsed.parsingErrors.map(({ code }) => code);

describe('a reply', () => {
  it('has its addresses, ids, date and texts', async () => {
    const parsed = await parse('gmail-reply-en');
    expect(parsed).toMatchObject({
      subject: 'Re: Plan',
      from: { email: 'bob@gmail.example', name: 'Bob Example' },
      to: [{ email: 'alice@example.org', name: 'Alice Example' }],
      messageIdHeader: '<reply-1@mail.example.com>',
      inReplyTo: '<plan-1@example.org>',
      references: ['<plan-0@example.org>', '<plan-1@example.org>'],
      date: Date.UTC(2025, 2, 4, 9, 30),
      isAutoReply: false,
      parsingErrors: [],
    });
    expect(parsed.text).toMatch(/^Sounds good, see you at noon\.\n/);
    expect(parsed.html).toMatch(/^<div dir="ltr">Sounds good/);
  });

  it('lists its header fields in order, unfolded, encoded words unchanged', async () => {
    const { headers } = await parse('newsletter');
    expect(headers.slice(0, 2)).toEqual([
      { name: 'From', value: '"News, Daily" <news@list.example>' },
      { name: 'To', value: 'undisclosed-recipients:;' },
    ]);
    expect(headers.find(({ name }) => name === 'Reply-To')?.value).toBe(
      'editors@list.example, =?utf-8?q?R=C3=A9daction?= <redaction@list.example>',
    );
  });
});

describe('a newsletter', () => {
  it('gives its subject, reply addresses, priority and ways to unsubscribe', async () => {
    expect(await parse('newsletter')).toMatchObject({
      subject: 'Grüße & Neuigkeiten vom März',
      to: [],
      replyTo: [
        { email: 'editors@list.example', name: null },
        { email: 'redaction@list.example', name: 'Rédaction' },
      ],
      priority: 'low',
      listUnsubscribeUrl: 'https://list.example/leave?u=1&t=2',
      listUnsubscribeEmail: 'leave+daily@list.example',
      text: null,
      newContent: 'News\n\nCafé opens & more.',
    });
  });

  it.each([
    ['<javascript:alert(1)>, <data:text/html,x>, <file:///etc/passwd>'],
    ['<https://bank.example@evil.example/x>'],
    ['<mailto:not an address>, <mailto:a@b.example,c@d.example>'],
    ['<mailto:%E0%A4%A>'],
    [`<https://x.example/${'a'.repeat(3000)}>`],
    ['https://unbracketed.example/'],
  ])('has no way to unsubscribe in a hostile List-Unsubscribe: %#', async (value) => {
    const parsed = await parseMime(mail(sane(`List-Unsubscribe: ${value}`)));
    expect(parsed.listUnsubscribeUrl).toBeNull();
    expect(parsed.listUnsubscribeEmail).toBeNull();
  });
});

describe('the priority of a mail', () => {
  it.each([
    ['Importance: High', 'high'],
    ['X-Priority: 1 (Highest)', 'high'],
    ['X-Priority: 3', 'normal'],
    ['X-MSMail-Priority: Low', 'low'],
    ['Priority: non-urgent', 'low'],
    ['Priority: constructor', null],
    ['X-Priority: 17', null],
    ['X-Other: 1', null],
  ])('is read from %s as %s', async (line, priority) => {
    expect((await parseMime(mail(sane(line)))).priority).toBe(priority);
  });

  it('is read from Importance before X-Priority', async () => {
    const parsed = await parseMime(mail(sane('X-Priority: 1', 'Importance: low')));
    expect(parsed.priority).toBe('low');
  });
});

describe('attachments', () => {
  it('of an invitation are the calendar in both of its forms', async () => {
    const { attachments, text } = await parse('calendar-invite');
    expect(text).toBe('You are invited.');
    expect(attachments).toMatchObject([
      { index: 0, partNumber: '1.3', contentType: 'text/calendar', filename: null },
      { index: 1, partNumber: '2', filename: 'invite.ics', disposition: 'attachment', size: 32 },
    ]);
  });

  it('inside multipart/related are marked, and their names contain no path', async () => {
    const { attachments } = await parse('related-image');
    expect(attachments).toEqual([
      {
        index: 0,
        partNumber: '2',
        filename: 'bild ä.png',
        contentType: 'image/png',
        contentId: 'pic@1',
        disposition: 'inline',
        size: 8,
        related: true,
      },
    ]);
  });

  it('that are messages stay closed, apart from text and headers of the mail', async () => {
    const parsed = await parse('nested-message');
    expect(parsed.text).toBe('See the attached mail.');
    expect(parsed.from?.email).toBe('bob@example.net');
    expect(parsed.attachments).toMatchObject([{ contentType: 'message/rfc822', partNumber: '2' }]);
  });

  it('that are the whole mail have part number 1', async () => {
    const lines = sane('Content-Type: application/pdf; name=a.pdf', 'MIME-Version: 1.0');
    const parsed = await parseMime(mail(lines, '%PDF'));
    expect(parsed.attachments).toMatchObject([
      { index: 0, partNumber: '1', filename: 'a.pdf', size: 4 },
    ]);
    expect(parsed.text).toBeNull();
    expect(parsed.newContent).toBeNull();
  });

  it('with an impossible content type are octets', async () => {
    const lines = sane('Content-Type: "<b>"/x; name="a"', 'Content-Disposition: attachment');
    const { attachments } = await parseMime(mail(lines));
    expect(attachments).toMatchObject([{ contentType: 'application/octet-stream' }]);
  });
});

describe('a mail of several texts', () => {
  it('shows plain parts beside HTML in both views, escaped', async () => {
    const parsed = await parse('apple-mixed');
    expect(parsed.html).toBe(
      '<div style="white-space:pre-wrap">Before 1 &lt; 2</div>\n<b>After</b>',
    );
    expect(parsed.text).toBe('Before 1 < 2');
    expect(parsed.newContent).toBe('Before 1 < 2\nAfter');
  });
});

describe('a report in a mail', () => {
  it('of a bounce keeps the status and only the header of the returned mail', async () => {
    const { reports, reportType } = await parse('bounce-postfix');
    expect(reportType).toBe('delivery-status');
    expect(reports.map(({ contentType }) => contentType)).toEqual([
      'message/delivery-status',
      'message/rfc822',
    ]);
    expect(reports[0]?.text).toContain('Final-Recipient: rfc822; nobody@example.net\r\n');
    expect(reports[1]?.text).toContain('Message-ID: <plan-1@example.org>');
    expect(reports[1]?.text).not.toContain('lost mail');
  });

  it('of a complaint keeps the feedback and the headers', async () => {
    const { reports, reportType } = await parse('feedback-report');
    expect(reportType).toBe('feedback-report');
    expect(reports).toMatchObject([
      { contentType: 'message/feedback-report', partNumber: '2' },
      { contentType: 'text/rfc822-headers', partNumber: '3' },
    ]);
  });
});

describe('a charset', () => {
  it.each([
    ['iso-8859-1', 'Prüfung', 'Grüße, café'],
    ['windows-1252', '€uro', '“Quoted” – 5 €'],
    ['shift-jis', '件名', 'こんにちは世界'],
    ['gb18030', '主题', '你好，世界'],
    ['iso-2022-jp', '件名', 'こんにちは'],
    ['koi8-r', 'Тема', 'Привет'],
  ])('%s is decoded in subject and body', async (charset, subject, text) => {
    const parsed = await parse(`charset-${charset}`);
    expect(parsed).toMatchObject({ subject, newContent: text, parsingErrors: [] });
  });

  it('that is unknown is read as UTF-8 and reported', async () => {
    const parsed = await parse('charset-bogus');
    expect(parsed).toMatchObject({ subject: 'café', newContent: 'café' });
    expect(codes(parsed)).toEqual(['unknown-charset']);
  });

  it('has its invalid bytes replaced and reported', async () => {
    const lines = sane('Content-Type: text/plain; charset=utf-8');
    const raw = Buffer.concat([mail(lines, 'a'), Buffer.from([0xff, 0x62])]);
    const parsed = await parseMime(raw);
    expect(parsed.text).toBe('a\ufffdb');
    expect(codes(parsed)).toEqual(['undecodable-text']);
  });

  it('of raw 8-bit headers is UTF-8, else Windows-1252', async () => {
    expect(await parse('raw-utf8-headers')).toMatchObject({
      subject: 'Grüße 世界',
      from: { email: 'zoë@xn--exmple-cua.org', name: 'Zoë Müller' },
      to: [{ email: 'li@example.org', name: '李雷' }],
    });
    expect(await parse('raw-latin1-headers')).toMatchObject({
      subject: 'Grüße',
      from: { email: 'zoe@example.org', name: 'Zoë Müller' },
    });
  });

  it('adds no NUL to a text, a header or a file name', async () => {
    const lines = sane(
      'Subject: a\0b =?utf-8?q?c=00d?=',
      'Content-Type: multipart/mixed; boundary=b',
    );
    const part = 'Content-Type: a/b; name="x=?utf-8?q?=00?=y"\r\n\r\nz';
    const body = `--b\r\n\r\ne\0f\r\n--b\r\n${part}\r\n--b--\r\n`;
    const parsed = await parseMime(mail(lines, body));
    expect(JSON.stringify(parsed)).not.toContain('\\u0000');
    expect(parsed).toMatchObject({ subject: 'ab cd', text: 'ef' });
  });
});

describe('a broken mail', () => {
  it('without its last boundary keeps its earlier parts', async () => {
    const parsed = await parse('unclosed-boundary');
    expect(parsed.text).toBe('The text is there.');
    expect(parsed.attachments).toMatchObject([{ filename: 'cut.bin', size: 3 }]);
    expect(codes(parsed)).toEqual(['unclosed-multipart']);
  });

  it('without its boundary is read as plain text', async () => {
    const parsed = await parse('wrong-boundary');
    expect(parsed.text).toContain('The text is there.');
    expect(codes(parsed)).toEqual(['missing-boundary']);
  });

  it('without author and id is reported', async () => {
    const parsed = await parse('missing-headers');
    expect(parsed).toMatchObject({
      from: null,
      messageIdHeader: null,
      date: null,
      to: [],
      newContent: 'Body without author.',
    });
    expect(codes(parsed)).toEqual(['missing-header', 'missing-header']);
  });

  it('with duplicate headers follows the first, and joins the recipients', async () => {
    const parsed = await parse('duplicate-headers');
    expect(parsed).toMatchObject({
      from: { email: 'first@example.net', name: 'First' },
      to: [
        { email: 'one@example.org', name: null },
        { email: 'two@example.org', name: null },
      ],
      subject: 'first',
      messageIdHeader: '<first@example.net>',
      text: '<b>plain</b>\n',
      html: null,
    });
    expect(codes(parsed)).toEqual(Array(4).fill('duplicate-header'));
  });

  it.each([
    ['', []],
    ['\r\n', []],
    ['\r\n\r\nonly a body', []],
    ['no header at all', []],
    ['From: a@b.example', ['a@b.example']],
  ])('as small as %j is parsed', async (raw, from) => {
    const parsed = await parseMime(Buffer.from(raw));
    expect(parsed.from ? [parsed.from.email] : []).toEqual(from);
    expect(codes(parsed)).toContain('missing-header');
  });
});
