// The text made from HTML: words, lines, links, and a bounded time for any input.
import { describe, expect, it } from 'vitest';
import { fileTypeOf } from '../../../src/mail/mime/file-type.ts';
import { textOfHtml } from '../../../src/mail/mime/html-text.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

describe('the text of HTML', () => {
  it('has its words, paragraphs, lists, cells and links', () => {
    const html = `<!doctype html><html><head><title>No</title><style>p{}</style></head><body>
      <h1>Hello&nbsp;Ada</h1><!-- <p>no</p> --><p>Your  <b>order</b>&#160;is
      on its way&hellip;<br>See <a href="https://a.example/t?x=1&amp;y=2">where it is</a>.</p>
      <ul><li>One</li><li>Two &lt;3</li></ul>
      <table><tr><td>Sum</td><td>7 &euro;</td></tr><tr><td>VAT</td><td>1 &#x20AC;</td></tr></table>
      <img src="x" alt="Our logo"><script>no()</script><a href="#top">Top</a>
      <a href="https://a.example">https://a.example</a></body></html>`;
    expect(textOfHtml(html)).toBe(
      [
        'Hello Ada',
        '',
        'Your order is on its way…',
        'See where it is <https://a.example/t?x=1&y=2>.',
        '',
        '- One',
        '- Two <3',
        '',
        'Sum 7 €',
        'VAT 1 €',
        '',
        'Our logo Top https://a.example',
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['nothing', '', ''],
    ['an image alone', '<img src="x">', ''],
    ['no tag at all', 'a < b & c > d', 'a < b & c > d\n'],
    ['an unclosed comment', 'a<!-- b', 'a\n'],
    ['an unclosed tag', 'a<p b', 'a\n'],
    ['an unclosed script', 'a<script>b', 'a\n'],
    ['entities decoded once', '&amp;lt;b&amp;gt;', '&lt;b&gt;\n'],
    ['invalid entities', '&nope; &#0; &#xD800; &#1114112;', '&nope; \ufffd \ufffd \ufffd\n'],
    ['the padding of a preview', 'Hi&zwnj;&nbsp;&zwnj;&nbsp;&#8203;<p>there', 'Hi\n\nthere\n'],
  ])('is right for %s', (_, html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  it.each([
    ['nested tags', '<div>'],
    ['tags without an end', '<a'],
    ['less-than signs', '<'],
    ['comments', '<!--'],
    ['scripts', '<script>'],
    ['links', '<a href="https://a.example">'],
    ['open quotes', '<a href="'],
    ['ampersands', '&'],
    ['spaces', ' \n'],
    ['attributes', '<img alt='],
  ])('takes time linear in a megabyte of %s', (_, piece) => {
    const html = `${piece.repeat(Math.ceil(1_048_576 / piece.length))}>end`;
    const started = startWork();
    textOfHtml(html);
    // 256 KB of them are read; a quadratic algorithm takes seconds.
    expect(workedMs(started)).toBeLessThan(1_000);
  });
});

describe('the type of a file', () => {
  it.each([
    ['invoice.pdf', 'application/pdf'],
    ['PHOTO.JPEG', 'image/jpeg'],
    ['data.csv', 'text/csv'],
    ['event.ics', 'text/calendar'],
    ['mail.eml', 'application/octet-stream'],
    ['README', 'application/octet-stream'],
    ['.', 'application/octet-stream'],
    ['x.unheard-of', 'application/octet-stream'],
  ])('%s is %s', (name, type) => {
    expect(fileTypeOf(name)).toBe(type);
  });
});
