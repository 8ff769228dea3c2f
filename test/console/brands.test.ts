// The page of a brand: colours as fields that change the style sheet in place, and a sample mail.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderDocument } from '../../daemon/console/html.ts';
import { colourFields, withColours } from '../../daemon/console/pages/templates/brand-colours.ts';
import { type Browser, consoleWorld, formOf, problemOf, type World } from './world.ts';

const usual = {
  ground: '#ffffff',
  text: '#1c1f23',
  heading: '#1c1f23',
  link: '#0b57b8',
  button: '#0b57b8',
  buttonText: '#ffffff',
};

describe('the colours of a style sheet', () => {
  const valuesOf = (css: string) =>
    Object.fromEntries(
      [
        ...renderDocument(colourFields(css) as never).matchAll(
          /name="(\w+)" value="(#\w+)"\/> <code>([^<]*)/g,
        ),
      ].map(([, name = '', value, shown]) => [name, shown === value ? value : `(${value})`]),
    );

  it.each([
    ['of a rule', 'h1 { color: #14599E }', { heading: '#14599e' }],
    [
      'with three digits',
      'body{background:#abc;color:#123456}',
      { ground: '#aabbcc', text: '#123456' },
    ],
    ['of a list of selectors', 'h1, h2 { margin: 0; color: #111111; }', { heading: '#111111' }],
    ['of the last rule', 'a{color:#111111}a{color:#222222}', { link: '#222222' }],
    [
      'outside of @media',
      '@media (x){a{color:#111111}}.button{color:#333333}',
      { buttonText: '#333333' },
    ],
    [
      'behind comments and strings',
      '/* a{color:#111111} */ i{content:"}a{"} a{color:#444444}',
      { link: '#444444' },
    ],
    ['that are no digits', 'a { color: red }', {}],
  ])('are those %s', (_what, css, found) => {
    const shown = Object.fromEntries(
      Object.entries(usual).map(([name, own]) => [name, `(${own})`]),
    );
    expect(valuesOf(css)).toEqual({ ...shown, ...found });
  });

  it.each([
    [
      'in place',
      'h1 { margin: 0; color: #111; }\n/* end */',
      'h1 { margin: 0; color: #14599e; }\n/* end */',
    ],
    ['in a rule of its own', 'p { margin: 0 }', 'p { margin: 0 }\nh1, h2, h3 { color: #14599e }\n'],
    ['behind a word', 'h1 { color: red }', 'h1 { color: red }\nh1, h2, h3 { color: #14599e }\n'],
    ['in an empty style sheet', '', 'h1, h2, h3 { color: #14599e }\n'],
  ])('change %s', (_what, css, changed) => {
    expect(withColours(css, css, { ...usual, heading: '#14599e' })).toBe(changed);
  });

  it('stay as typed where a person changed the style sheet alone', () => {
    const given = { ...usual, heading: '#111111' };
    const typed = 'h1 { color: #222222 }';
    expect(withColours('h1 { color: #111111 }', typed, given)).toBe(typed);
  });
});

describe('the page of a brand', () => {
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    world = await consoleWorld();
    browser = await world.operator();
    const css = 'h1 { color: #14599e } p { margin: 0 }';
    const footer = {
      companyName: '<Acme>',
      socialLinks: [{ label: 'Blog', url: 'https://e.example/b' }],
    };
    await world.api('POST', '/v1/brands', { slug: 'acme', name: 'Acme', css, footer });
  });
  afterAll(() => world.close());

  const at = '/console/brands/acme';
  const save = async (fields: Record<string, string>) => {
    const form = formOf((await browser.get(at)).body, 'save') ?? {};
    return browser.post(at, { ...form, ...fields });
  };

  it('shows a sample mail in a sandbox with its colours and its footer', async () => {
    const { body } = await browser.get(at);
    expect(body).toMatch(/<iframe[^>]*sandbox[^>]*src="\/console\/brands\/acme\/html"/);
    const frame = await browser.get(`${at}/html`);
    expect(frame.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
    expect(frame.body).toContain('h1 { color: #14599e }');
    expect(frame.body).toMatch(/&lt;Acme&gt;.*href="https:\/\/e\.example\/b"[^>]*>Blog/s);
  });

  it('saves colours and links of the fields', async () => {
    const more = { label1: 'Shop', url1: 'https://e.example/s' };
    expect((await save({ heading: '#7a1f1f', ...more })).status).toBe(303);
    expect(await world.api('GET', '/v1/brands/acme')).toMatchObject({
      css: 'h1 { color: #7a1f1f } p { margin: 0 }',
      footer: { socialLinks: [{ label: 'Blog' }, { label: 'Shop', url: 'https://e.example/s' }] },
    });
  });

  it('refuses a text in the place of a colour, and changes nothing', async () => {
    const before = await world.api('GET', '/v1/brands/acme');
    const { status, body } = await save({ link: 'red}' });
    expect([status, problemOf(body)]).toEqual([422, 'Links is not a colour such as #14599e']);
    expect(await world.api('GET', '/v1/brands/acme')).toEqual(before);
  });
});
