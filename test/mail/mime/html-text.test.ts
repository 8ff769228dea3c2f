// The text made from HTML: words, lines, links, and a bounded time for any input.
import { describe, expect, it } from 'vitest';
import { fileTypeOf } from '../../../src/mail/mime/file-type.ts';
import { textOfHtml } from '../../../src/mail/mime/html-text.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { namedReferences } from './named-references.ts';

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
    // A quadratic algorithm takes minutes.
    expect(workedMs(started)).toBeLessThan(1_000);
  });
});

describe('the words of HTML', () => {
  const invisible = new Set(['shy', 'zwnj', 'zwj', 'lrm', 'rlm']);

  it.each(namedReferences.filter(([name]) => !invisible.has(name)))(
    'have the character of &%s;',
    (name, character) => {
      const shown = `a${character}b`.replace(/\s+/g, ' ');
      expect(textOfHtml(`<p>a&${name};b</p>`)).toBe(`${shown}\n`);
      expect(textOfHtml(`<a href="https://a.example/?&${name};=">x</a>`)).toBe(
        `x <https://a.example/?${character}=>\n`,
      );
    },
  );

  it.each([
    ['references without a semicolon', '&copy 2026 &AMPx', '© 2026 &x'],
    [
      'a query that looks like a reference',
      '<a href="https://a.example/?a=1&copy=2">x</a>',
      'x <https://a.example/?a=1&copy=2>',
    ],
    ['a greater-than sign in an attribute', '<p title="a > b">x</p>', 'x'],
    [
      'a greater-than sign in an address',
      '<a href="https://a.example/?a>b">x</a> y',
      'x <https://a.example/?a>b> y',
    ],
    ['a tag in an attribute', `<img alt="<b>Logo</b>"><p data-x='</p>'>x</p>`, '<b>Logo</b>\n\nx'],
    ['attributes without quotes', '<p title=a"b class=c>x</p>', 'x'],
    [
      'words behind a picture in their midst',
      'a<img src="data:image/png;base64,AA==" alt="Chart">b',
      'a Chart b',
    ],
    [
      'words behind 300 KB of picture',
      `<img src="data:image/png;base64,${'A'.repeat(300_000)}">after`,
      'after',
    ],
    [
      'words behind 300 KB of style',
      `<style>${'p{color:red}'.repeat(25_000)}</style><p>after</p>`,
      'after',
    ],
    ['words behind 300 KB of comment', `<!--${'x'.repeat(300_000)}--><p>after</p>`, 'after'],
    ['words behind 300 KB of tags', `${'<td></td>'.repeat(40_000)}<p>after</p>`, 'after'],
    [
      'words within 400 elements',
      `${'<table><tr><td><div>'.repeat(100)}deep${'</div></td></tr></table>'.repeat(100)}<p>after</p>`,
      'deep\n\nafter',
    ],
    ['words within 10,000 elements', `${'<div>'.repeat(10_000)}deep`, 'deep'],
    [
      'words behind 200 inline elements without an end',
      `${'<b><i>'.repeat(100)}deep<p>after`,
      'deep\n\nafter',
    ],
    ['empty lines of line breaks', 'a<br><br>b<br>c<div><br></div>d', 'a\n\nb\nc\n\nd'],
    ['a line break at the end of a block', '<div>a<br></div><div>b</div>', 'a\nb'],
    ['the lines of preformatted text', '<pre>a\n  b   c\n\nd</pre>e', 'a\n  b   c\n\nd\n\ne'],
    ['the lines of pre-wrap', '<div style="white-space:pre-wrap">a\nb</div>', 'a\nb'],
    ['numbers of a list', '<ol start="3"><li>a<li>b<li value=9>c</ol>', '3. a\n4. b\n9. c'],
    ['no mark of an empty item', '<ul><li></li><li>a</li></ul><p>b', '- a\n\nb'],
    ['a word that a zero-width space shapes', 'in&#8203;voice, mor<wbr>ning', 'invoice, morning'],
    ['a word with a soft hyphen', 'Donau&shy;dampf', 'Donaudampf'],
    ['joiners in Persian words', 'می\u200cخواهم', 'می\u200cخواهم'],
    ['a family of pictures', '👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
    [
      'cells and definitions',
      '<table><tr><td>a<td>b<tr><td>c</table><dl><dt>d<dd>e</dl>',
      'a b\nc\n\nd\ne',
    ],
    ['a button and its kind', '<button>Go</button> <input type=submit value="Send">', 'Go Send'],
    [
      'a section that Outlook does not show',
      '<![if !mso]>shown<![endif]><!--[if mso]>not<![endif]-->',
      'shown',
    ],
  ])('are right for %s', (_, html, text) => {
    expect(textOfHtml(html)).toBe(`${text}\n`);
  });

  it('are whole behind 262,144 characters', () => {
    const html = Array.from({ length: 30_000 }, (_, at) => `<p>Word${at}</p>`).join('');
    expect(textOfHtml(html).match(/Word\d+/g)).toHaveLength(30_000);
  });

  it.each([
    ['a preheader', '<div style="display:none;max-height:0">Pre</div><p>Hi</p>'],
    ['a picture', '<div style="display:none"><img alt="Pre"></div><p>Hi</p>'],
    ['a picture of its own style', '<img alt="Pre" style="display:none"><p>Hi</p>'],
    ['a link', '<div hidden><a href="https://a.example/Pre">Pre</a></div><p>Hi</p>'],
    ['a field', '<input type=hidden value=Pre><p>Hi</p>'],
    ['a field of a hidden form', '<form hidden><input value=Pre></form><p>Hi</p>'],
    ['an item', '<ul style="display:none"><li>Pre</li></ul><p>Hi</p>'],
    [
      'words behind deep elements',
      `<div hidden>${'<div>'.repeat(300)}a${'</div>'.repeat(300)}Pre</div><p>Hi</p>`,
    ],
  ])('leave out %s that is hidden', (_, html) => {
    expect(textOfHtml(html)).toBe('Hi\n');
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
