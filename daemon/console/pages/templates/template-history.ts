// The commits of a template, and their changes.
import { workspaceRoutes } from '../../../../src/content/templates/workspace/routes.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { button } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';

/** Most lines on a page, over all files of a commit. */
const mostLines = 4_000;
const workspacePath = ({ params }: Asked) => `/v1/templates/${params['id']}/workspace`;
const ownPath = ({ params }: Asked) => `/templates/${params['id']}`;

async function history(asked: Asked): Promise<View> {
  const { ask, may, params, query } = asked;
  const [found, { workspace }, staged] = await Promise.all([
    ask(workspaceRoutes.history, { params, query: { cursor: query['cursor'] } }),
    ask(workspaceRoutes.show, { params }),
    ask(workspaceRoutes.diff, { params }),
  ]);
  // A restore would replace staged files, so it is not offered beside them.
  const hasStaged = staged.files.length > 0;
  const changes = (from: string | undefined, to: string) =>
    from && link(withQuery(`${ownPath(asked)}/changes`, { from, to }), 'changes');
  const restore = (commit: string) =>
    button(asked, {
      action: 'restore',
      label: 'Restore',
      fields: { commit, revision: workspace.revision, once: asked.newToken() },
    });
  const body = together(
    table(
      asked,
      found,
      [
        ['Change', ({ message, commit }) => html`<b title=${commit}>${message}</b>`],
        ['By', ({ author }) => author.name],
        ['When', ({ date }) => time(date)],
        ['Version', ({ version }) => version],
        [
          'Actions',
          ({ commit, parents }) =>
            html`${changes(parents[0], commit)} ${may('templates:write') && !hasStaged && restore(commit)}`,
        ],
      ],
      'Nothing was saved yet.',
    ),
    hasStaged &&
      html`<p class="note">Files are edited, but not saved: ${link(`${ownPath(asked)}/files`, 'save or discard them')} before you restore an older one.</p>`,
    html`<p>${link(ownPath(asked), 'Back to the template')}</p>`,
  );
  return {
    title: 'History of the template',
    body,
    command: `svc templates history ${params['id']}`,
    request: `GET ${workspacePath(asked)}/history`,
  };
}

const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };

/** Draws at most `most` lines of a difference: each line is an element of the page. */
function lines(diff: string, most: number): Part {
  const all = diff.split('\n');
  return together(
    html`<pre class="diff">${all
      .slice(0, most)
      .map((line) => html`<span class=${kinds[line[0] ?? '']}>${line}\n</span>`)}</pre>`,
    all.length > most &&
      html`<p class="note">${(all.length - most).toLocaleString('en')} more lines are not shown: "svc templates diff" shows them.</p>`,
  );
}

async function changes(asked: Asked): Promise<View> {
  const { ask, query, params } = asked;
  const { from, to } = query;
  const { files } = await ask(workspaceRoutes.diff, { params, query: { from, to } });
  return {
    title: from ? 'Changes of one save' : 'Changes that are not saved',
    body: together(
      files.length === 0 && emptyState('Nothing differs.'),
      files.map(
        ({ path: name, status, diff, isTruncated }) =>
          html`<section><h2>${name} <small>${status}</small></h2>${lines(diff, Math.ceil(mostLines / files.length))}${isTruncated && html`<p class="note">The rest is cut off.</p>`}</section>`,
      ),
      html`<p>${link(ownPath(asked), 'Back to the template')}</p>`,
    ),
    command: `svc templates diff ${params['id']}`,
    request: `GET ${workspacePath(asked)}/diff`,
  };
}

export const historyPages: readonly Page[] = [
  {
    path: '/templates/:id/history',
    needs: 'templates:read',
    show: history,
    actions: {
      restore: {
        needs: 'templates:write',
        async run(asked, { commit, revision, once }) {
          const body = { commit, expectedRevision: revision, idempotencyKey: `${once}-restore` };
          await asked.ask(workspaceRoutes.restore, { params: asked.params, body });
          return `/console${ownPath(asked)}/files`;
        },
      },
    },
  },
  { path: '/templates/:id/changes', needs: 'templates:read', show: changes },
];
