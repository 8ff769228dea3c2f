// Messages with attachments: the tree, byte-exact content, file names, and no trace of the
// composing library.
import type { Attachment } from 'mailparser';
import { expect, it } from 'vitest';
import { compose } from '../../../src/mail/mime/composer.ts';
import type { ComposeAttachment, ComposeInput } from '../../../src/mail/mime/input.ts';
import { messageBytes, parse, plainInput } from './compose-corpus.ts';

const allBytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte));

function attachment(change: Partial<ComposeAttachment> = {}): ComposeAttachment {
  return {
    filename: 'report.bin',
    contentType: 'application/octet-stream',
    contentId: null,
    content: allBytes,
    ...change,
  };
}

async function bytesOf(change: Partial<ComposeInput>): Promise<Buffer> {
  return messageBytes(await compose({ ...plainInput, ...change }));
}

async function parseAttachments(...attachments: ComposeAttachment[]): Promise<Attachment[]> {
  return (await parse(await bytesOf({ attachments }))).attachments;
}

it.each([0, 1, 57, 58, 76, 10_000_000])(
  'an attachment of %i bytes is unchanged',
  async (size) => {
    const content = Buffer.alloc(size, allBytes);
    const [received] = await parseAttachments(attachment({ content }));
    expect(received?.content.equals(content)).toBe(true);
  },
  30_000,
);

it('a text attachment keeps its bytes, line ends and charset', async () => {
  const content = Buffer.from('a\nb\rc\r\n.\n\xe4 \t\n', 'latin1');
  const [received] = await parseAttachments(
    attachment({ filename: 'a.csv', contentType: 'text/csv; charset=iso-8859-1', content }),
  );
  expect(received?.content.equals(content)).toBe(true);
  expect(received?.contentType).toBe('text/csv');
});

it('attachments do not change the meaning of the body', async () => {
  const change = { text: 'Grüße\n.\n', html: '<p>Grüße</p>\n', subject: 'Grüße' };
  const mail = await parse(await bytesOf({ ...change, attachments: [attachment()] }));
  const bare = await parse(await bytesOf(change));
  expect([mail.text, mail.html, mail.subject]).toEqual([bare.text, bare.html, bare.subject]);
  expect(mail.headers.get('content-type')).toMatchObject({ value: 'multipart/mixed' });
});

it.each([
  'plain.txt',
  'with spaces (1).pdf',
  'Übersicht für März.pdf',
  '請求書.pdf',
  '😀.png',
  `${'long'.repeat(60)}.txt`,
  'semi;colon="quote".txt',
  'percent%20.txt',
  "it's.txt",
  'tab\there.txt',
])('an attachment keeps the file name %s', async (filename) => {
  const [received] = await parseAttachments(attachment({ filename }));
  expect(received?.filename).toBe(filename);
});

it('a file name with a lone surrogate is accepted', async () => {
  const [received] = await parseAttachments(attachment({ filename: 'a\ud800.txt' }));
  expect(received?.filename).toBe('a\ufffd.txt');
});

it('an attachment with a Content-ID goes beside the HTML', async () => {
  const mail = await parse(
    await bytesOf({
      html: '<img src="cid:logo@x">',
      attachments: [
        attachment({ filename: 'logo.png', contentType: 'image/png', contentId: 'logo@x' }),
        attachment(),
      ],
    }),
  );
  const [logo, report] = mail.attachments;
  expect(logo).toMatchObject({ cid: 'logo@x', related: true, contentDisposition: 'inline' });
  expect(report).toMatchObject({ contentDisposition: 'attachment' });
  expect(report?.related).toBeFalsy();
});

it('an attached clean message stays readable, any other one becomes opaque bytes', async () => {
  const clean = Buffer.from('Subject: x\r\n\r\nhi\r\n');
  const longLine = Buffer.from(`Subject: x\r\n\r\n${'x'.repeat(2000)}\r\n`);
  const contentType = 'message/rfc822';
  const [first, second] = await parseAttachments(
    attachment({ filename: 'a.eml', contentType, content: clean }),
    attachment({ filename: 'b.bin', contentType, content: longLine }),
  );
  expect(first?.contentType).toBe('message/rfc822');
  expect(first?.content.toString()).toContain('Subject: x');
  expect(second?.contentType).toBe('application/octet-stream');
  expect(second?.content.equals(longLine)).toBe(true);
});

it('an attached multipart adds no parts', async () => {
  const content = Buffer.from('--x\r\n\r\nevil\r\n--x--\r\n');
  const received = await parseAttachments(
    attachment({ contentType: 'multipart/mixed; boundary=x', content }),
  );
  expect(received).toHaveLength(1);
  expect(received[0]?.content.equals(content)).toBe(true);
});

it('the same input gives the same bytes, and another seed other boundaries', async () => {
  const attachments = [attachment(), attachment({ filename: 'Ü.txt', contentId: 'a' })];
  const change = { html: '<p>Hi</p>', attachments };
  const first = await bytesOf(change);
  expect((await bytesOf(change)).equals(first)).toBe(true);
  const other = await bytesOf({ ...change, boundarySeed: 'msg_another0000000' });
  expect(other.equals(first)).toBe(false);
  expect(first.includes('nodemailer')).toBe(false);
});

it('every line with attachments is legal on the wire', async () => {
  const attachments = [
    attachment({ filename: `${'x'.repeat(250)}.txt`, content: Buffer.alloc(5000) }),
    attachment({ filename: `${'ü'.repeat(250)}.txt`, contentType: 'text/plain' }),
  ];
  const message = (await bytesOf({ attachments, text: 'z'.repeat(5000) })).toString('latin1');
  expect(message.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0\x80-\xff]/);
  for (const line of message.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
});
