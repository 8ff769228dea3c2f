// Codes and links found in mail, for tests of software that sends them.
import { describe, expect, it } from 'vitest';
import { extractsOf, searchedPart } from '../../../../src/mail/mime/extracts/extracts.ts';
import { findCode } from '../../../../src/mail/mime/extracts/find-code.ts';
import { findLink } from '../../../../src/mail/mime/extracts/find-link.ts';
import { startWork, workedMs } from '../../../support/work-time.ts';
import { type CodeMail, codeMails, mailsWithoutCode } from './mails.ts';

const nothing = { subject: null, text: null, html: null };
const codeOf = ({ subject, text, html }: Omit<CodeMail, 'code'>) =>
  findCode({ subject: subject ?? null, text: text ?? null, html: html ?? null });

describe('the code of a mail', () => {
  it.each(codeMails.map((one) => [one.shape, one] as const))('is found: %s', (_shape, one) => {
    expect(codeOf(one)).toBe(one.code);
  });

  it.each(codeMails.map((one) => [one.shape, one] as const))(
    'is found in the HTML alone: %s',
    (_shape, { text = '', html, ...one }) => {
      const lines = text.replaceAll('&', '&amp;').split('\n');
      const asHtml = html ?? lines.map((line) => `<div>${line}</div>`).join('');
      expect(codeOf({ ...one, html: asHtml })).toBe(one.code);
    },
  );

  it.each(mailsWithoutCode.map((one) => [one.shape, one] as const))(
    'is never one of %s',
    (_shape, one) => {
      expect(codeOf(one)).toBeNull();
    },
  );

  it.each([
    ['a picture in its address', `<img src="data:image/png;base64,${'A'.repeat(600_000)}">`],
    ['a style sheet', `<style>${'.a { color: #123456 }\n'.repeat(20_000)}</style>`],
    ['a comment', `<!-- ${'x '.repeat(200_000)} -->`],
    ['long attributes', `<p title="${'y'.repeat(900)}"></p>`.repeat(400)],
  ])('is found behind %s', (_what, markup) => {
    const html = `${markup}<p>Your code is 482913</p><a href="https://a.example/b">Go</a>`;
    const { codes, links } = extractsOf(searchedPart({ ...nothing, html }));
    expect(codes.map(({ value }) => value)).toEqual(['482913']);
    expect(links.map(({ url }) => url)).toEqual(['https://a.example/b']);
  });

  it('is searched in linear time in hostile mail', () => {
    const texts = ['1 '.repeat(500_000), 'code '.repeat(200_000), '4829 code\n'.repeat(100_000)];
    const htmls = [
      '<div>'.repeat(100_000),
      '<b style="font:'.repeat(50_000),
      '<td>1'.repeat(90_000),
    ];
    const started = startWork();
    for (const text of texts) findCode({ ...nothing, subject: text, text });
    for (const html of htmls) findCode({ ...nothing, html });
    expect(workedMs(started)).toBeLessThan(5_000);
  });
});

describe('the link of a mail', () => {
  it.each([
    [
      '<link href="https://fonts.example/a.css"><a href="https://b.example/?a=1&amp;b=2">x</a>',
      'https://b.example/?a=1&b=2',
    ],
    ["<A HREF='https://b.example/x'>x</A>", 'https://b.example/x'],
    ['<a href="mailto:a@b.example">x</a><a href="https://b.example">y</a>', 'https://b.example'],
    [
      '<!-- <a href="https://no.example">x</a> --><a href=https://b.example/y>y</a>',
      'https://b.example/y',
    ],
  ])('is the first of %s', (html, link) => {
    expect(findLink({ ...nothing, html })).toBe(link);
  });

  it('is taken from the text of a mail without links in its HTML', () => {
    const mail = { subject: 'x', text: 'see (https://b.example/x)', html: '<p>x</p>' };
    expect(findLink(mail)).toBe('https://b.example/x');
  });
});
