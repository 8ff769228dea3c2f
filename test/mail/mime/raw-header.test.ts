// Raw UTF-8 in the header of mail that was handed in, which most servers take only as encoded words.
import { describe, expect, it } from 'vitest';
import { encodeRawHeader } from '../../../src/mail/mime/raw-header.ts';

const encode = (header: string) =>
  encodeRawHeader(Buffer.from(`${header}\r\n\r\nü\r\n`)).toString();

describe('a raw header', () => {
  it.each([
    ['Subject: Grüße', 'Subject: =?utf-8?B?R3LDvMOfZQ==?='],
    ['subject:  Grüße\r\n und so', 'subject: =?utf-8?B?R3LDvMOfZSB1bmQgc28=?='],
    ['Subject: =?utf-8?Q?=C3=BC?= ä', 'Subject: =?utf-8?B?w7wgw6Q=?='],
    ['X-Note: ü\r\nTo: a@b.example', 'X-Note: =?utf-8?B?w7w=?=\r\nTo: a@b.example'],
    ['From: "Jürgen, J." <j@b.example>', 'From: =?utf-8?B?SsO8cmdlbiwgSi4=?= <j@b.example>'],
    ['Cc: Zoë <z@b.example>, b@b.example', 'Cc: =?utf-8?B?Wm/Dqw==?= <z@b.example>, b@b.example'],
  ])('%j becomes %j', (given, expected) => {
    expect(encode(given)).toBe(`${expected}\r\n\r\nü\r\n`);
  });

  it.each([
    'Subject: plain',
    'To: jürgen@b.example',
    'To: Grüppe: a@b.example;',
    'Content-Type: text/plain; name="ü"',
  ])('%j stays', (header) => {
    expect(encode(header)).toBe(`${header}\r\n\r\nü\r\n`);
  });

  it('keeps bytes that are not UTF-8', () => {
    const raw = Buffer.from('Subject: ü\r\n\r\nx\r\n', 'latin1');
    expect(encodeRawHeader(raw)).toEqual(raw);
  });
});
