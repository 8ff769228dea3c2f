// Fields of a mailing list in the header (RFC 2369, RFC 2919, RFC 8058), and the line that lists
// show of a mail.
import { describe, expect, it } from 'vitest';
import { readHeaderBlock } from '../../../src/mail/mime/headers/header-fields.ts';
import { readListHeaders } from '../../../src/mail/parse/list-headers.ts';
import { previewOf } from '../../../src/mail/parse/preview.ts';

const read = (...fields: string[]) =>
  readListHeaders(readHeaderBlock(Buffer.from(`${fields.join('\r\n')}\r\n\r\n`)));

describe('the List-Id of a mail', () => {
  it.each([
    ['List-Id: <News.Example.com>', 'news.example.com'],
    ['List-ID: "The <weekly> news" <news.example.com>', 'news.example.com'],
    ['List-Id: =?utf-8?q?Gr=C3=BC=C3=9Fe?= <gruesse.example.com>', 'gruesse.example.com'],
    ['List-Id: news.example.com', 'news.example.com'],
    ['List-Id: the weekly news', null],
    ['List-Id: <>', null],
    [`List-Id: <${'x'.repeat(256)}>`, null],
    ['Subject: none', null],
  ])('is read from %s as %s', (field, id) => {
    expect(read(field).listId).toBe(id);
  });
});

describe('the other fields of a list', () => {
  it('are kept unchanged, and no others', () => {
    const fields = [
      'List-Id: <a.example>',
      'List-Post: <mailto:a@a.example>',
      'list-unsubscribe: <https://a.example/u>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'X-List-Id: no',
      'Listing: no',
    ];
    expect(read(...fields).listHeaders).toEqual([
      { name: 'List-Id', value: '<a.example>' },
      { name: 'List-Post', value: '<mailto:a@a.example>' },
      { name: 'list-unsubscribe', value: '<https://a.example/u>' },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    ]);
  });

  it('are 20 at most, of 2,000 characters each', () => {
    const { listHeaders } = read(...Array(50).fill(`List-Help: ${'x'.repeat(5_000)}`));
    expect(listHeaders).toHaveLength(20);
    expect(new Set(listHeaders.map(({ value }) => value.length))).toEqual(new Set([2_000]));
  });
});

describe('the preview of a mail', () => {
  const nothing = { newContent: null, quotedContent: null, text: null };

  it.each([
    [
      'one line of the new content',
      { newContent: ' Hello,\r\n\r\n\tAda  here. ' },
      'Hello, Ada here.',
    ],
    [
      'of the quoted content without a new one',
      { newContent: '\n', quotedContent: '> Hi' },
      '> Hi',
    ],
    ['of the text when it was not split', { text: 'Hi' }, 'Hi'],
    ['free of invisible characters', { newContent: 'a\u200b\u034f\u202eb\u0007' }, 'ab'],
    ['null without words', { newContent: ' \u200b ' }, null],
    ['null without a text', {}, null],
  ])('is %s', (_what, mail, preview) => {
    expect(previewOf({ ...nothing, ...mail })).toBe(preview);
  });

  it('is cut at 200 characters without splitting one', () => {
    const preview = previewOf({ ...nothing, newContent: `${'x'.repeat(199)}\u{1f600} and more` });
    expect(preview).toHaveLength(200);
    expect(preview?.isWellFormed()).toBe(true);
  });
});
