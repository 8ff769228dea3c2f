// Compiling a template end to end, in its worker: what it makes, and hostile files, each of which
// answers 422 with its place while the event loop runs on and the next template compiles.
import { afterAll, describe, expect, it } from 'vitest';
import { compileTemplate, lintContent } from '../../../src/content/rendering/compile.ts';
import type { TemplateFiles } from '../../../src/content/rendering/compiled.ts';
import type { App } from '../../../src/core/app.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import { type Clock, systemClock } from '../../../src/platform/runtime/clock.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

const closing: (() => Promise<void>)[] = [];
type Make = (clock: Clock, limitMs?: number) => { close(): Promise<void> };
/** The capabilities that compiling uses, on the real clock. */
const appWith = (limitMs?: number) =>
  ({
    clock: systemClock,
    keep: (_name: string, make: Make) => {
      const made = make(systemClock, limitMs);
      closing.push(() => made.close());
      return made;
    },
  }) as unknown as App;
const app = appWith();
afterAll(() => Promise.all(closing.map((close) => close())));

const settings = { 'template.yaml': 'subject: Hello {{ name }}\n' };
const compile = (files: TemplateFiles, brandCss = '', by = app) =>
  compileTemplate(by, 'org_1', { files: { ...settings, ...files }, brandCss });
const html = async (body: string, more: TemplateFiles = {}, brandCss = '') =>
  (await compile({ 'body.html': body, ...more }, brandCss)).compiled.html;
const inColumn = (content: string) =>
  `<mjml><mj-body><mj-section><mj-column>${content}</mj-column></mj-section></mj-body></mjml>`;
const mjml = async (content: string, more: TemplateFiles = {}, brandCss = '') =>
  (await compile({ 'body.mjml': inColumn(content), ...more }, brandCss)).compiled.html;

async function fieldsOf(
  files: TemplateFiles,
  brandCss = '',
  by = app,
): Promise<Record<string, string[]>> {
  try {
    await compile(files, brandCss, by);
  } catch (error) {
    if (error instanceof ValidationError) return error.fieldErrors ?? {};
    throw error;
  }
  return {};
}

describe('compiled HTML', () => {
  it('has the CSS of brand and style sheet inlined, the brand first', async () => {
    const made = await html(
      '<html><head><style>p { color: red }</style></head><body><p class="a">x</p></body></html>',
      {},
      'p { margin: 0; color: blue }',
    );
    expect(made).toContain('<p class="a" style="margin: 0;color: red;">x</p>');
  });

  it('keeps media queries and conditional comments', async () => {
    const style = '<style>@media (max-width: 480px) { .a { color: red !important } }</style>';
    const outlook = '<!--[if mso]><table width="{{ w }}"><tr><td><![endif]-->';
    const made = await html(
      `<html><head>${style}</head><body>${outlook}<p>x</p></body></html>`,
      {},
      'p{}',
    );
    expect(made).toContain(style);
    expect(made).toContain(outlook);
  });

  it('keeps a long doctype and revealed comments beside inlined CSS', async () => {
    const doctype =
      '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';
    const made = await html(
      `${doctype}<html><body><![if !mso]><p>x</p><![endif]></body></html>`,
      {},
      'p{top:0}',
    );
    expect(made).toContain(doctype);
    expect(made).toContain('<![if !mso]><p style="top: 0;">x</p><![endif]>');
  });

  it('keeps HTML without CSS byte for byte', async () => {
    const body =
      "<!doctype html>\r\n<HTML><body a='1'  b>{{ x }}<br/>\r\n<p>{% if a %}x{% endif %}</body></HTML>";
    expect(await html(body)).toBe(body);
  });

  it('keeps Liquid byte for byte in text, attributes, styles and CSS', async () => {
    const pieces = [
      '<a href="{{ url | append: "?a=1&b=2" }}" {% if x %}title="{{ x | default: \'"\' }}"{% endif %}>',
      '{%- for item in items limit:3 -%}<b>{{- item -}}</b>{%- endfor -%}',
      'style="{% if x %}color:{{ c | default: "red" }}{% endif %};top:0"',
      '{% raw %}{{ no }}{% endraw %}',
      '{% comment %}<p>{% endcomment %}',
    ];
    const [link = '', loop = '', style = '', raw = '', comment = ''] = pieces;
    const body = `<p ${style}>${link}x</a>${loop}${raw}${comment}</p>`;
    const made = await html(body, {}, 'p { margin: 0 }');
    for (const piece of [loop, raw, comment]) expect(made).toContain(piece);
    expect(made).toContain('href="{{ url | append: "?a=1&b=2" }}"');
    expect(made).toContain('{% if x %}title="{{ x | default: \'"\' }}"{% endif %}');
    expect(made).toContain('{% if x %}color:{{ c | default: "red" }}{% endif %};top:0');
  });

  it('has braces that are entities as text, not as Liquid', async () => {
    const files = { 'body.html': '<p>&#123;&#123; name }} &lbrace;% if %}</p>' };
    const { compiled } = await compile(files, 'p{top:0}');
    expect(compiled.html).toContain('>&#123;{ name }} &#123;% if %}</p>');
    expect(compiled.text).toBe('{{ "{" }}{ name }} {{ "{" }}% if %}\n');
  });

  it('has values of Liquid in inlined CSS', async () => {
    const made = await html('<style>p{color:{{ brand.color }};width:{{ w }}px}</style><p>x</p>');
    expect(made).toContain('<p style="color: {{ brand.color }};width: {{ w }}px;">x</p>');
  });

  it('begins with the hidden preheader', async () => {
    const { compiled } = await compile({
      'template.yaml': 'subject: x\npreheader: "{{ a | default: \'<\' }} & more"\n',
      'body.html': '<p>x</p>',
    });
    expect(compiled.preheader).toBe("{{ a | default: '<' }} & more");
    expect(compiled.html).toMatch(
      /<body><div style="display:none;[^"]*overflow:hidden;">\{\{ a \| default: '<' \}\} &#38; more<\/div><p>x/,
    );
  });

  it('has the preheader of mj-preview', async () => {
    const head = '<mj-head><mj-preview>Tom &amp; {{ name | default: "<" }}</mj-preview></mj-head>';
    const { compiled } = await compile({
      'body.mjml': inColumn('').replace('<mjml>', `<mjml>${head}`),
    });
    expect(compiled.preheader).toBe('Tom & {{ name | default: "<" }}');
    expect(compiled.html).toContain('>Tom &#38; {{ name | default: "<" }}</div>');
  });

  it('is made of MJML with values in attributes', async () => {
    const made = await mjml(
      '<mj-button href="{{ url | default: "x" }}" css-class="{{ c }}">Go</mj-button>',
    );
    expect(made).toContain('href="{{ url | default: "x" }}"');
    expect(made).toContain('class="{{ c }}"');
  });

  it('inlines mj-style inline and leaves other mj-style alone', async () => {
    const head =
      '<mj-head><mj-style inline="inline">.a { color: red }</mj-style><mj-style>.a { top: 0 }</mj-style></mj-head>';
    const { compiled } = await compile({
      'body.mjml': inColumn('<mj-text><b class="a">x</b></mj-text>').replace(
        '<mjml>',
        `<mjml>${head}`,
      ),
    });
    expect(compiled.html).toContain('<b class="a" style="color: red;">x</b>');
    expect(compiled.html).toContain('.a { top: 0 }');
  });

  it('compiles partials where they are rendered', async () => {
    const { compiled } = await compile(
      {
        'body.html':
          "<table><tr>{% render 'cell', x: 1 %}</tr></table><div>{% render 'cell' %}</div>",
        'partials/cell.html': '<td>{{ x }}</td>',
      },
      'tr td { top: 0 }',
    );
    expect(compiled.html).toContain("{% render 'cell#1', x: 1 %}");
    expect(compiled.partials['cell#1']).toBe('<td style="top: 0;">{{ x }}</td>');
  });

  it('compiles partials of MJML', async () => {
    const { compiled } = await compile({
      'body.mjml': inColumn("{% for r in rows %}{% render 'row', r: r %}{% endfor %}"),
      'partials/row.mjml': '<mj-text>{{ r }}</mj-text>',
    });
    expect(compiled.html).toContain("{% for r in rows %}{% render 'row#1', r: r %}{% endfor %}");
    expect(compiled.partials['row#1']).toMatch(/^<tr><td [\s\S]*\{\{ r \}\}<\/div><\/td><\/tr>$/);
  });

  it('puts mj-include in as text', async () => {
    const made = await mjml('<mj-include path="./partials/a.mjml" />', {
      'partials/a.mjml': '<mj-text>one</mj-text><mj-include path="./b.mjml" />',
      'partials/b.mjml': '<mj-text>two</mj-text>',
    });
    expect(made).toMatch(/one[\s\S]*two/);
  });
});

describe('text of a template', () => {
  it('is body.txt as it is', async () => {
    const text = 'Hello {{ name }},\r\n{% if a %}x{% endif %}\n';
    expect((await compile({ 'body.html': '<p>x</p>', 'body.txt': text })).compiled.text).toBe(text);
  });

  it('is made of the HTML with its Liquid', async () => {
    const body =
      '<h1>Hello {{ name }}</h1>{% for r in rows %}<p>{{ r.x }}</p>{% endfor %}<a href="{{ url }}">Go</a>';
    expect((await compile({ 'body.html': body })).compiled.text).toBe(
      'Hello {{ name }}\n\n{% for r in rows %}{{ r.x }}\n\n{% endfor %}Go [{{ url }}]\n',
    );
  });

  it('keeps the footer of the brand on a line of its own', async () => {
    const body = '<p>a</p>{% brand_footer %}<p>b</p>';
    expect((await compile({ 'body.html': body })).compiled.text).toBe(
      'a\n\n{% brand_footer %}\n\nb\n',
    );
  });

  it('renders partials of its own', async () => {
    const { compiled } = await compile({
      'body.txt': "{% render 'sign' %}",
      'partials/sign.liquid': 'Bye {{ name }}',
    });
    expect(compiled.html).toBeNull();
    expect(compiled.textPartials).toEqual({ sign: 'Bye {{ name }}' });
  });
});

describe('refused templates', () => {
  const ok = '<p>x</p>';
  const bad: Record<string, [files: TemplateFiles, field: string, problem: RegExp]> = {
    'no settings': [{ 'template.yaml': 'a: b' }, 'template.yaml', /^line 1: a is unknown/],
    'a subject of two lines': [
      { 'template.yaml': 'subject: "a\\nb"', 'body.html': ok },
      'template.yaml',
      /^line 1: subject is one line/,
    ],
    'a bomb of aliases': [
      { 'template.yaml': `a: &a [x,x]\nsubject: *a\n`, 'body.html': ok },
      'template.yaml',
      /^line 1: a is unknown/,
    ],
    'a second document of settings': [
      { 'template.yaml': 'subject: x\n---\nsubject: y', 'body.html': ok },
      'template.yaml',
      /^line 2: a second document begins/,
    ],
    'a setting given twice': [
      { 'template.yaml': 'subject: x\nsubject: y', 'body.html': ok },
      'template.yaml',
      /^line 2: a setting is given twice/,
    ],
    'no body': [{}, 'body.html', /is missing/],
    'two bodies': [{ 'body.html': ok, 'body.mjml': inColumn('') }, 'body.html', /keep one/],
    'a sample that is no JSON': [
      { 'body.html': ok, 'sample.json': '{\n"a":}' },
      'sample.json',
      /is not JSON/,
    ],
    'a contract with a backreference': [
      { 'body.html': ok, 'contract.json': '{"properties":{"a":{"pattern":"(a)\\\\1"}}}' },
      'contract.json',
      /pattern|backreference|escape/i,
    ],
    'unknown Liquid': [
      { 'body.html': 'a\n{% include "/etc/passwd" %}' },
      'body.html',
      /^line 2: include/,
    ],
    'the filter raw': [{ 'body.html': '\n\n{{ x | raw }}' }, 'body.html', /^line 3: .*raw/],
    'an open block': [{ 'body.html': '{% if a %}<p>' }, 'body.html', /^line 1: .*not closed/],
    'a block around half an element': [
      { 'body.html': '<p>\n{% if a %}<b>{% else %}<i>{% endif %}x</b></p>' },
      'body.html',
      /^line 2: \{% if a %\} and its end must stand in the same element/,
    ],
    'a block whose element browsers move': [
      { 'body.html': '<table>\n{% if a %}\n<div>x</div>{% endif %}<tr><td></td></tr></table>' },
      'body.html',
      /^line 3: browsers move <div>/,
    ],
    'a block whose text browsers move': [
      { 'body.html': 'a<table>\n{% if a %}b{% endif %}<tr><td></td></tr></table>' },
      'body.html',
      /^line 2: browsers move text/,
    ],
    'a style sheet hidden in svg': [
      { 'body.html': '\n<svg><title><link rel="stylesheet" href="/etc/passwd"></title></svg>' },
      'body.html',
      /^line 2: <link> is refused/,
    ],
    'a block that ends outside of its attribute': [
      { 'body.html': '<p>\n<a href="{% if a %}x" title="{% endif %}">x</a>' },
      'body.html',
      /^line 2: .*must end in the attribute href/,
    ],
    'an element named by Liquid': [
      { 'body.html': '\n<h{{ n }}>x' },
      'body.html',
      /^line 2: the name/,
    ],
    'a partial in an attribute': [
      { 'body.html': `<p title="{% render 'a' %}">`, 'partials/a.html': 'x' },
      'body.html',
      /^line 1: a partial is possible between elements only/,
    ],
    'a missing partial': [
      { 'body.html': `\n{% render 'a' %}` },
      'body.html',
      /^line 2: there is no partial a/,
    ],
    'a partial that places itself': [
      {
        'body.html': `{% render 'a' %}`,
        'partials/a.html': `x\n{% render 'b' %}`,
        'partials/b.html': `{% render 'a' %}`,
      },
      'partials/b.html',
      /^line 1: partials\/a.html places itself/,
    ],
    'a mistake in a partial': [
      { 'body.html': `{% render 'a' %}`, 'partials/a.html': 'x\n\n<link href="x">' },
      'partials/a.html',
      /^line 3: <link> is refused/,
    ],
    'a remote style sheet': [
      { 'body.html': '<link href="http://127.0.0.1:1/a.css" rel="stylesheet">' },
      'body.html',
      /^line 1: <link> is refused/,
    ],
    'a local style sheet': [
      { 'body.html': '\n<LINK rel=stylesheet href="/etc/passwd">' },
      'body.html',
      /^line 2: <link> is refused/,
    ],
    '@import': [
      { 'body.html': '<style>\n@import "x";</style>' },
      'body.html',
      /^line 2: in CSS @import/,
    ],
    '@import in mj-style': [
      {
        'body.mjml': inColumn('').replace(
          '<mjml>',
          '<mjml><mj-head>\n<mj-style>@import url(x);</mj-style></mj-head>',
        ),
      },
      'body.mjml',
      /^line 2: in CSS @import/,
    ],
    'an open style sheet': [
      { 'body.html': '\n<style>p{}' },
      'body.html',
      /^line 2: <style> is not closed/,
    ],
    'an unknown tag of MJML': [
      { 'body.mjml': inColumn('\n<mj-foo />') },
      'body.mjml',
      /^line 2: <mj-foo> is not/,
    ],
    'HTML between tags of MJML': [
      { 'body.mjml': inColumn('\n<p>x</p>') },
      'body.mjml',
      /^line 2: <p> is not/,
    ],
    'text between tags of MJML': [
      { 'body.mjml': inColumn('\nx') },
      'body.mjml',
      /^line 2: text is not possible/,
    ],
    'an unknown attribute of MJML': [
      { 'body.mjml': inColumn('\n<mj-text foo="1">x</mj-text>') },
      'body.mjml',
      /^line 2: <mj-text> has no attribute foo/,
    ],
    'a tag in the wrong place': [
      { 'body.mjml': inColumn('\n<mj-section></mj-section>') },
      'body.mjml',
      /^line 2: <mj-section> is not possible in <mj-column>/,
    ],
    'an open tag of MJML': [{ 'body.mjml': '<mjml>\n<mj-body>' }, 'body.mjml', /is not closed/],
    'a wrong end tag': [
      { 'body.mjml': '<mjml>\n<mj-body>\n</mjml>' },
      'body.mjml',
      /^line 3: <\/mjml> closes nothing/,
    ],
    'an include of a file': [
      { 'body.mjml': inColumn('\n<mj-include path="/etc/passwd" />') },
      'body.mjml',
      /^line 2: \/etc\/passwd is no file in partials/,
    ],
    'an include of an absolute path': [
      {
        'body.mjml': inColumn('<mj-include path="/partials/a.mjml" />'),
        'partials/a.mjml': '',
      },
      'body.mjml',
      /is no file in partials/,
    ],
    'an include of a parent': [
      { 'body.mjml': inColumn('<mj-include path="partials/../../x" />') },
      'body.mjml',
      /is no file in partials/,
    ],
    'an include that includes itself': [
      {
        'body.mjml': inColumn('<mj-include path="./partials/a.mjml" />'),
        'partials/a.mjml': '<mj-include path="./a.mjml" />',
      },
      'partials/a.mjml',
      /^line 1: partials\/a.mjml places itself/,
    ],
    'a value between rows of a column': [
      { 'body.mjml': inColumn('\n{{ x }}<mj-text>a</mj-text>') },
      'body.mjml',
      /^line 2: a value is not possible here/,
    ],
    'a footer between rows of a column': [
      { 'body.mjml': inColumn('\n{% brand_footer %}') },
      'body.mjml',
      /^line 2: a value is not possible here/,
    ],
    'Liquid in a width': [
      { 'body.mjml': inColumn('\n<mj-image width="{{ w }}" src="x" alt="" />') },
      'body.mjml',
      /^line 2: width of <mj-image> cannot have Liquid/,
    ],
    'columns of unknown number': [
      {
        'body.mjml':
          '<mjml><mj-body><mj-section>\n{% for c in columns %}<mj-column></mj-column>{% endfor %}</mj-section></mj-body></mjml>',
      },
      'body.mjml',
      /^line 2: beside a block of Liquid each column/,
    ],
    'two preheaders': [
      {
        'template.yaml': 'subject: x\npreheader: y',
        'body.mjml': inColumn('').replace(
          '<mjml>',
          '<mjml><mj-head><mj-preview>z</mj-preview></mj-head>',
        ),
      },
      'template.yaml',
      /^the preheader is in <mj-preview> too/,
    ],
    'mj-html-attributes': [
      {
        'body.mjml':
          '<mjml><mj-head>\n<mj-html-attributes></mj-html-attributes></mj-head><mj-body></mj-body></mjml>',
      },
      'body.mjml',
      /^line 2: <mj-html-attributes> is not supported/,
    ],
  };
  for (const [name, [files, path, problem]] of Object.entries(bad)) {
    it(`have ${name}`, async () => {
      const fields = await fieldsOf(files);
      expect(fields).toEqual({ [`files.${path}`]: [expect.stringMatching(problem)] });
    });
  }
});

describe('hostile templates', () => {
  const deep = (open: string, close: string, count: number) =>
    open.repeat(count) + close.repeat(count);
  const rows = '<p class="a b c">x</p>'.repeat(5000);
  const hostile: Record<string, [files: TemplateFiles, problem: RegExp]> = {
    '2 MB of HTML': [{ 'body.html': 'x'.repeat(2_000_000) }, /at most 512 KB/],
    'HTML nested 1,000 deep': [
      { 'body.html': `\n${deep('<div>', '</div>', 1000)}` },
      /^line 2: .*128 deep/,
    ],
    'HTML nested 10,000 deep': [
      { 'body.html': deep('<div>', '</div>', 10_000) },
      /^line 1: .*128 deep/,
    ],
    'open elements': [{ 'body.html': '<div>\n'.repeat(10_000) }, /^line 129: .*128 deep/],
    'open formatting that each paragraph repeats': [
      { 'body.html': Array.from({ length: 200 }, (_, index) => `<p><b id=${index}>`).join('\n') },
      /128 deep/,
    ],
    'tables nested 1,000 deep': [{ 'body.html': '<table><tr><td>'.repeat(1000) }, /128 deep/],
    'svg nested 10,000 deep': [{ 'body.html': `<svg>${'<g>'.repeat(10_000)}` }, /128 deep/],
    'templates nested 10,000 deep': [{ 'body.html': '<template>'.repeat(10_000) }, /128 deep/],
    'partials that nest together': [
      {
        'body.html': `${'<div>'.repeat(100)}{% render 'a' %}`,
        'partials/a.html': '<div>'.repeat(100),
      },
      /128 deep/,
    ],
    'partials that multiply': [
      {
        'body.html': "{% render 'a0' %}",
        ...Object.fromEntries(
          Array.from({ length: 15 }, (_, index) => [
            `partials/a${index}.html`,
            index === 14 ? 'x' : `{% render 'a${index + 1}' %}`.repeat(10),
          ]),
        ),
      },
      /more than 500 times/,
    ],
    'MJML nested 1,000 deep': [
      { 'body.mjml': `<mjml><mj-body>${'<mj-wrapper>'.repeat(1000)}` },
      /^line 1: /,
    ],
    'MJML nested 10,000 deep': [
      { 'body.mjml': `<mjml><mj-body><mj-section>${'<mj-group>'.repeat(10_000)}` },
      /^line 1: /,
    ],
    '20,000 sections': [
      {
        'body.mjml': `<mjml><mj-body>${'<mj-section></mj-section>'.repeat(20_000)}</mj-body></mjml>`,
      },
      /^line 1: .*3000 tags/,
    ],
    'HTML in MJML nested 10,000 deep': [
      { 'body.mjml': inColumn(`<mj-text>\n${'<div>'.repeat(10_000)}</mj-text>`) },
      /^line 2: .*128 deep/,
    ],
    'rows in mj-table nested 10,000 deep': [
      { 'body.mjml': inColumn(`<mj-table>${'<tr><td><table>'.repeat(10_000)}</mj-table>`) },
      /128 deep/,
    ],
    '9,000 nested if': [{ 'body.html': deep('{% if a %}', '{% endif %}', 9000) }, /nested|tags/],
    'half a million outputs': [{ 'body.html': '{{a}}'.repeat(100_000) }, /at most 5000 tags/],
    'CSS that meets all elements': [
      { 'body.html': `<style>${'* * * .a{color:red}'.repeat(900)}</style>${rows}` },
      /the CSS is too large for \d+ elements|takes over 1 s/,
    ],
    'CSS with many properties': [
      {
        'body.html': `<style>p{${Array.from({ length: 3000 }, (_, index) => `a${index}:red`).join(';')}}</style>${rows}`,
      },
      /the CSS is too large|takes over 1 s/,
    ],
    'CSS with nested brackets': [
      { 'body.html': `<style>a{b:${'('.repeat(100_000)}` },
      /not closed/,
    ],
    'CSS with nested rules': [
      { 'body.html': `<style>${'@media x{'.repeat(40_000)}</style>` },
      /16 deep/,
    ],
    'many elements': [{ 'body.html': '<i></i>'.repeat(20_001) }, /20000 elements/],
    'one element with 30,000 attributes': [
      {
        'body.html': `<p ${Array.from({ length: 30_000 }, (_, index) => `a${index}={{x}}`).join(' ')}>`,
      },
      /at most 5000 tags/,
    ],
    'flow sequences nested in YAML': [
      { 'template.yaml': `a: ${'['.repeat(16_000)}`, 'body.html': 'x' },
      /./,
    ],
    'a contract nested 10,000 deep': [
      { 'body.html': 'x', 'contract.json': `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}` },
      /nested over 32/,
    ],
  };

  it('are refused with their place, and stall nothing', async () => {
    await compile({ 'body.html': 'x' });
    for (const [name, [files, problem]] of Object.entries(hostile)) {
      const before = startWork();
      const fields = await fieldsOf(files);
      const worked = workedMs(before);
      expect(Object.values(fields).flat().join(), name).toMatch(problem);
      // All of the main thread's work, so that no stall is longer; a busy machine does not count.
      expect(worked, name).toBeLessThan(50);
      expect(await html(`<p>${name}</p>`), name).toContain(name);
    }
  });

  it('end at the deadline', async () => {
    // Parsers compare each name of an attribute with all others of its tag: these two tags take a
    // second or so.
    const names = Array.from({ length: 100_000 }, (_, index) => index.toString(36)).join(' ');
    const tag = `<p ${names}></p>`;
    const files = { 'body.html': `${tag}{% render 'one' %}`, 'partials/one.html': tag };
    const hasty = appWith(100);
    expect(await fieldsOf(files, '', hasty)).toEqual({
      'files.body.html': ['takes over 1 s to compile: make it smaller'],
    });
    const { compiled } = await compile({ 'body.html': '<p>next</p>' }, '', hasty);
    expect(compiled.html).toContain('next');
  });
});

describe('advice about content', () => {
  it('names the file and line of each mistake', async () => {
    const { warnings } = await compile(
      {
        'body.html':
          '<script></script>\n<form></form>\n<img src="http://a.test/{{ x }}">\n<style>\n{% if x %}p{}{% endif %}</style>' +
          '\n<b {% if x %}class="a"{% endif %}>x</b>',
        'body.txt': ' ',
      },
      'b + b {top: 0}',
    );
    expect(warnings.map(({ code, path, line }) => [code, path, line])).toEqual([
      ['script', 'body.html', 1],
      ['form', 'body.html', 2],
      ['image-without-alt', 'body.html', 3],
      ['insecure-image', 'body.html', 3],
      ['style-not-inlined', 'body.html', 5],
      ['attribute-not-inlined', 'body.html', 6],
      ['css-counts-elements', 'body.html', null],
      ['text-missing', 'body.html', null],
    ]);
  });

  it('is given for images and fonts of MJML', async () => {
    const { warnings } = await compile({
      'body.mjml': inColumn('\n<mj-image src="http://a.test/a.png" />').replace(
        '<mjml>',
        '<mjml><mj-head><mj-font name="A" href="https://a.test/a.css" /></mj-head>',
      ),
      'body.txt': 'x',
    });
    expect(warnings.map(({ code, line }) => [code, line])).toEqual([
      ['remote-css', 1],
      ['image-without-alt', 2],
      ['insecure-image', 2],
    ]);
  });

  it('is given for HTML that Gmail would cut', async () => {
    const { warnings } = await compile({ 'body.html': 'x'.repeat(103 * 1024) });
    expect(warnings.map(({ code }) => code)).toEqual(['clipped-by-gmail']);
  });

  it('is given for the HTML as it is sent', async () => {
    const sent =
      '<a href="https://other.test/">x</a><a href="https://mail.example.com/a">y</a><script></script>' +
      '<form></form><img src="http://example.com/a.png"><link rel="stylesheet" href="x">';
    const facts = { senderDomain: 'example.com', hasGroup: true };
    const codes = (await lintContent(app, 'org_1', sent, facts)).map(({ code }) => code);
    expect(codes.toSorted((one, other) => one.localeCompare(other))).toEqual([
      'foreign-link',
      'form',
      'image-without-alt',
      'insecure-image',
      'remote-css',
      'script',
      'unsubscribe-link-missing',
    ]);
  });
});
