// CSS that is read before css-inline: its loads are refused and its costs are bounded.
import { describe, expect, it } from 'vitest';
import { checkBrandCss, cssLimits, readCss } from '../../../src/content/rendering/css.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

describe('CSS of a brand', () => {
  it('accepts the CSS of mails', () => {
    const css = `/* Buttons */
      .button, a:hover > b[data-x="}"] { background: url(https://example.com/a.png) no-repeat; }
      .icon { background: url('data:image/png;base64,AAAA'); content: "a\\"b;}"; }
      @media only screen and (max-width: 480px) { .button { width: 100% !important } }
      @media (width < 400px) { .x { color: rgb(1, 2, 3) } }
      @font-face { font-family: X; src: url("https://example.com/x.woff2") format('woff2') }
      [data-ogsc] .dark { color: #fff !important; }`;
    expect(checkBrandCss(css)).toBeNull();
    expect(checkBrandCss('')).toBeNull();
  });

  const bad: Record<string, [css: string, problem: RegExp]> = {
    '@import': ['p{}\n@import "https://example.com/a.css";', /^line 2: @import/],
    'an escaped @import': ['@\\69mport url(https://example.com/a.css);', /^line 1: @import/],
    'http:': ['p{\nbackground:url(http://example.com/a.png)}', /^line 2: an address/],
    'http: in quotes': ['p{background:url( "http://example.com/a.png" )}', /an address/],
    'http: behind an escape': ['p{background:u\\72l(http://example.com)}', /an address/],
    'an escaped address': ['p{background:url(\\68ttp://example.com)}', /an address/],
    'a relative address': ['p{background:url(/a.png)}', /an address/],
    'an empty address': ['p{background:url()}', /an address/],
    'javascript:': ['p{background:url(javascript:alert)}', /an address/],
    'brackets in an address': ['p{background:url(javascript:alert(1))}', /url\(\) needs quotes/],
    'data that is no image': ['p{background:url(data:text/html,x)}', /an address/],
    'http: in image-set': ['p{background:image-set("http://example.com/a" 1x)}', /an address/],
    'http: in url within image-set': ['p{x:image-set(url(http://example.com/a) 1x)}', /an address/],
    'the end of the element': ['p{}</style><script>', /^line 1: <\/style is not CSS/],
    'the end of the element in a string': [
      'p{content:"\n</STYLE>"}',
      /^line 2: <\/STYLE is not CSS/,
    ],
    'an HTML comment': ['<!-- p{} -->', /<!-- is not CSS/],
    Liquid: ['p{}\n\np{color:{{ x }}}', /^line 3: .*no Liquid/],
    'a Liquid tag': ['p{content:"{% render %}"}', /no Liquid/],
    'a missing bracket': ['p{color:red', /^line 1: \} is missing/],
    'a bracket too many': ['p{}}', /closes nothing/],
    'crossed brackets': ['p{a:(}', /closes nothing/],
    'an open comment': ['p{}/* ', /comment is not closed/],
    'nested brackets': [`p{a:${'('.repeat(90_000)}`, /nested more than 16/],
    'nested rules': ['@media x{'.repeat(9_000), /nested more than 16/],
    'nested selectors': [`${':not('.repeat(9_000)}`, /nested more than 16/],
    'many rules': ['p{}'.repeat(cssLimits.rules + 1), /more than 2000 rules/],
    'many selectors': [`${'*,'.repeat(cssLimits.selectors)}*{}`, /more than 8000 parts/],
    'many descendants': [`${'* '.repeat(cssLimits.selectors)}*{}`, /more than 8000 parts/],
    'many declarations': [`p{${'a:b;'.repeat(cssLimits.declarations)}c:d}`, /8000 declarations/],
    '101 KB': [`/*${'é'.repeat(51 * 1024)}*/`, /at most 100 KB/],
    NUL: ['p{}\0', /NUL/],
  };
  for (const [name, [css, problem]] of Object.entries(bad)) {
    it(`refuses ${name}`, () => {
      expect(checkBrandCss(css)).toMatch(problem);
    });
  }

  it.each([
    ['blanks in url()', 'p{a:url(', ' '],
    ['blanks after an address', 'p{a:url(https://a.example/a', '\t'],
    ['strings in nested brackets', `p{a:${'(['.repeat(7)}`, '"",'],
    ['strings in nested images', `p{a:${'image('.repeat(14)}`, '"https://a.example",'],
  ])('reads 100 KB of %s in 50 ms', (_what, from, one) => {
    const css = from + one.repeat((cssLimits.brandBytes - from.length) / one.length);
    const before = startWork();
    expect(checkBrandCss(css)).toMatch(/^line 1: /);
    expect(workedMs(before)).toBeLessThan(50);
  });

  it('reads 100 KB of any one character in 50 ms', () => {
    for (const one of [
      '\\',
      '"',
      '(',
      'a',
      ' ',
      '@',
      'a(',
      'url(',
      'a:b;',
      '*',
      '\\a',
      "'\\",
      '<',
    ]) {
      const css = one.repeat((cssLimits.brandBytes - 2) / one.length);
      for (const text of [css, `p{${css}`]) {
        const before = startWork();
        checkBrandCss(text);
        expect(workedMs(before), one).toBeLessThan(50);
      }
    }
  });
});

describe('counts of a style sheet', () => {
  it('counts the parts of selectors, declarations and properties', () => {
    const css = '.a > b ~ c, d:not(.e, .f){color:red;width:1px} @media x{p{COLOR:blue}}';
    expect(readCss(css)).toEqual({
      rules: 3,
      selectors: 9,
      declarations: 3,
      properties: 2,
      characters: css.length,
    });
  });
});
