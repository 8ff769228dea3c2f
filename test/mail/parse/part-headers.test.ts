// One reader reads the header of a mail and the headers of its parts (header-fields.ts); mailparser
// gets only the Content-* fields that it found.
import { describe, expect, it } from 'vitest';
import type { MailAttachment } from '../../../src/mail/mime/parsed-mail.ts';
import { runParser, splitMail } from '../../../src/mail/parse/body.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';

const type = 'Content-Type: application/pdf';
const disposition = 'Content-Disposition: attachment';

/** Headers of an attachment by their oddity, as Latin-1. */
const headers: Readonly<Record<string, string>> = {
  comments: `${type} (portable); name="a.pdf" (name)\n${disposition} (saved); filename="a.pdf"`,
  'raw UTF-8': `${type}\n${disposition}; filename="${Buffer.from('ü').toString('latin1')}.pdf"`,
  'raw Windows-1252': `${type}\n${disposition}; filename="gr\xfc\xdfe.pdf"`,
  'a folded file name': `${type}\n${disposition}; \n\t filename="a \n b.pdf"`,
  'a space before the colon': `Content-Type : application/pdf\n${disposition}; filename=a.pdf`,
  'fields given twice': `${type}\nContent-Type: text/html\n${disposition}\nContent-Disposition: inline`,
  'an encoded word': `${type}\n${disposition}; filename="=?utf-8?Q?a=2Epdf?="`,
  'a word in an unknown charset': `${type}\n${disposition}; filename="=?x-none?B?YWI=?=.pdf"`,
  'raw bytes in a word': `${type}\n${disposition}; filename="=?iso-8859-1?Q?gr\xfc?=.pdf"`,
  'sections of a file name': `${type}\n${disposition}; filename*0*=utf-8''a%20; filename*1=b.pdf`,
  'control characters': `${type}\n${disposition}; filename="a\x01\x7f\tb.pdf"`,
  'a field of 70,000 bytes': `${type}\n${disposition}; x="${'y'.repeat(70_000)}"; filename=a.pdf`,
  'an id with a comment':
    'Content-Type: image/png\nContent-ID: <a@b> (c)\nContent-Disposition: inline',
};

const mailOf = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1');
const from = 'From: a@b.example\nMIME-Version: 1.0\n';
const multipart = `${from}Content-Type: multipart/mixed; boundary=b\n`;

async function attachmentOf(raw: Buffer): Promise<Partial<MailAttachment> | null> {
  const [found] = (await parseMime(raw)).attachments;
  if (!found) return null;
  const { filename, contentType, contentId, disposition } = found;
  return { filename, contentType, contentId, disposition };
}

describe('the header of a part', () => {
  it.each(Object.entries(headers))('with %s reads as the header of a mail', async (_name, head) => {
    const ofMail = await attachmentOf(mailOf(`${from}${head}\n\nhello\n`));
    expect(ofMail).not.toBeNull();
    expect(await attachmentOf(mailOf(`${multipart}\n--b\n${head}\n\nhello\n--b--\n`))).toEqual(
      ofMail,
    );
  });

  it('reaches mailparser without fields other than Content-*', async () => {
    const head = `From: x@y.example\nReferences: ${'<a@b> '.repeat(500)}\nList-Id: <l>\n${type}`;
    const raw = mailOf(`${multipart}\n--b\n${head}\n\nhello\n--b--\n`);
    const { tree } = await runParser(splitMail(raw), ({ content, release }) => {
      content.on('end', () => release?.()).resume();
    });
    const [part] = tree?.children ?? [];
    const { headers: read } = part as unknown as { headers: Map<string, unknown> };
    expect([...read.keys()]).toEqual(['content-type']);
  });
});

describe('the type of a mail', () => {
  it.each([
    'multipart/report; report-type=delivery-status; boundary=b',
    'multipart/report (a bounce); report-type=delivery-status (of mail); boundary=b',
  ])('%s makes it a report', async (value) => {
    const report = 'Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n';
    const raw = mailOf(`${from}Content-Type: ${value}\n\n--b\n\nhi\n--b\n${report}--b--\n`);
    expect((await parseMime(raw)).reportType).toBe('delivery-status');
  });
});
