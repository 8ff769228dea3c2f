// Hostile values in every place of HTML. The page that a browser reads has the same elements and
// attributes as with a harmless value, and the value itself where it stands.
import { parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import type { BrandValues, FillValues } from '../../../src/content/rendering/compiled.ts';
import { fillCompiled, readTemplate } from '../../../src/content/rendering/fill-compiled.ts';
import { footerHtml } from '../../../src/content/rendering/footer.ts';
import { emptyTemplate, someValues } from './fill-fixture.ts';

const scripts = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg/onload=alert(1)>",
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  'x onmouseover=alert(1)',
  'x/onmouseover=alert(1)',
  'x\nonmouseover=alert(1)//',
  '`onmouseover=alert(1)`',
  '=x onload=alert(1)',
  '></a><iframe src=//evil.test>',
  '--><script>alert(1)</script>',
  '</title></style></textarea><script>alert(1)</script>',
  '<!--[if mso]><script>alert(1)</script><![endif]-->',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '{{ 7 | times: 7 }}{% raw %}',
];
const links = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' \t\njavascript:alert(1)',
  'java\tscript:alert(1)',
  'java\r\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript\u00a0:alert(1)',
  'java\u200bscript:alert(1)',
  '&#106;avascript:alert(1)',
  '&#x6A;avascript:alert(1)',
  'javascript&colon;alert(1)',
  'java&Tab;script:alert(1)',
  '&amp;#106;avascript:alert(1)',
  'vbscript:msgbox(1)',
  'data:text/html,<script>alert(1)</script>',
  'data:image/svg+xml;base64,PHN2Zz4=',
  'javascript',
  `${' '.repeat(3_000)}javascript:alert(1)`,
  `java${'\n'.repeat(3_000)}script:alert(1)`,
  `${'&#32;'.repeat(600)}javascript:alert(1)`,
];

function brandOf(): BrandValues {
  if (!someValues.brand) throw new Error('the fixture has a brand');
  return someValues.brand;
}
const brand = brandOf();
const { footer } = brand;

/** Expressions of every value of a template. */
const expressions = [
  ...['a', 'b.c[0].d', "b['e f']", 'list', 'list | first', 'a | default: "x"', "a | append: ''"],
  ...['a | escape', 'contact.firstName', 'contact.fields.x', 'brand.name', 'brand.logoUrl'],
  ...['brand.footer.companyName', 'brand.footer.socialLinks[0].label', 'sender.name'],
  ...['sender.email', 'message.id', 'unsubscribe_url', 'view_url'],
];

/** Values that are all this text. */
function valuesOf(text: string): FillValues {
  const socialLinks = [{ label: text, url: text }];
  return {
    ...someValues,
    data: { a: text, b: { c: [{ d: text }], 'e f': text }, list: [text] },
    contact: { firstName: text, fields: { x: text } },
    brand: {
      ...brandOf(),
      name: text,
      logoUrl: text,
      footer: { ...footer, companyName: text, socialLinks },
    },
    sender: { email: text, name: text },
    message: { id: text, createdAt: someValues.message.createdAt },
    unsubscribeUrl: text,
    viewUrl: text,
  };
}

interface Node {
  nodeName: string;
  value?: string;
  attrs?: { name: string; value: string }[];
  childNodes?: Node[];
  data?: string;
}

/** Returns the elements of a page and the names of their attributes. */
function shapeOf(node: Node): string {
  const names = (node.attrs ?? []).map(({ name }) => name).join(' ');
  const children = (node.childNodes ?? []).filter(({ nodeName }) => nodeName !== '#text');
  return `<${node.nodeName} ${names}>${children.map(shapeOf).join('')}</>`;
}

const textOf = (node: Node): string =>
  (node.value ?? '') + (node.childNodes ?? []).map(textOf).join('');

/** Returns all elements with this name. */
function all(node: Node, name: string): Node[] {
  const below = (node.childNodes ?? []).flatMap((child) => all(child, name));
  return node.nodeName === name ? [node, ...below] : below;
}

const attributesOf = (page: Node, name: string) =>
  all(page, 'a').map(({ attrs = [] }) => attrs.find((one) => one.name === name)?.value);

function fill(html: string, values: FillValues, allowRawHtml = false) {
  return fillCompiled(readTemplate({ ...emptyTemplate, html, allowRawHtml }), values, 'data');
}

const pageOf = (html: string, values: FillValues) => parse(fill(html, values).html ?? '') as Node;

/** Repeats a template for every value. */
const forAll = (template: string) =>
  expressions.map((one) => template.replace('X', `{{ ${one} }}`)).join('\n');

type Read = (page: Node) => (string | undefined)[];

/** A template with a value, and how to read the value from the page. */
const contexts: [name: string, template: string, read: Read][] = [
  ['text', '<p>X</p>', (page) => all(page, 'p').map(textOf)],
  ['raw text', '<body><textarea>X</textarea>', (page) => all(page, 'textarea').map(textOf)],
  ['double quotes', '<a title="X">x</a>', (page) => attributesOf(page, 'title')],
  ['single quotes', "<a title='X'>x</a>", (page) => attributesOf(page, 'title')],
  ['no quotes', '<a title=X>x</a>', (page) => attributesOf(page, 'title')],
  [
    'no quotes before another attribute',
    '<a title=X id=i>x</a>',
    (page) => attributesOf(page, 'title'),
  ],
  ['a branch', '<a title={% if true %}X{% endif %}>x</a>', (page) => attributesOf(page, 'title')],
  [
    'a link',
    '<a href="https://a.test/?q=X">x</a>',
    (page) => attributesOf(page, 'href').map((href) => href?.slice(18)),
  ],
];

/** Browsers read CR as LF. */
const asRead = (text: string) => text.replace(/\r\n?/g, '\n');

describe.each(contexts)('a value in %s', (_name, template, read) => {
  const html = forAll(template);
  const harmless = shapeOf(pageOf(html, valuesOf('harmless')));

  it.each(scripts)('is escaped: %j', (script) => {
    const page = pageOf(html, valuesOf(script));
    expect(shapeOf(page)).toBe(harmless);
    expect(read(page)).toEqual(expressions.map(() => asRead(script)));
  });

  it('may be empty', () => {
    const page = pageOf(html, valuesOf(''));
    expect(shapeOf(page)).toBe(harmless);
    expect(new Set(read(page))).toEqual(new Set(['', 'x']));
  });
});

describe('a link made of a value', () => {
  const templates = [
    '<a href="X">x</a>',
    "<a HREF = 'X'>x</a>",
    '<a href=X>x</a>',
    '<a href="{% if true %}X{% endif %}">x</a>',
    '<a href="{% capture c %}X{% endcapture %}{{ c }}">x</a>',
    '<!--[if mso]><b></b><![endif]--><a href="X">x</a>',
  ];

  it.each(links)('is left out with a warning: %j', (link) => {
    for (const template of templates) {
      const { html, warnings } = fill(forAll(template), valuesOf(link));
      const hrefs = attributesOf(parse(html ?? '') as Node, 'href');
      expect(hrefs, template).toEqual(expressions.map(() => ''));
      expect(
        warnings.map(({ code }) => code),
        template,
      ).toEqual(['unsafe-link']);
    }
  });

  it('is left out in the src of an image', () => {
    const html = '<img src="{{ a }}"><img src="data:image/png;base64,AAAA">';
    expect(fill(html, valuesOf('data:image/png;base64,BBBB')).html).toBe(
      '<img src=""><img src="data:image/png;base64,AAAA">',
    );
  });

  it.each([
    ['{{ a }}{{ b }}', 'java', 'script:alert(1)'],
    ['{{ a }}{{ b }}', 'javascript', ':alert(1)'],
    ['{{ a }}:{{ b }}', 'javascript', 'alert(1)'],
    ['{{ a }}{{ b }}', ' '.repeat(300), 'javascript:alert(1)'],
    ['{{ a }}{{ b }}', `java${'\n'.repeat(300)}`, 'script:alert(1)'],
    ['&#106;ava{{ a }}{{ b }}', 'script:alert(1)', ''],
    ['&#10{{ a }}{{ b }}', '6;avascript:alert(1)', ''],
  ])('is left out where two parts make it: %s', (href, a, b) => {
    const page = pageOf(`<a href="${href}">x</a>`, { ...someValues, data: { a, b } });
    const made = attributesOf(page, 'href')[0]?.replace(/\s/g, '');
    expect(made).not.toMatch(/^javascript:/);
  });

  it('is left out of raw HTML', () => {
    const a =
      '<b>x</b><a href="java&#115;cript:alert(1)" title="javascript:x">y</a><img src=data:x>';
    const { html, warnings } = fill('{{ a | raw }}', { ...someValues, data: { a } }, true);
    expect(html).toBe('<b>x</b><a href="" title="javascript:x">y</a><img src=>');
    expect(warnings).toHaveLength(2);
  });

  it.each([
    'https://a.test/?x=javascript:1&y=2',
    'mailto:a@b.test',
    '/data:x',
    '#javascript:x',
    'tel:1',
  ])('is kept: %j', (link) => {
    const page = pageOf('<a href="{{ a }}">x</a>', valuesOf(link));
    expect(attributesOf(page, 'href')).toEqual([link]);
  });
});

describe('raw HTML', () => {
  it.each([
    '{{ a | escape | raw }}',
    '{{ a | escape | strip | raw }}',
    '{{ a | newline_to_br | raw }}',
    '{% capture c %}{{ a }}{% endcapture %}{{ c | raw }}',
    '{% capture c %}{{ a }}{% endcapture %}{{ c | strip | raw }}',
    '{% capture c %}{{ a }}{% endcapture %}{{ c | append: "" | default: c | raw }}',
    '{% capture c %}{{ a }}{% endcapture %}{% assign d = c %}{{ d | raw }}',
    '{% capture c %}{{ a }}{% endcapture %}{% capture d %}{{ c | raw }}{% endcapture %}{{ d | raw }}',
  ])('has escaped values in %s', (html) => {
    expect(fill(html, valuesOf('<script>'), true).html).toBe('&lt;script&gt;');
  });
});

describe('the footer of a brand', () => {
  const shape = (values: BrandValues, url: string) =>
    shapeOf(parse(footerHtml(values, url)) as Node);

  it.each([...scripts, ...links])('escapes %j in its fields', (text) => {
    const hostile: BrandValues = {
      ...brand,
      name: text,
      footer: {
        companyName: text,
        address: {
          street1: text,
          street2: text,
          city: text,
          region: text,
          postalCode: text,
          country: text,
        },
        socialLinks: [{ label: text, url: `https://a.test/${text}` }],
      },
    };
    expect(shape(hostile, `https://a.test/${text}`)).toBe(shape(brand, 'https://a.test'));
  });
});
