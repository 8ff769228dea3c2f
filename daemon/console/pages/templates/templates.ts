// Templates with their pictures, and a template with its versions. template-files.ts edits the
// files, template-history.ts shows the commits, template-preview.ts the mail with sample data.
import { templateRoutes } from '../../../../src/content/templates/routes.ts';
import type { Template, TemplateVersion } from '../../../../src/content/templates/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Form, Page, View } from '../../page.ts';
import { card, foldedCard } from '../../parts/card.ts';
import { confirmed, requireTyped } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { button, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { emptyState, type List, pager, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { filePages } from './template-files.ts';
import { historyPages } from './template-history.ts';
import { advice, picture, previewPages } from './template-preview.ts';

/** Templates on a page: few, because each has a frame with a picture. */
const perPage = 12;
const statuses = ['draft', 'published', 'archived'];

function making(asked: Asked, isOpen: boolean): Part {
  if (!asked.may('templates:write')) return null;
  const fields = html`
    ${field({ name: 'newName', label: 'Name', isRequired: true })}
    ${field({ name: 'newSlug', label: 'Short name for programs', isRequired: true, hint: 'Lower-case letters, digits and hyphens' })}
    ${field({ name: 'subject', label: 'Subject', isRequired: true })}
    ${field({ name: 'html', label: 'HTML', type: 'textarea', value: '<p>Hello {{ name }}</p>', isRequired: true })}`;
  const body = form(asked, 'make', 'Make the template', fields);
  return foldedCard('Make a template', body, 'or from a folder: svc templates create', isOpen);
}

function pictured(template: Template): Part {
  const { id, name, status, version, updatedAt } = template;
  const words = version === null ? null : ` · version ${version}`;
  return html`<li class="card">${picture(template)}<div class="in"><p><b>${link(`/templates/${id}`, name)}</b><br /><small>${time(updatedAt)}${words}</small></p><p>${state(status)}</p></div></li>`;
}

async function list(asked: Asked): Promise<View> {
  const { status, slug, page } = asked.query;
  const query = { status, slug, page, limit: perPage };
  const found = await asked.ask(templateRoutes.list, { query });
  const isNone = found.items.length === 0;
  const filtering = filterRow(asked, {
    search: { name: 'slug', label: 'Short name' },
    chips: [{ name: 'status', label: 'State', options: statuses, value: status }],
  });
  return {
    title: 'Templates',
    below: 'Content of mail, filled for each recipient',
    body: together(
      html`<section class="card" aria-label="Filters">${filtering}${isNone && emptyState(status || slug ? 'No template fits.' : 'There is no template yet.')}</section>`,
      !isNone && html`<ul class="shelf">${found.items.map(pictured)}</ul>`,
      pager(asked, found),
      making(asked, isNone && !status && !slug),
    ),
    command: 'svc templates list',
    request: 'GET /v1/templates',
  };
}

async function make({ ask }: Asked, given: Form): Promise<string> {
  const { newSlug = '', newName = '', subject, html: page } = given;
  const name = newName.trim();
  const body = { ...(name && { name }), slug: newSlug.trim(), subject, html: page };
  const { id } = await ask(templateRoutes.create, { body });
  return `/console/templates/${id}`;
}

function versionsPart(asked: Asked, versions: List<TemplateVersion>): Part {
  return card(
    'Versions',
    table(
      asked,
      versions,
      [
        { head: 'Version', cell: ({ version }) => html`<b>Version ${version}</b>` },
        { head: 'Published', isNumber: true, cell: ({ createdAt }) => time(createdAt) },
        { head: 'Advice', cell: ({ warnings }) => advice(warnings) },
      ],
      'Nothing is published yet.',
    ),
  );
}

function removal(asked: Asked, template: Template): Part {
  const { may } = asked;
  const ids = facts(template, [
    ['Short name', 'slug'],
    ['Id', 'id'],
  ]);
  const buttons = html`<div class="row">
    ${may('templates:write') && template.status !== 'archived' && button(asked, { action: 'archive', label: 'Take out of use' })}
    ${may('templates:delete') && confirmed(asked, { action: 'delete', label: 'Delete with its history', question: `Delete ${template.name}?`, goes: 'All files and their history go. Sent mail stays.', typedName: template.name })}
  </div>`;
  return foldedCard('For developers, and removal', html`${ids}${buttons}`, template.slug);
}

async function one(asked: Asked): Promise<View> {
  const { ask, may, params, query } = asked;
  const [template, versions] = await Promise.all([
    ask(templateRoutes.get, { params }),
    ask(templateRoutes.versions, { params, query: { page: query['page'] } }),
  ]);
  const { name, description, status, version, publishedAt } = template;
  const own = `/templates/${params['id']}`;
  const when = publishedAt && html`version ${version}, published ${time(publishedAt)}`;
  const other = `${own}/render${version === null ? '?draft=1' : ''}`;
  const body = together(
    html`<nav class="tabs" aria-label="Views of the template">
      <a href=${`/console${own}`} aria-current="page">Overview</a> ${link(`${own}/files`, 'Files')} ${link(other, 'Preview')}
      ${link(`${own}/changes`, 'Unpublished changes')} ${link(`${own}/history`, 'History')}
    </nav>`,
    html`<div class="two"><div class="grid">${versionsPart(asked, versions)}${removal(asked, template)}</div>
      ${card('How it looks', picture({ ...template, id: params['id'] ?? '' }), { more: link(other, 'With other data'), id: 'look' })}</div>`,
  );
  return {
    title: name,
    heading: html`${name} ${state(status)}`,
    below: html`${when ?? 'never published'}${description && ` · ${description}`}`,
    actions:
      may('templates:write') &&
      html`${button(asked, { action: 'duplicate', label: 'Copy' })}${button(asked, { action: 'publish', label: 'Publish the saved files', isFirst: true })}`,
    body,
    command: `svc templates show ${params['id']}`,
    request: `GET /v1/templates/${params['id']}`,
  };
}

const act = (verb: 'publish' | 'archive' | 'duplicate', said: string): Action => ({
  needs: 'templates:write',
  async run({ ask, params }) {
    const { id } = await ask(templateRoutes[verb], { params });
    return { to: `/console/templates/${id}`, said };
  },
});

export const templatePages: readonly Page[] = [
  {
    path: '/templates',
    needs: 'templates:read',
    show: list,
    actions: {
      make: { needs: 'templates:write', run: make },
    },
  },
  {
    path: '/templates/:id',
    needs: 'templates:read',
    show: one,
    actions: {
      publish: act('publish', 'Published: sends use it from now on.'),
      archive: act('archive', 'It is out of use.'),
      duplicate: act('duplicate', 'This is the copy.'),
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
  ...previewPages,
];
