// The links of plain text: an address ends before the punctuation of the sentence (RFC 3986 C).
import { describe, expect, it } from 'vitest';
import { extractsOf, searchedPart } from '../../../../src/mail/mime/extracts/extracts.ts';
import { findLinks } from '../../../../src/mail/mime/extracts/find-link.ts';
import { startWork, workedMs } from '../../../support/work-time.ts';

const linksOf = (text: string) =>
  findLinks({ subject: null, text, html: null }).map(({ url }) => url);

const token = 'https://a.example/verify?token=abc-_123';

describe('a link of plain text', () => {
  it.each([
    ['before a full stop', `Open ${token}.`, [token]],
    ['before a full stop and a new sentence', `Open ${token}. Then wait.`, [token]],
    ['before a comma', `Open ${token}, please`, [token]],
    ['before a semicolon', `First ${token}; then wait`, [token]],
    ['before a colon', `At ${token}: enter it`, [token]],
    ['before an exclamation mark', `Go to ${token}!`, [token]],
    ['before a question mark', `Did you see ${token}?`, [token]],
    ['before several marks', `Did you see ${token}?!…`, [token]],
    ['before an ellipsis of dots', `Open ${token}...`, [token]],
    ['within parentheses', `Open it (${token}).`, [token]],
    ['at the end of parentheses', `Open it (see ${token}), please`, [token]],
    ['within brackets', `Open [${token}], please`, [token]],
    ['within braces', `Open {${token}}.`, [token]],
    ['within apostrophes', `Open '${token}'.`, [token]],
    ['within quotation marks', `Open "${token}".`, [token]],
    ['within typographic quotation marks', `Open “${token}”.`, [token]],
    ['within German quotation marks', `Öffne „${token}“.`, [token]],
    ['within guillemets', `Ouvrez «${token}».`, [token]],
    ['within asterisks', `Open **${token}**`, [token]],
    ['within underscores', `Open _https://a.example/x_ now`, ['https://a.example/x']],
    ['within backquotes', `Open \`${token}\`.`, [token]],
    [
      'of Markdown',
      `[Open](${token}) or [close](https://a.example/c).`,
      [token, 'https://a.example/c'],
    ],
    [
      'of Markdown without a space',
      `[a](${token})[b](https://b.example/)`,
      [token, 'https://b.example/'],
    ],
    ['in a table', `| ${token}| x`, [token]],
    ['before a Chinese full stop', `请打开${token}。谢谢`, [token]],
    ['before a Japanese comma', `リンク：${token}、または`, [token]],
    ['within full-width parentheses', `リンク（${token}）です`, [token]],
    ['within angle brackets', `Open <${token}>.`, [token]],
    [
      'folded within angle brackets',
      'Open <https://a.example/very/\r\n  long/path>.',
      ['https://a.example/very/long/path'],
    ],
    ['with the mark of RFC 3986', `Open <URL:${token}>`, [token]],
    ['in upper case', 'Open HTTPS://A.EXAMPLE/X.', ['HTTPS://A.EXAMPLE/X']],
  ])('is right %s', (_, text, links) => {
    expect(linksOf(text)).toEqual(links);
  });

  it.each([
    ['balanced parentheses', 'https://en.example/wiki/Set_(mathematics)'],
    ['balanced parentheses inside', 'https://en.example/wiki/Set_(a)_b'],
    ['nested parentheses', 'https://a.example/f(g(x))'],
    ['a matrix parameter', 'https://a.example/a;b=1,2/c'],
    ['a port and a query', 'https://a.example:8443/?q=a.b,c'],
    ['a hyphen and an underscore at its end', 'https://a.example/?t=abc_-'],
    ['a token that ends in an equals sign', 'https://a.example/?t=YWJj=='],
    ['a slash at its end', 'https://a.example/a/'],
    ['an address of IPv6', 'http://[2001:db8::1]/x'],
    ['letters beyond ASCII', 'https://a.example/größe'],
    ['a fragment', 'https://a.example/#/verify/1!2'],
  ])('keeps %s', (_, url) => {
    expect(linksOf(`See ${url}`)).toEqual([url]);
    expect(linksOf(`See ${url}.`)).toEqual([url]);
    expect(linksOf(`(See ${url})`)).toEqual([url]);
    expect(linksOf(`See (${url}).`)).toEqual([url]);
    expect(linksOf(`See <${url}>, ${url}, and "${url}"`)).toEqual([url, url, url]);
  });

  it('needs a host', () => {
    expect(linksOf('Begin it with https://, or http://. Then https://)')).toEqual([]);
  });

  it('has the words of its line', () => {
    const found = findLinks({ subject: null, text: `Hi\nOpen ${token}.\nBye`, html: null });
    expect(found).toEqual([{ url: token, text: `Open ${token}.` }]);
  });

  it.each(['https://', 'https://a(', 'https://a.example/).', '<https://a\n', "'https://a", '<'])(
    'is found in linear time in %j',
    (piece) => {
      const text = piece.repeat(Math.ceil(256_000 / piece.length));
      const started = startWork();
      linksOf(text);
      expect(workedMs(started)).toBeLessThan(1_000);
    },
  );
});

describe('codes and links of HTML', () => {
  it.each([
    ['a picture', `<img src="data:image/png;base64,${'A'.repeat(300_000)}">`],
    ['a style', `<style>${'p{color:red}'.repeat(25_000)}</style>`],
    ['many cells', '<td></td>'.repeat(40_000)],
  ])('are found behind 300 KB of %s', (_, before) => {
    const html = `${before}<p>Your code is <b>482913</b>: <a href="${token}">enter it</a></p>`;
    const { codes, links } = extractsOf(searchedPart({ subject: null, text: null, html }));
    expect([codes[0]?.value, links]).toEqual(['482913', [{ url: token, text: 'enter it' }]]);
  });
});
