// The look that a page takes from the CSS of a brand: read, checked for contrast, written anew.
import { describe, expect, it } from 'vitest';
import { cssLookOf } from '../../../src/content/brands/css-look.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

const none = { back: null, text: null, heading: null, button: null, corners: null, font: null };

describe('the look of a page', () => {
  it.each([
    ['in a selector', `a${String.raw`\"`.repeat(50_000)}{color:red}`],
    ['in a value', `a{b:${String.raw`\"`.repeat(50_000)}}`],
    ['in an address', `a{b:url(data:image/png,${String.raw`\"`.repeat(50_000)})}`],
    ['of both kinds', `a{b:${String.raw`\"\'`.repeat(25_000)}}`],
  ])('reads CSS with many escaped quotes %s at once', (_, css) => {
    const start = startWork();
    cssLookOf(css);
    expect(workedMs(start)).toBeLessThan(100);
  });

  it('comes from body, h1 and buttons', () => {
    const css = `
      body { background: #F6F3EC; color: #222; font-family: Georgia, "Times New Roman", serif }
      h1, h2 { color: rgb(120, 20, 20) }
      a.button, .other { background-color: #7a1f1f !important; color: white; border-radius: 4px; }`;
    expect(cssLookOf(css)).toEqual({
      ...{ back: '#f6f3ec', text: '#222222', heading: '#781414', corners: '4px' },
      button: { back: '#7a1f1f', text: '#ffffff' },
      font: '"Georgia", "Times New Roman", serif',
    });
  });

  it('takes the last of equal declarations', () => {
    expect(cssLookOf('h1 { color: #111; color: #222 } H1 { COLOR : #333 }').heading).toBe(
      '#333333',
    );
  });

  it('takes the colour of links for buttons without one', () => {
    expect(cssLookOf('a { color: #14599e }').button).toEqual({ back: '#14599e', text: '#ffffff' });
  });

  it('leaves out a button that is hard to see on white', () => {
    expect(cssLookOf('.button { background: #e8a100; color: #000 }').button).toBeNull();
  });

  it('chooses text that can be read on the button', () => {
    const dark = '.button { background: #0a7a3c; color: #0a7a3d }';
    expect(cssLookOf(dark).button).toEqual({ back: '#0a7a3c', text: '#ffffff' });
  });

  it.each([
    'body { color: #fff } h1 { color: #ddd } a { color: #eee }',
    '@media (min-width: 1px) { h1 { color: #111 } }',
    '@supports (color: red) { h1 { color: #111 } .button { background: #111 } }',
    'div h1 { color: #111 } h1.big { color: #111 } h1:hover { color: #111 }',
    'h1 { color: var(--x) } body { color: red; background: url(https://a.example/a.png) #111 }',
    'h1 { color: #11 } body { color: rgb(300, 0, 0); background: #1234567 }',
    'h1 { color: expression(alert(1)) } h1 { display: none }',
    '/* h1 { color: #111 } */ .x { content: "} h1 { color: #111 } .y {" }',
    'button { border-radius: 9999px } button { display: none; opacity: 0; font-size: 0 }',
    'button { border-radius: calc(1px); border-radius: 1px 2px; border-radius: -1px }',
    'body { font-family: "a</style><script>alert(1)</script>" }',
    'body { font-family: a; } body { font-family: "x\\"; } main { display: none } y {" }',
    'body { font-family: url(https://a.example/f), serif }',
    'body { font-family: a, b, c, d, e, f, g, h, i }',
    'h1 { } color: #111;',
    'body { background: url(data:image/png;color:#111;base64,AA) }',
    '} h1 { color: ',
    'h1 { color: #111',
    '"h1 { color: #111; }',
    '',
  ])('takes nothing from %j', (css) => {
    expect(cssLookOf(css)).toEqual(none);
  });

  it('writes only colours, lengths and quoted names', () => {
    const css = `body { background: #fff; color: #000; font-family: a, 'b c', -apple-system, SERIF }
      .button { background: #000; border-radius: 1.5rem } h1 { color: #000 }`;
    const { button, ...look } = cssLookOf(css);
    for (const value of [...Object.values(look), ...Object.values(button ?? {})]) {
      expect(value).toMatch(/^(?:#[0-9a-f]{6}|1\.5rem|"a", "b c", -apple-system, serif)$/);
    }
  });

  it.each([
    ['quotes', '"'],
    ['open comments', '(/*'],
    ['escaped quotes', '"\\"'],
    ['exclamation marks', '! '],
    ['empty rules', 'h1{}'],
    ['nested braces', '{'],
  ])('reads %s in linear time', (_what, text) => {
    const timeOf = (bytes: number) => {
      const css = `h1 { color: ${text.repeat(bytes / text.length)}`;
      const from = performance.now();
      cssLookOf(css);
      return performance.now() - from;
    };
    // A quadratic reader takes minutes.
    expect(timeOf(1_000_000)).toBeLessThan(10_000);
  });
});
