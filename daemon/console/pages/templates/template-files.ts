// The files of a template, in a plain text editor. A save is a commit on top of the revision that
// was read. If a different change came first, the save is refused, and the typed text stays in the
// editor.
import { templateRoutes } from '../../../../src/content/templates/routes.ts';
import { workspaceRoutes } from '../../../../src/content/templates/workspace/routes.ts';
import type { WorkspaceView } from '../../../../src/content/templates/workspace/schema.ts';
import { refusalOf, withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Form, Page, View } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { advice } from './template-preview.ts';

const ownPath = ({ params }: Asked) => `/templates/${params['id']}`;
const editorOf = (asked: Asked, path: string) => withQuery(`${ownPath(asked)}/edit`, { path });

const messageField = field({
  name: 'message',
  label: 'What changed',
  hint: 'Stands in the history; empty: the names of the files',
});

/** Draws hidden fields: the change is made once, and only to the revision that was read. */
function guard(asked: Asked, { workspace }: WorkspaceView): Part {
  return html`<input type="hidden" name="revision" value=${workspace.revision} />
    <input type="hidden" name="once" value=${asked.newToken()} />`;
}

async function files(asked: Asked): Promise<View> {
  const { ask, may, params } = asked;
  const [view, changes] = await Promise.all([
    ask(workspaceRoutes.show, { params }),
    ask(workspaceRoutes.diff, { params }),
  ]);
  const { conflicts, revision } = view.workspace;
  const rows = Object.entries(view.files).map(
    ([path, content]) =>
      html`<li>${link(editorOf(asked, path), path)} <small>${content.length.toLocaleString('en')} characters</small></li>`,
  );
  const isStaged = changes.files.length > 0;
  const once = asked.newToken();
  const body = together(
    conflicts.length > 0 &&
      html`<p class="problem">Main changed these files too: ${conflicts.map(({ path }) => path).join(', ')}. Edit each, then save.</p>`,
    html`<ul>${rows}</ul>`,
    isStaged && html`<h2>Edited, but not saved</h2>`,
    isStaged &&
      html`<ul>${changes.files.map(({ path, status }) => html`<li>${path}: ${status}</li>`)}</ul>`,
    may('templates:write') &&
      isStaged &&
      form(asked, 'save', 'Save as a version', html`${guard(asked, view)}${messageField}`),
    may('templates:write') &&
      isStaged &&
      confirmed(asked, {
        action: 'discard',
        label: 'Discard the edits',
        question: 'Discard the edits?',
        goes: 'What was edited and not saved goes.',
        fields: { revision, once },
      }),
    may('templates:write') && html`<h2>Add a file</h2>`,
    may('templates:write') &&
      html`<form method="get" action=${`/console${ownPath(asked)}/edit`} class="fields">
        ${field({ name: 'path', label: 'Path', isRequired: true, hint: 'body.html, body.txt, template.yaml, partials/…' })}
        <div class="row"><button>Edit</button></div></form>`,
    html`<p>${link(ownPath(asked), 'Back to the template')}</p>`,
  );
  return {
    title: 'Files of the template',
    body,
    command: `svc templates pull ${params['id']}`,
    request: `GET /v1/templates/${params['id']}/workspace`,
  };
}

/** Draws the mail as the edited files make it, or the reason why they make none. */
async function preview(asked: Asked): Promise<Part> {
  const { ask, params } = asked;
  try {
    const body = { draft: true };
    const { subject, preheader, warnings } = await ask(templateRoutes.render, { params, body });
    const frame = `/console${ownPath(asked)}/look?draft=1`;
    return card(
      'The mail as edited',
      html`<p><b>${subject}</b>${preheader && html`<br /><small>${preheader}</small>`}</p>
      <iframe class="preview light" sandbox="" title="The mail as edited" src=${frame}></iframe>${advice(warnings)}`,
    );
  } catch (error) {
    return card(
      'The mail as edited',
      html`<p class="problem" role="status">${refusalOf(error).message}</p>`,
    );
  }
}

async function editor(asked: Asked): Promise<View> {
  const { ask, may, params, query, problem } = asked;
  const path = query['path'] ?? '';
  const view = await ask(workspaceRoutes.show, { params });
  const content = Object.hasOwn(view.files, path) ? view.files[path] : '';
  const isMail = Object.keys(view.files).some((name) => name.startsWith('body.'));
  const body = together(
    problem &&
      html`<p class="note">Your text is below. The file itself: ${link(editorOf(asked, path), path)}. Save again to put yours in its place.</p>`,
    html`<div class="beside">${
      may('templates:write')
        ? form(
            asked,
            'stage',
            'Show it',
            html`${guard(asked, view)}
        ${field({ name: 'content', label: 'Content', type: 'textarea', value: content, rows: 24, hint: 'Shown beside, and kept; sends change once it is saved and published' })}
        ${messageField}`,
            [
              { action: 'save', label: 'Save as a version' },
              { action: 'remove', label: 'Remove the file' },
            ],
          )
        : html`<pre>${content}</pre>`
    }${isMail && (await preview(asked))}</div>`,
    html`<p>${link(`${ownPath(asked)}/files`, 'All files')} ${link(`${ownPath(asked)}/render?draft=1`, 'Preview with other data')}</p>`,
  );
  return { title: path || 'New file', body };
}

/** Stages `content` as the file in the editor; null removes the file. */
function stage({ ask, params, query }: Asked, given: Form, content: string | null) {
  const body = {
    expectedRevision: given['revision'],
    files: { [query['path'] ?? '']: content },
    idempotencyKey: `${given['once']}-stage`,
  };
  return ask(workspaceRoutes.stage, { params, body });
}

async function commit({ ask, params }: Asked, given: Form, revision = given['revision']) {
  const message = given['message']?.trim();
  const body = {
    expectedRevision: revision,
    ...(message && { message }),
    idempotencyKey: `${given['once']}-save`,
  };
  await ask(workspaceRoutes.save, { params, body });
}

/** Returns an action that stores the text of the editor; `staysHere` returns to the editor. */
const edited = (
  act: (asked: Asked, given: Form) => Promise<unknown>,
  staysHere = false,
): Action => ({
  needs: 'templates:write',
  run: async (asked, given) => {
    await act(asked, given);
    const { query, path } = asked;
    return `/console${staysHere ? editorOf(asked, query['path'] ?? path) : `${ownPath(asked)}/files`}`;
  },
});

export const filePages: readonly Page[] = [
  {
    path: '/templates/:id/files',
    needs: 'templates:read',
    show: files,
    actions: {
      save: {
        needs: 'templates:write',
        async run(asked, given) {
          await commit(asked, given);
          return `/console${asked.path}`;
        },
      },
      discard: {
        needs: 'templates:write',
        destroys: true,
        async run({ ask, params, path }, { revision, once }) {
          const body = { expectedRevision: revision, idempotencyKey: `${once}-discard` };
          await ask(workspaceRoutes.discard, { params, body });
          return `/console${path}`;
        },
      },
    },
  },
  {
    path: '/templates/:id/edit',
    needs: 'templates:read',
    show: editor,
    actions: {
      save: edited(async (asked, given) => {
        const { workspace } = await stage(asked, given, given['content'] ?? '');
        await commit(asked, given, workspace.revision);
      }),
      stage: edited(async (asked, given) => {
        await stage(asked, given, given['content'] ?? '');
      }, true),
      remove: edited(async (asked, given) => {
        await stage(asked, given, null);
      }),
    },
  },
];
