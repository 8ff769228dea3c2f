// Templates for comparisons: MJML that mjml 5 renders too, and HTML. All have data of their own.
import type { TemplateFiles } from '../../../src/content/rendering/compiled.ts';

export interface CorpusTemplate {
  name: string;
  files: TemplateFiles;
  brandCss: string;
}

/** Data that all templates are filled with. */
export const data = {
  name: 'Ada & <b>Co</b>',
  url: 'https://a.test/x?a=1&b="2"',
  color: '#336699',
  style: 'color:green;top:1px',
  empty: '',
  yes: true,
  no: false,
  rows: [
    { title: 'One', url: 'https://a.test/1', price: 10, tags: ['a', 'b'] },
    { title: 'Two "2"', url: 'https://a.test/2?x=1&y=2', price: 20, tags: [] },
    { title: "Three's", url: 'https://a.test/3', price: 30, tags: ['c'] },
  ],
};

const inBody = (content: string, head = '') =>
  `<mjml>${head === '' ? '' : `<mj-head>${head}</mj-head>`}<mj-body>\n${content}\n</mj-body></mjml>`;
const inColumn = (content: string, head = '') =>
  inBody(`<mj-section>\n  <mj-column>\n    ${content}\n  </mj-column>\n</mj-section>`, head);
const section = (text: string) =>
  `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
const inText = (html: string) => inColumn(`<mj-text>${html}</mj-text>`);
const inline = (css: string) => `<mj-style inline="inline">${css}</mj-style>`;

const mjml: Record<string, string | TemplateFiles> = {
  'one text': inText('Hello'),
  'a value in text': inText('Hello {{ name }}, {{ rows[0].title | upcase }}'),
  'void elements': inText('a<br>b<br/>c<hr><img src="https://a.test/a.png" alt=""><wbr>d'),
  'open paragraphs': inText('<p>one<p>two<ul><li>a<li>b</ul>'),
  'unquoted attributes': inText('<a href=https://a.test/x class=a target=_blank>x</a>'),
  'entities and symbols': inText('&lt; &amp; &nbsp;&copy; é 日本 &#8202; 1 < 2'),
  'a comment': inText('a<!-- {{ name }} -->b'),
  'a conditional comment': inText('<!--[if mso]><b>{{ rows[0].title }}</b><![endif]-->b'),
  'quotes within Liquid': inText(
    '{{ empty | default: "a<b" }} <a href="{{ url | append: "&c=3" }}">x</a>',
  ),
  'Liquid in hrefs': inColumn(
    '<mj-button href="{{ url }}">{{ name }}</mj-button><mj-button href="https://a.test/{{ rows[1].title | url_encode }}?a=1&amp;b=2">x</mj-button>',
  ),
  'Liquid in an unquoted href': inText('<a href={{ rows[0].url }}>x</a>'),
  'Liquid in images': inColumn(
    '<mj-image src="{{ rows[1].url }}" alt="{{ name }}" href="{{ url }}" />',
  ),
  'Liquid in colours': inColumn(
    '<mj-text color="{{ color }}" container-background-color="{{ color }}">x</mj-text><mj-divider border-color="{{ color }}" />',
  ),
  'Liquid in classes': inColumn(
    '<mj-text css-class="a {{ rows[0].title | downcase }}">x</mj-text>',
  ),
  'a branch around a section': inBody(
    `{% if yes %}\n${section('yes')}\n{% else %}${section('no')}{% endif %}`,
  ),
  'a branch that is not taken': inBody(`${section('a')}{% if no %}${section('b')}{% endif %}`),
  'a loop around a section': inBody(
    `{% for row in rows %}\n${section('{{ row.title }}')}\n{% endfor %}`,
  ),
  'a loop around a text': inColumn(
    '{% for row in rows %}<mj-text>{{ row.title }}</mj-text>{% endfor %}',
  ),
  'a loop of nothing': inColumn(
    '<mj-text>a</mj-text>{% for row in empty %}<mj-text>b</mj-text>{% endfor %}',
  ),
  'loops within loops': inColumn(
    '{% for row in rows %}<mj-text>{{ row.title }}{% for tag in row.tags %}<b>{{ tag }}</b>{% else %}-{% endfor %}</mj-text>{% endfor %}',
  ),
  'a loop around table rows': inColumn(
    '<mj-table>{% for row in rows %}<tr><td>{{ row.title }}</td><td align="right">{{ row.price }}</td></tr>{% endfor %}</mj-table>',
  ),
  'a loop around columns with a width': inBody(
    '<mj-section>{% for row in rows %}<mj-column width="33%"><mj-text>{{ row.title }}</mj-text></mj-column>{% endfor %}</mj-section>',
  ),
  'a loop around links': inColumn(
    '<mj-navbar>{% for row in rows %}<mj-navbar-link href="{{ row.url }}">{{ row.title }}</mj-navbar-link>{% endfor %}</mj-navbar>',
  ),
  'a loop around wrapped sections': inBody(
    `<mj-wrapper padding="10px">{% for row in rows %}${section('{{ row.title }}')}{% endfor %}</mj-wrapper>`,
  ),
  'a case': inColumn(
    '{% case rows[0].price %}{% when 10 %}<mj-text>ten</mj-text>{% when 20 %}<mj-text>twenty</mj-text>{% endcase %}',
  ),
  'assignments before the document': `{% assign big = rows[2] %}${inText('{{ big.title }}')}`,
  'assignments between tags': inColumn(
    '{% assign big = rows[2] %}<mj-text>{{ big.title }}</mj-text>',
  ),
  'a capture': inText(
    '{% capture x %}<i>{{ rows[0].title }}</i>{% endcapture %}{{ rows[1].title }}',
  ),
  'trimmed Liquid': inText('a {%- if yes -%} b {%- endif -%} c {{- name -}} d'),
  'raw Liquid': inText('{% raw %}{{ not }} a value{% endraw %}'),
  'a comment of Liquid': inColumn('{% comment %}<mj-foo>{% endcomment %}<mj-text>a</mj-text>'),
  'Liquid in comments of MJML': inBody(
    `<!-- {% if no %} -->${section('a')}<!-- {% endif %} -->${section('b')}`,
  ),
  'conditional attributes in HTML': inText(
    '<a {% if yes %}title="{{ name }}"{% endif %} href="#">x</a>',
  ),
  'styles with Liquid': inText('<b style="color:{{ color }};{% if yes %}top:0{% endif %}">x</b>'),
  'inlined CSS': inColumn(
    '<mj-text><b class="a">x</b><i>y</i></mj-text>',
    inline('.a{color:red}i{color:blue}'),
  ),
  'inlined CSS on classes of MJML': inColumn(
    '<mj-text css-class="a">x</mj-text>',
    inline('.a div{color:red !important}'),
  ),
  'inlined CSS in a loop': inColumn(
    '{% for row in rows %}<mj-text><b class="a">{{ row.title }}</b></mj-text>{% endfor %}',
    inline('.a{font-size:20px}'),
  ),
  'inlined CSS over styles': inColumn(
    '<mj-text><b class="a" style="color:blue;margin:0">x</b></mj-text>',
    inline('.a{color:red;top:0}'),
  ),
  'media queries': inColumn(
    '<mj-text css-class="a">x</mj-text>',
    '<mj-style>@media (max-width:480px){.a{color:red !important}}</mj-style>',
  ),
  'default attributes': inColumn(
    '<mj-text>x</mj-text><mj-text mj-class="big">y</mj-text>',
    '<mj-attributes><mj-all font-family="Arial" /><mj-text color="red" /><mj-class name="big" font-size="30px" /></mj-attributes>',
  ),
  'a font, a title and a breakpoint': inColumn(
    '<mj-text font-family="Roboto, Arial">x</mj-text>',
    '<mj-title>Hello {{ rows[0].title }}</mj-title><mj-font name="Roboto" href="https://fonts.test/css?family=Roboto" /><mj-breakpoint width="320px" />',
  ),
  'three columns': inBody(
    '<mj-section><mj-column><mj-text>a</mj-text></mj-column><mj-column width="200px"><mj-text>b</mj-text></mj-column><mj-column><mj-text>c</mj-text></mj-column></mj-section>',
  ),
  'groups and padding': inBody(
    '<mj-section padding="0 10px"><mj-group><mj-column><mj-text padding="0">a</mj-text></mj-column><mj-column><mj-image src="https://a.test/a.png" padding="0 0 10px" alt="" /></mj-column></mj-group></mj-section>',
  ),
  'backgrounds and full width': inBody(
    '<mj-section full-width="full-width" background-url="https://a.test/b.png" background-color="#eee"><mj-column background-color="white" border="1px solid #ccc"><mj-text>a</mj-text></mj-column></mj-section>',
  ),
  'a hero': inBody(
    '<mj-hero mode="fixed-height" height="300px" background-width="600px" background-height="300px" background-url="https://a.test/b.png"><mj-text>{{ name }}</mj-text><mj-button href="{{ url }}">Go</mj-button></mj-hero>',
  ),
  'social links and accordion': inColumn(
    '<mj-social><mj-social-element name="github" href="{{ url }}">Us</mj-social-element></mj-social><mj-accordion><mj-accordion-element><mj-accordion-title>{{ rows[0].title }}</mj-accordion-title><mj-accordion-text>b</mj-accordion-text></mj-accordion-element></mj-accordion>',
  ),
  'icons without texts': inColumn(
    '<mj-social><mj-social-element name="github" href="{{ url }}"></mj-social-element><mj-social-element name="x" href="{{ url }}" alt="x" /></mj-social><mj-button href="#"></mj-button><mj-text></mj-text>',
  ),
  'raw HTML between tags': inBody(
    `<mj-raw><!-- note --><div class="r">{{ name }}</div></mj-raw>${section('x')}`,
  ),
  'an include': {
    'body.mjml': inBody(
      '<mj-include path="./partials/top.mjml" />\n<mj-include path="partials/top.mjml"/>',
    ),
    'partials/top.mjml': section('{{ name }}'),
  },
  'partials of MJML': {
    'body.mjml': inBody(
      "{% render 'top', title: name %}{% for row in rows %}{% render 'top', title: row.title %}{% endfor %}",
    ),
    'partials/top.mjml': section('{{ title }}'),
  },
  'partials within partials': {
    'body.mjml': inColumn("<mj-text>a</mj-text>{% render 'list', rows: rows %}"),
    'partials/list.mjml': "{% for row in rows %}{% render 'row', row: row %}{% endfor %}",
    'partials/row.mjml': "<mj-text>{{ row.title }}: {% render 'price', row: row %}</mj-text>",
    'partials/price.html': '<b class="a">{{ row.price }}</b>',
  },
  'a partial for each row': {
    'body.mjml': inColumn("<mj-table>{% render 'row' for rows as row %}</mj-table>"),
    'partials/row.html': '<tr><td>{{ row.title }}</td></tr>',
  },
};

const page = (body: string, css = '') =>
  `<!doctype html>\n<html><head><title>{{ name }}</title>${css === '' ? '' : `<style>${css}</style>`}</head>\n<body>${body}</body></html>`;

const html: Record<string, string | TemplateFiles> = {
  'a piece': '<p>Hello {{ name }}</p>',
  'a piece that begins with a branch': '{% if yes %}<p>a</p>{% endif %}<p>b</p>',
  'a page': page('<p class="a">{{ name }}</p>', '.a{color:red} p{margin:0}'),
  'CSS with values': page('<p>x</p>', 'p{color:{{ color }};width:{{ rows[0].price }}px}'),
  'a loop of rows': page(
    '<table><thead><tr><th>x</th></tr></thead>{% for row in rows %}<tr><td><a href="{{ row.url }}">{{ row.title }}</a></td></tr>{% endfor %}</table>',
    'td{padding:0;color:red} tr a{top:0}',
  ),
  'void elements and open paragraphs': page(
    '<p>a<br>b<p>c<hr><img src={{ rows[1].url }} alt=x>',
    'p{margin:0}',
  ),
  'styles over CSS': page(
    '<p style="color:blue">a</p><p style="{% if yes %}color:green{% endif %}">b</p><p style="color:{{ color }};margin:1px">c</p><p style="{{ style }}">d</p>',
    'p{color:red;margin:0}',
  ),
  'important CSS': page(
    '<p style="color:blue">a</p><p style="color:{{ color }}">b</p>',
    'p{color:red !important}',
  ),
  'conditional attributes': page(
    '<p {% if yes %}title="{{ name }}"{% else %}lang="de"{% endif %} class="a">a</p><input {% if yes %}checked{% endif %}>',
    '.a{color:red}',
  ),
  'media queries and hover': page(
    '<p class="a">x</p>',
    '.a{color:red} .a:hover{color:blue} @media (max-width:480px){.a{color:green !important}}',
  ),
  'conditional comments': page(
    '<!--[if mso]><table width="{{ rows[0].price }}"><tr><td><![endif]--><p>x</p><!--[if mso]></td></tr></table><![endif]-->',
    'p{margin:0}',
  ),
  partials: {
    'body.html': page(
      "{% render 'a', x: name %}<ul>{% for row in rows %}{% render 'li', row: row %}{% endfor %}</ul>",
      'li b{color:red}',
    ),
    'partials/a.liquid': '<h1>{{ x }}</h1>',
    'partials/li.html': '<li><b>{{ row.title }}</b></li>',
  },
};

const brandCss = 'p{margin:0}td{line-height:20px}.a{font-weight:bold}';

function templatesOf(
  kind: 'mjml' | 'html',
  all: Record<string, string | TemplateFiles>,
): CorpusTemplate[] {
  return Object.entries(all).map(([name, content], index) => {
    const files = typeof content === 'string' ? { [`body.${kind}`]: content } : content;
    // Every third has the line ends of Windows.
    const written = Object.entries(files).map(([path, text]) => [
      path,
      index % 3 === 0 ? text.replaceAll('\n', '\r\n') : text,
    ]);
    return {
      name: `${kind}: ${name}`,
      files: { 'template.yaml': 'subject: x', ...Object.fromEntries(written) },
      brandCss: kind === 'html' && index % 2 === 0 ? brandCss : '',
    };
  });
}

export const mjmlTemplates = templatesOf('mjml', mjml);
export const htmlTemplates = templatesOf('html', html);
