// Templates of other services: their exports, as the documentation shows them, become drafts that
// fill the same way.
import { describe, expect, it } from 'vitest';
import { fillTemplate } from '../../../src/content/rendering/fill.ts';
import type { ForeignService } from '../../../src/content/templates/foreign/fields.ts';
import { importTemplates, slugOf } from '../../../src/content/templates/foreign/import.ts';
import { readForeign } from '../../../src/content/templates/foreign/services.ts';
import { toLiquid } from '../../../src/content/templates/foreign/to-liquid.ts';
import { findTemplatesBySlugs } from '../../../src/content/templates/queries.ts';
import { renderTemplate } from '../../../src/content/templates/render.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { emptyTemplate, fillApp, someValues } from '../rendering/fill-fixture.ts';

const isTrue = (name: string) => `${name} and ${name} != empty and ${name} != 0`;

const translations: [ForeignService, string, string][] = [
  ['sendgrid', 'Hi {{name}}, {{ order.id }}', 'Hi {{ name }}, {{ order.id }}'],
  ['sendgrid', '{{{html}}} {{& html}}', '{{ html | raw }} {{ html | raw }}'],
  [
    'sendgrid',
    '{{#if paid}}yes{{else}}no{{/if}}',
    `{% if ${isTrue('paid')} %}yes{% else %}no{% endif %}`,
  ],
  [
    'sendgrid',
    '{{#unless paid}}pay{{/unless}}',
    `{% unless ${isTrue('paid')} %}pay{% endunless %}`,
  ],
  [
    'sendgrid',
    '{{#each items}}{{this.name}} {{price}} {{@index}} {{../currency}}{{/each}}',
    '{% for item in items %}{{ item.name }} {{ item.price }} {{ forloop.index0 }} {{ currency }}{% endfor %}',
  ],
  [
    'sendgrid',
    '{{#each a}}{{#each this.b}}{{this}}{{/each}}{{/each}}',
    '{% for item in a %}{% for item2 in item.b %}{{ item2 }}{% endfor %}{% endfor %}',
  ],
  ['sendgrid', '{{insert name "default=there"}}', '{{ name | default: "there" }}'],
  ['sendgrid', 'a{{!-- {{x}} --}}b{{! c }}', 'ab'],
  [
    'sendgrid',
    '<%asm_group_unsubscribe_raw_url%> {{{unsubscribe}}}',
    '{{ unsubscribe_url }} {{ unsubscribe_url }}',
  ],
  ['sendgrid', '100 {% of it', '100 {{ "{%" }} of it'],
  ['mailgun', 'Hi {{ first.name }}', 'Hi {{ first.name }}'],
  ['ses', '{{name}} {{amazonSESUnsubscribeUrl}}', '{{ name }} {{ unsubscribe_url }}'],
  [
    'resend',
    '{{{PRODUCT}}} {{{RESEND_UNSUBSCRIBE_URL}}}',
    '{{ PRODUCT | raw }} {{ unsubscribe_url }}',
  ],
  [
    'postmark',
    '{{#each items}}{{.name}} {{name}} {{.}}{{/each}}',
    '{% for item in items %}{{ item.name }} {{ item.name }} {{ item }}{% endfor %}',
  ],
  [
    'postmark',
    '{{#product}}{{name}}{{/product}}{{^product}}none{{/product}}',
    `{% if ${isTrue('product')} %}{{ product.name }}{% endif %}{% unless ${isTrue('product')} %}none{% endunless %}`,
  ],
  ['postmark', '{{{ pm:unsubscribe }}}', '{{ unsubscribe_url }}'],
  [
    'listmonk',
    '{{ .Subscriber.FirstName }} {{ .Subscriber.Attribs.city }} {{ .Tx.Data.order }} {{ UnsubscribeURL }}{{ TrackView }}',
    '{{ contact.firstName }} {{ contact.customFields.city }} {{ order }} {{ unsubscribe_url }}',
  ],
  [
    'listmonk',
    '{{ if .Tx.Data.paid }}a{{ else }}b{{ end }}',
    `{% if ${isTrue('paid')} %}a{% else %}b{% endif %}`,
  ],
];

const untranslatable: [ForeignService, string, number][] = [
  ['sendgrid', 'a\n{{formatDate now "DD"}}', 2],
  ['sendgrid', '{{#equals a b}}x{{/equals}}', 1],
  ['sendgrid', '{{#if a}}never closed', 1],
  ['sendgrid', '{{/if}}', 1],
  ['sendgrid', '{{> partial}}', 1],
  ['sendgrid', '{{#each}}x{{/each}}', 1],
  ['postmark', '\n\n{{{ @content }}}', 3],
  ['mailgun', '{{#if (gt a 1)}}x{{/if}}', 1],
  ['listmonk', '{{ template "content" . }}', 1],
  ['listmonk', '{{ range .Tx.Data.items }}x{{ end }}', 1],
  ['listmonk', '{{ .Subscriber.UUID | printf "%s" }}', 1],
];

describe('a template of another service', () => {
  it.each(translations)('of %s: %s', (service, source, liquid) => {
    expect(toLiquid(service, source)).toEqual({ liquid, untranslated: [] });
  });

  it.each(untranslatable)('of %s is refused with its line: %j', (service, source, line) => {
    const { untranslated } = toLiquid(service, source);
    expect(untranslated[0]).toMatchObject({ line });
  });

  it('translates any text without an error, in a time that grows with it', () => {
    const seed = Math.floor(performance.now() * 1_000) % 1_000_000;
    const random = seededRandom(seed);
    const parts = [
      '{{',
      '}}',
      '{{{',
      '}}}',
      '#',
      '/',
      '^',
      'if',
      'each',
      ' a',
      '.b',
      '\n',
      '{%',
      '../',
      '<%',
      '%>',
      '"',
    ];
    for (let run = 0; run < 2_000; run++) {
      const text = Array.from(
        { length: 30 },
        () => parts[Math.floor(random.float() * parts.length)],
      ).join('');
      for (const service of ['sendgrid', 'postmark', 'listmonk'] as const) {
        expect(() => toLiquid(service, text), `seed ${seed}: ${text}`).not.toThrow();
      }
    }
  });

  it.each([
    ['never ending tags', '{{'],
    ['tags of three braces', '{{{'],
    ['comments', '{{!--'],
    ['tags among ends of another kind', '{{{}}'],
    ['open blocks', '{{#if a}}'],
    ['open loops', '{{#each a}}'],
    ['outer names', '{{#each a}}{{../b}}'],
    ['other tags', '<%'],
    ['names in brackets', '[a'],
    ['recipients', '%recipient'],
  ])('takes time in proportion to its length for %s', (_, part) => {
    const source = part.repeat(Math.ceil(600_000 / part.length));
    const begun = startWork();
    toLiquid('sendgrid', source);
    // In a time that grows with the square, 600 KB took 53 s.
    expect(workedMs(begun)).toBeLessThan(5_000);
  });

  it.each(['', 0, false, null, [], 'x', 1, true, [1], { a: 1 }])(
    'takes %j for what it is in the conditions of the other services',
    async (value) => {
      const filler = fillApp();
      const sources = [
        ['sendgrid', '{{#if a}}y{{else}}n{{/if}}{{#unless a}}n{{else}}y{{/unless}}'],
        ['postmark', '{{#a}}y{{/a}}{{^a}}n{{/a}}'],
        ['listmonk', '{{ if .Tx.Data.a }}y{{ else }}n{{ end }}'],
      ] as const;
      const text = sources.map(([service, source]) => toLiquid(service, source).liquid).join('|');
      const compiled = { ...emptyTemplate, text };
      const template = { key: `truth ${JSON.stringify(value)}`, compiled };
      const values = { ...someValues, data: { a: value } };
      const filled = await fillTemplate(filler.app, 'org_1', template, values, {
        dataField: 'data',
      });
      await filler.close();
      const isTrueThere = Array.isArray(value) ? value.length > 0 : Boolean(value);
      expect(filled.text?.trim()).toBe(isTrueThere ? 'yy|y|y' : 'nn|n|n');
    },
  );

  it('is named by a slug of its name', () => {
    expect(slugOf('Order Shipped! (v2)')).toBe('order-shipped-v2');
    expect(slugOf('Über Größe')).toBe('uber-gro-e');
    expect(slugOf('***')).toBe('template');
  });
});

const exports: Record<ForeignService, object> = {
  sendgrid: {
    result: [
      {
        id: 'd-1',
        name: 'Welcome',
        generation: 'dynamic',
        versions: [
          { active: 0, subject: 'Old', html_content: '<p>old</p>' },
          {
            active: 1,
            subject: 'Hi {{name}}',
            html_content: '<p>Hi {{name}}</p>',
            plain_content: 'Hi {{name}}',
          },
        ],
      },
    ],
  },
  postmark: {
    Name: 'Welcome',
    Alias: 'welcome',
    Subject: 'Hi {{name}}',
    HtmlBody: '<p>Hi {{name}}</p>',
    TextBody: 'Hi',
  },
  mailgun: {
    template: {
      name: 'welcome',
      version: {
        tag: 'v1',
        engine: 'handlebars',
        template: '<p>Hi {{name}}</p>',
        headers: { Subject: 'Hi {{name}}' },
      },
    },
  },
  ses: {
    TemplateName: 'Welcome',
    TemplateContent: { Subject: 'Hi {{name}}', Html: '<p>Hi {{name}}</p>' },
  },
  resend: {
    data: {
      id: 't1',
      alias: 'welcome',
      name: 'Welcome',
      subject: 'Hi {{{name}}}',
      html: '<p>Hi {{{name}}}</p>',
    },
  },
  listmonk: {
    data: [
      {
        id: 1,
        name: 'Welcome',
        type: 'tx',
        subject: 'Hi {{ .Tx.Data.name }}',
        body: '<p>Hi {{ .Tx.Data.name }}</p>',
      },
    ],
  },
};

describe.each(stores)('an import of templates on %s', (store) => {
  const { test } = eachApi({ store });

  it.each(Object.keys(exports) as ForeignService[])(
    'of %s makes a draft that fills',
    async (service) => {
      const text = JSON.stringify(exports[service]);
      const options = { service, text, dryRun: false };
      const preview = await importTemplates(test.app, test.caller, { ...options, dryRun: true });
      expect(preview).toMatchObject({
        created: 1,
        templates: [{ slug: 'welcome', result: 'created' }],
      });
      const report = await importTemplates(test.app, test.caller, options);
      expect(report).toMatchObject({ created: 1, refused: 0 });
      const [row] = await findTemplatesBySlugs(
        test.app.store.db,
        [test.caller.organizationId],
        ['welcome'],
      );
      const rendered = await renderTemplate(test.app, test.caller, row?.id ?? '', {
        draft: true,
        data: { name: 'Ada & Co' },
      });
      expect(JSON.stringify(rendered)).toContain('Hi Ada');
      const again = await importTemplates(test.app, test.caller, options);
      expect(again).toMatchObject({ created: 0, existing: 1 });
    },
  );

  it('refuses a template with a hole, and makes the others', async () => {
    const text = JSON.stringify([
      { Name: 'Good', Subject: 'Hi', HtmlBody: '<p>Hi</p>' },
      { Name: 'Bad', Subject: 'Hi', HtmlBody: '<p>\n{{{ @content }}}</p>' },
      { Name: 'good', Subject: 'Hi', HtmlBody: '<p>Again</p>' },
    ]);
    const report = await importTemplates(test.app, test.caller, {
      service: 'postmark',
      text,
      dryRun: false,
    });
    expect(report).toMatchObject({ created: 1, refused: 2 });
    expect(report.templates[1]).toMatchObject({
      result: 'refused',
      untranslated: [{ field: 'html', line: 2, text: '{{{ @content }}}' }],
    });
    expect(report.templates[2]?.reason).toContain('twice');
  });

  it('refuses files of another kind by their entry', () => {
    for (const text of ['', '{', 'null', '[1]', '{"data": [{"name": "x"}]}', '{"Name": "x"}']) {
      expect(() => readForeign('postmark', text), text).toThrow(/file/);
    }
    const many = JSON.stringify(
      Array.from({ length: 1_001 }, () => ({ Name: 'a', HtmlBody: 'b' })),
    );
    expect(() => readForeign('postmark', many)).toThrow('at most 1000');
  });
});
