// Labels of charsets in texts, subjects and names of files; bytes without a label.
import { describe, expect, it } from 'vitest';
import { decodeText, withKnownCharsets } from '../../../../src/mail/mime/charset/charset.ts';
import { decodeWords } from '../../../../src/mail/mime/headers/header-values.ts';
import { parseMime } from '../../../../src/mail/parse/parse-mime.ts';

const hex = (bytes: string) => Buffer.from(bytes.replaceAll(' ', ''), 'hex');

describe('a text with a charset label', () => {
  it.each([
    ['iso-2022-kr', '1b242943 0e 4757 3138 0f 20 6f6b', '항구 ok'],
    ['csISO2022KR', '0e 4757 0a 6f6b', '항\nok'],
    ['hz-gb-2312', '7e7b385b3f5a7e7d', '港口'],
    ['HZ', '617e7e62', 'a~b'],
    ['hz-gb-2312', '617e0a62', 'ab'],
    ['hz', '7e7b385b0a6f6b', '港\nok'],
    ['johab', 'd065 61', '한a'],
    ['johab', '8861', '가'],
    ['johab', '8841', 'ㄱ'],
    ['johab', '88', '\ufffd'],
    ['johab', 'ffff', '\ufffd'],
    ['uhc', '8c63', '똠'],
    ['x-mac-cyrillic', '8fe0', 'Па'],
    ['csISO2022JP', '1b2442 3271 3544 1b2842', '会議'],
    ['cp50220', '1b2442 3271 1b2842', '会'],
    ['"utf-8"', 'c3bc', 'ü'],
    ['utf-16le', 'fffe 6100', 'a'],
  ])('in %s is read: %s', (label, bytes, text) => {
    expect(decodeText(hex(bytes), label)).toEqual({ text, isKnown: true });
  });

  it('of an unknown charset is read by its bytes, and reported', () => {
    expect(decodeText(hex('fc'), 'x-none-such')).toEqual({ text: 'ü', isKnown: false });
    expect(decodeText(hex('c3bc'), 'base64')).toEqual({ text: 'ü', isKnown: false });
  });
});

describe('a text without a usable label', () => {
  it.each([undefined, '', '""', 'us-ascii', 'ANSI_X3.4-1968', 'unknown-8bit', '8bit', 'binary'])(
    'under %j is read as UTF-8, else as Windows-1252',
    (label) => {
      expect(decodeText(hex('c3bc'), label).text).toBe('ü');
      expect(decodeText(hex('fc 80'), label).text).toBe('ü€');
    },
  );

  it('is read as Windows-1252 if its last letter only begins a character of UTF-8', () => {
    expect(decodeText(hex('4d656e fc'), undefined).text).toBe('Menü');
  });

  it('is read as UTF-8 although a cut ends within a character', () => {
    expect(decodeText(hex('c3bc e282'), undefined, { isCut: true }).text).toBe('ü\ufffd');
  });

  it.each([
    ['<meta charset=koi8-r>', 'п'],
    ["<META CHARSET = 'KOI8-R' >", 'п'],
    ['<meta http-equiv="content-type" content="text/html;charset=koi8-r">', 'п'],
    ['<meta content="text/html; charset=koi8-r">', 'Ð'],
    ['<!--<meta charset=koi8-r>-->', 'Ð'],
    ['<meta charset=nonsense>', 'Ð'],
    ['<meta name=charset content=koi8-r>', 'Ð'],
    ['<meta charset=us-ascii>', 'Ð'],
    ['<meta charset=koi8-r><meta charset=utf-8>', 'п'],
    ['<meta charset=utf-16>', '\ufffd'],
  ])('in HTML has the charset of %s', (meta, letter) => {
    const bytes = Buffer.concat([Buffer.from(meta), hex('d0')]);
    expect(decodeText(bytes, undefined, { isHtml: true }).text).toBe(meta + letter);
  });
});

describe('an encoded word', () => {
  it.each([
    ['=?iso-2022-kr?B?GyQpQw5HVzE4Dw==?=', '항구'],
    ['=?HZ-GB-2312?B?fns4Wz9afn0=?=', '港口'],
    ['=?uhc?B?jGO55g==?=', '똠방'],
    ['=?csISO2022JP?B?GyRCMnE1RBsoQg==?=', '会議'],
    ['=?cp50221?B?GyRCMnE1RBsoQg==?= =?cp50221?B?GyRCMnEbKEI=?=', '会議会'],
    ['=?x-mac-cyrillic?Q?=8F=F0=E8?=', 'При'],
    ['=?utf-8?Q?caf=C3=A9?=', 'café'],
    ['=?johab*ko?Q?=88a_x?=', '가 x'],
  ])('is decoded: %s', (word, text) => {
    expect(decodeWords(word)).toBe(text);
  });

  it('in a charset that libmime reads stays as it is', () => {
    expect(withKnownCharsets('=?koi8-r?B?0A==?=')).toBe('=?koi8-r?B?0A==?=');
  });

  it('names a file', async () => {
    const raw = [
      'From: a@b.example',
      'Content-Type: application/pdf; name="=?iso-2022-kr?B?GyQpQw5HVzE4Dw==?=.pdf"',
      '',
      'x',
    ].join('\r\n');
    const { attachments } = await parseMime(Buffer.from(raw));
    expect(attachments.map(({ filename }) => filename)).toEqual(['항구.pdf']);
  });
});
