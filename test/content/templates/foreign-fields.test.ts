// Each field of an export of templates is kept in the draft, a record of the service, or named in
// the report. The fixtures have every field that the services document.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type ForeignService,
  foreignServices,
  leftFields,
  treatmentOf,
} from '../../../src/content/templates/foreign/fields.ts';
import { importTemplates } from '../../../src/content/templates/foreign/import.ts';
import { toLiquid } from '../../../src/content/templates/foreign/to-liquid.ts';
import { findTemplatesBySlugs } from '../../../src/content/templates/queries.ts';
import { renderTemplate } from '../../../src/content/templates/render.ts';
import { eachApi } from '../../support/each-app.ts';

/** An export with every field, and the fields that the report names. */
interface Full {
  entry: Record<string, unknown>;
  named: string[];
}

const full: Record<ForeignService, Full> = {
  resend: {
    entry: {
      ...{ object: 'template', id: 't1', current_version_id: 'v1', alias: 'welcome' },
      ...{ name: 'Welcome', created_at: '2026-01-01', updated_at: '2026-01-01' },
      ...{ status: 'published', published_at: '2026-01-01', has_unpublished_versions: true },
      ...{ from: 'Ada <ada@example.com>', reply_to: ['help@example.com'] },
      ...{ subject: 'Hi {{{NAME|there}}}', html: '<p>{{{CITY}}} {{{COUNT}}}</p>', text: 'Hi' },
      variables: [
        { id: 'x', key: 'CITY', type: 'string', fallback_value: 'Rome', created_at: '2026' },
        { id: 'y', key: 'COUNT', type: 'number', fallback_value: 7 },
        { id: 'z', key: 'NONE', type: 'string', fallback_value: null },
      ],
    },
    named: ['from', 'reply_to'],
  },
  postmark: {
    entry: {
      ...{ TemplateId: 1, Name: 'Welcome', Alias: 'welcome', Subject: 'Hi', HtmlBody: '<p>a</p>' },
      ...{ TextBody: 'a', AssociatedServerId: 2, Active: true, TemplateType: 'Standard' },
      LayoutTemplate: 'main-layout',
    },
    named: ['LayoutTemplate'],
  },
  sendgrid: {
    entry: {
      ...{ id: 'd-1', name: 'welcome', generation: 'legacy', updated_at: '2026-01-01' },
      versions: [
        { active: 0, subject: 'old' },
        {
          ...{ id: 'v', user_id: 1, template_id: 'd-1', active: 1, name: 'v1', subject: 'Hi' },
          ...{ html_content: '<p>a</p>', plain_content: 'a', generate_plain_content: true },
          ...{ updated_at: '2026', editor: 'code', thumbnail_url: '//x', test_data: '{"a":1}' },
          warnings: [{ message: 'x' }],
        },
      ],
    },
    named: ['generation', 'versions', 'versions.test_data', 'versions.warnings'],
  },
  mailgun: {
    entry: {
      template: {
        ...{ name: 'welcome', description: 'for all', id: 'x', createdAt: '2026' },
        createdBy: 'ada',
        version: {
          ...{ id: 'v', tag: 'one', engine: 'handlebars', template: '<p>a</p>', active: true },
          ...{ mjml: '<mjml/>', createdAt: '2026', comment: 'first' },
          headers: { Subject: 'Hi', From: 'a@example.com', 'Reply-To': 'b@example.com' },
        },
      },
    },
    named: [
      ...['description', 'version.comment', 'version.headers.From', 'version.headers.Reply-To'],
      'version.mjml',
    ],
  },
  ses: {
    entry: {
      TemplateName: 'welcome',
      TemplateContent: { Subject: 'Hi', Text: 'a', Html: '<p>a</p>' },
      Tags: [{ Key: 'a', Value: 'b' }],
      ResponseMetadata: { RequestId: 'x' },
    },
    named: ['Tags'],
  },
  listmonk: {
    entry: {
      ...{ id: 1, created_at: '2026', updated_at: '2026', name: 'welcome', type: 'tx' },
      ...{ subject: 'Hi', body: '<p>a</p>', body_source: '{"root":{}}', is_default: false },
    },
    named: ['body_source'],
  },
};

describe('an import of templates', () => {
  const world = eachApi();

  it.each(foreignServices)('of %s keeps or names every field', async (service) => {
    const { entry, named } = full[service];
    const { test } = world;
    const text = JSON.stringify(entry);
    const report = await importTemplates(test.app, test.caller, { service, text, dryRun: false });
    const [one] = report.templates;
    expect([one?.result, one?.reason, one?.slug]).toEqual(['created', null, 'welcome']);
    expect(one?.left.map(({ field }) => field).sort()).toEqual(named);
    for (const { advice } of one?.left ?? []) expect(advice.length).toBeGreaterThan(15);
  });

  it.each(foreignServices)('of %s names a field that nobody has thought of', (service) => {
    const entry = { future: { content: 'x' }, empty: '', none: null, list: [] };
    expect(leftFields(service, entry).map(({ field }) => field)).toEqual(['future.content']);
  });

  it.each(foreignServices)(
    'of %s keeps only fields that the reader of the service reads',
    (service) => {
      const source = readFileSync('src/content/templates/foreign/services.ts', 'utf8');
      const at = source.indexOf(`\n  ${service}`, source.indexOf('const readers'));
      const reader = source.slice(at, source.indexOf('\n  },\n', at) + 1 || undefined);
      const paths = Object.keys(flat(full[service].entry));
      const kept = paths.filter((path) => treatmentOf(service, path) === 'kept');
      expect(kept.length).toBeGreaterThan(2);
      for (const path of kept) expect(reader, path).toContain(path.split('.').at(-1));
    },
  );

  it("fills Resend's fallbacks", async () => {
    const { test } = world;
    const text = JSON.stringify(full.resend.entry);
    await importTemplates(test.app, test.caller, { service: 'resend', text, dryRun: false });
    const organizations = [test.caller.organizationId];
    const [row] = await findTemplatesBySlugs(test.app.store.db, organizations, ['welcome']);
    const rendered = (data: Record<string, unknown>) =>
      renderTemplate(test.app, test.caller, row?.id ?? '', { draft: true, data });
    expect(await rendered({})).toMatchObject({ subject: 'Hi there' });
    expect(JSON.stringify(await rendered({}))).toContain('Rome 7');
    expect(await rendered({ NAME: 'Ada' })).toMatchObject({ subject: 'Hi Ada' });
  });
});

/** Returns the values by path, with the last version of SendGrid in the place of all. */
function flat(value: unknown, path = ''): Record<string, unknown> {
  if (Array.isArray(value) && path === 'versions') return flat(value.at(-1), path);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { [path]: value };
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, one]) =>
      flat(one, path === '' || path === 'template' ? name : `${path}.${name}`),
    ),
  );
}

const constructs: [ForeignService, string, string | null][] = [
  ['resend', '{{{X|there}}}', '{{ X | default: "there" | raw }}'],
  ['resend', '{{{ X | "quoted" }}}', '{{ X | default: \'"quoted"\' | raw }}'],
  ['resend', `{{{X|it's "both"}}}`, null],
  ['sendgrid', '{{insert x "default=a\\b"}}', '{{ x | default: "a\\b" }}'],
  ['sendgrid', '<%body%>', null],
  ['sendgrid', '<%asm_preferences_raw_url%>', null],
  ['mailgun', '%recipient.first%', '{{ first }}'],
  ['mailgun', '%recipient_email%', null],
  ['mailgun', '%unsubscribe_url%', '{{ unsubscribe_url }}'],
  ['ses', '100 [a] of it', '100 [a] of it'],
];

it.each(constructs)('a construct of %s is translated or named: %s', (service, source, liquid) => {
  const { untranslated, ...made } = toLiquid(service, source);
  if (liquid === null) expect(untranslated).toHaveLength(1);
  else expect([made.liquid, untranslated]).toEqual([liquid, []]);
});
