// Templates, a single template with the versions, and a preview with sample data. template-files.ts
// edits the files, template-history.ts shows the commits.
import { templateRoutes } from '../../../../src/content/templates/routes.ts';
import type { Rendered, TemplateVersion } from '../../../../src/content/templates/schema.ts';
import type { Download } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Form, Page, View } from '../../page.ts';
import { confirmed, requireTyped } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { button, choice, field, form, jsonIn } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { type List, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { orAgain } from '../../refused.ts';
import { state } from '../../states.ts';
import { filePages } from './template-files.ts';
import { historyPages } from './template-history.ts';

const statuses = ['draft', 'published', 'archived'];
const ownPath = ({ params }: Asked) => `/templates/${params['id']}`;

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may } = asked;
  const { status, slug, page } = asked.query;
  const found = await ask(templateRoutes.list, { query: { status, slug, page } });
  const body = together(
    problem,
    filters(html`
      ${field({ name: 'slug', label: 'Slug', value: slug, type: 'search' })}
      ${choice({ name: 'status', label: 'Status', options: statuses, value: status })}
    `),
    table(
      asked,
      found,
      [
        ['Name', ({ id, name }) => link(`/templates/${id}`, name)],
        ['Slug', ({ slug: own }) => own],
        ['Status', ({ status: word }) => state(word)],
        ['Version', ({ version }) => version],
        ['Changed', ({ updatedAt }) => time(updatedAt)],
      ],
      'No template fits: "svc templates create" makes one from a folder, and so does the form below.',
    ),
    may('templates:write') && html`<h2>Make a template</h2>`,
    may('templates:write') &&
      form(
        asked,
        'make',
        'Make the template',
        html`
        ${field({ name: 'newSlug', label: 'Slug', value: given['newSlug'], isRequired: true, hint: 'Lower-case letters, digits and hyphens' })}
        ${field({ name: 'subject', label: 'Subject', value: given['subject'], isRequired: true })}
        ${field({ name: 'html', label: 'HTML', type: 'textarea', value: given['html'] ?? '<p>Hello {{ name }}</p>', isRequired: true })}
      `,
      ),
  );
  return { title: 'Templates', body, command: 'svc templates list', request: 'GET /v1/templates' };
}

async function make({ ask }: Asked, { newSlug = '', subject, html: page }: Form): Promise<string> {
  const body = { slug: newSlug.trim(), subject, html: page };
  const { id } = await ask(templateRoutes.create, { body });
  return `/console/templates/${id}`;
}

function advice(warnings: Rendered['warnings']): Part {
  if (warnings.length === 0) return null;
  return html`<ul>${warnings.map(({ message, path, line }) => html`<li>${path} ${line !== null && `line ${line}`} ${message}</li>`)}</ul>`;
}

function versionsPart(asked: Asked, versions: List<TemplateVersion>): Part {
  return together(
    html`<h2>Versions</h2>`,
    table(
      asked,
      versions,
      [
        ['Version', ({ version }) => version],
        ['Commit', ({ commit }) => html`<code>${commit.slice(0, 10)}</code>`],
        ['HTML', ({ htmlBytes }) => `${htmlBytes.toLocaleString('en')} bytes`],
        ['Advice', ({ warnings }) => advice(warnings)],
        ['Published', ({ createdAt }) => time(createdAt)],
      ],
      'Nothing is published yet.',
    ),
  );
}

async function one(asked: Asked): Promise<View> {
  const { ask, may, params, query } = asked;
  const [template, versions] = await Promise.all([
    ask(templateRoutes.get, { params }),
    ask(templateRoutes.versions, { params, query: { page: query['page'] } }),
  ]);
  const own = ownPath(asked);
  const body = together(
    html`<nav class="tabs" aria-label="Views of the template">
      ${link(`${own}/files`, 'Files')} ${link(`${own}/history`, 'History')}
      ${link(`${own}/changes`, 'Unpublished changes')} ${link(`${own}/render${template.version === null ? '?draft=1' : ''}`, 'Preview')}
    </nav>`,
    may('templates:write') &&
      html`<div class="row">
        ${button(asked, { action: 'publish', label: 'Publish the saved files', isFirst: true })}
        ${button(asked, { action: 'duplicate', label: 'Copy' })}
        ${template.status !== 'archived' && button(asked, { action: 'archive', label: 'Take out of use' })}
      </div>`,
    facts(template, [
      ['Slug', 'slug'],
      ['Status', 'status'],
      ['Version that sends use', 'version'],
      ['Description', 'description'],
      ['Published', 'publishedAt'],
      ['Id', 'id'],
    ]),
    versionsPart(asked, versions),
    may('templates:delete') &&
      confirmed(asked, {
        action: 'delete',
        label: 'Delete with its history',
        question: `Delete ${template.name}?`,
        goes: 'All files and their history go. Sent mail stays.',
        typedName: template.name,
      }),
  );
  return {
    title: template.name,
    body,
    command: `svc templates show ${params['id']}`,
    request: `GET /v1/templates/${params['id']}`,
  };
}

/** Requests the content that a send would have. */
function rendered({ ask, params, query }: Asked): Promise<Rendered> {
  const { data, draft } = query;
  const sample = jsonIn(data, 'The sample data');
  const body = { ...(sample && { data: sample }), ...(draft === '1' && { draft: true }) };
  return ask(templateRoutes.render, { params, body });
}

function result(asked: Asked, { subject, preheader, html: page, text, warnings }: Rendered): Part {
  const search = new URLSearchParams(asked.query).toString();
  const frame = `/console${ownPath(asked)}/look?${search}`;
  return html`<section aria-label="The mail">
    <h2>${subject}</h2><p class="note">${preheader}</p>${advice(warnings)}
    ${page !== null && html`<iframe class="preview light" sandbox="" title="The mail as HTML" src=${frame}></iframe>`}
    <details><summary>As text</summary><pre>${text}</pre></details>
  </section>`;
}

/** Draws sample data beside the mail filled with it. */
async function render(asked: Asked): Promise<View> {
  const { data = '', draft } = asked.query;
  const input = html`<form method="get" class="fields">
    ${field({ name: 'data', label: 'Sample data, as JSON', type: 'textarea', value: data, rows: 14, hint: 'Empty: sample.json of the template, if it has one' })}
    <label><span><input type="checkbox" name="draft" value="1" checked=${draft === '1'} /> the files as edited, not the published version</span></label>
    <div class="row"><button class="first">Render</button></div>
  </form>`;
  const draw = (part: Part): View => ({
    title: 'Render',
    body: html`<div class="beside">${input}${part}</div>`,
    command: `svc templates render ${asked.params['id']}`,
    request: `POST /v1/templates/${asked.params['id']}/render`,
  });
  return orAgain(
    async () => draw(result(asked, await rendered(asked))),
    (problem) => draw(problem),
  );
}

async function look(asked: Asked): Promise<Download> {
  const { html: page } = await rendered(asked);
  return { contentType: 'text/html; charset=utf-8', disposition: 'inline', bytes: page ?? '' };
}

const act = (verb: 'publish' | 'archive' | 'duplicate'): Action => ({
  needs: 'templates:write',
  async run({ ask, params }) {
    const { id } = await ask(templateRoutes[verb], { params });
    return `/console/templates/${id}`;
  },
});

export const templatePages: readonly Page[] = [
  {
    path: '/templates',
    needs: 'templates:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: { needs: 'templates:write', run: make },
    },
  },
  {
    path: '/templates/:id',
    needs: 'templates:read',
    show: one,
    actions: {
      publish: act('publish'),
      archive: act('archive'),
      duplicate: act('duplicate'),
      delete: {
        needs: 'templates:delete',
        asks: 'delete this template and its history',
        destroys: true,
        async run({ ask, params }, given) {
          requireTyped(given, (await ask(templateRoutes.get, { params })).name);
          await ask(templateRoutes.delete, { params });
          return { to: '/console/templates', said: 'The template is deleted.' };
        },
      },
    },
  },
  ...filePages,
  ...historyPages,
  { path: '/templates/:id/render', needs: 'templates:read', show: render },
  { path: '/templates/:id/look', needs: 'templates:read', show: look },
];
