// Raw UTF-8 in the header of mail that was handed in, which most servers take only as encoded
// words.
import libmime from 'libmime';
import { describe, expect, it } from 'vitest';
import { encodeRawHeader } from '../../../src/mail/mime/headers/raw-header.ts';

const encode = (header: string) =>
  encodeRawHeader(Buffer.from(`${header}\r\n\r\nü\r\n`)).toString();

describe('a raw header', () => {
  it.each([
    ['Subject: Grüße', 'Subject: =?utf-8?B?R3LDvMOfZQ==?='],
    ['subject:  Grüße\r\n und so', 'subject: =?utf-8?B?R3LDvMOfZSB1bmQgc28=?='],
    ['Subject: =?utf-8?Q?=C3=BC?= ä', 'Subject: =?utf-8?B?w7wgw6Q=?='],
    ['X-Note: ü\r\nTo: a@b.example', 'X-Note: =?utf-8?B?w7w=?=\r\nTo: a@b.example'],
    ['From: "Jürgen, J." <j@b.example>', 'From: =?utf-8?B?SsO8cmdlbiwgSi4=?= <j@b.example>'],
    ['To: Grüppe: a@example;', 'To: =?utf-8?B?R3LDvHBwZQ==?= : a@example;'],
    ['To: "Zoë: x; y" <z@b.example>', 'To: =?utf-8?B?Wm/DqzogeDsgeQ==?= <z@b.example>'],
    ['Cc: a@b.example (Zoë)', 'Cc: a@b.example (=?utf-8?B?Wm/Dqw==?=)'],
    [
      'Reply-To: Zoë (Büro) <z@b.example>',
      'Reply-To: =?utf-8?B?Wm/Dqw==?= (=?utf-8?B?QsO8cm8=?=) <z@b.example>',
    ],
    [
      'Sender: =?utf-8?Q?J=C3=BCrgen?= Zoë <j@b.example>',
      'Sender: =?utf-8?B?SsO8cmdlbiBab8Or?= <j@b.example>',
    ],
    ['Resent-To: Zoë\r\n\t<z@b.example>', 'Resent-To: =?utf-8?B?Wm/Dqw==?= <z@b.example>'],
    ['List-Id: Grüße <n.b.example>', 'List-Id: =?utf-8?B?R3LDvMOfZQ==?= <n.b.example>'],
    ['Keywords: ü, b', 'Keywords: =?utf-8?B?w7w=?= , b'],
    ['To: j@bücher.example', 'To: j@xn--bcher-kva.example'],
    ['Content-Type: text/plain; name="ü"', "Content-Type: text/plain; name*=utf-8''%C3%BC"],
    [
      'Content-Disposition: attachment; filename="a; ü.pdf"; size=1',
      "Content-Disposition: attachment; filename*=utf-8''a%3B%20%C3%BC.pdf; size=1",
    ],
    [
      "Content-Disposition: attachment; filename=ü.pdf; filename*=utf-8''%C3%BC.pdf",
      "Content-Disposition: attachment; filename*=utf-8''%C3%BC.pdf",
    ],
    ['Cc: Zoë <z@b.example>, b@b.example', 'Cc: =?utf-8?B?Wm/Dqw==?= <z@b.example>, b@b.example'],
  ])('%j becomes %j', (given, expected) => {
    expect(encode(given)).toBe(`${expected}\r\n\r\nü\r\n`);
  });

  it.each([
    'Subject: plain',
    'To: jürgen@b.example',
    'Content-Type: text/plain; charset="ü"',
    'Content-Type: text/plän; name="u"',
    'Message-ID: <grüße@b.example>',
    'In-Reply-To: <grüße@b.example>',
    'Date: Mo, 05 Jän 2026 11:59:00 +0000',
    'List-Unsubscribe: <https://b.example/ü>',
    'Content-Language: größe',
    'List-Id: <größe.b.example>',
    'To: "Zoë <z@b.example>',
    'DKIM-Signature: v=1; h=From:Subject; b=x\r\nSubject: Grüße',
    'DKIM-Signature: v=1;\r\n h=from:\r\n  to ; b=x\r\nTO: Zoë <z@b.example>',
    'Subject: Grüße\r\nDKIM-Signature: a=b; h = subject; b=x',
  ])('%j stays', (header) => {
    expect(encode(header)).toBe(`${header}\r\n\r\nü\r\n`);
  });

  it('encodes the fields that a signature of the author leaves out', () => {
    const signature = 'DKIM-Signature: v=1; d=b.example; h=From:To; b=Zm9v';
    expect(encode(`${signature}\r\nSubject: Grüße\r\nTo: Zoë <z@b.example>`)).toBe(
      `${signature}\r\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\r\nTo: Zoë <z@b.example>\r\n\r\nü\r\n`,
    );
  });

  it('writes a long file name in sections that decode to it', () => {
    const name = `${'Größe '.repeat(30)}.pdf`;
    const encoded = encode(`Content-Disposition: attachment; filename="${name}"`);
    for (const line of encoded.split('\r\n')) expect(line.length).toBeLessThanOrEqual(80);
    const field = encoded.split('\r\n\r\n')[0]?.replaceAll('\r\n', '') ?? '';
    const { params } = libmime.parseHeaderValue(field.slice(field.indexOf(':') + 1));
    expect(libmime.decodeWords(params.filename ?? '')).toBe(name);
  });

  it('keeps bytes that are not UTF-8', () => {
    const raw = Buffer.from('Subject: ü\r\n\r\nx\r\n', 'latin1');
    expect(encodeRawHeader(raw)).toEqual(raw);
  });
});
