// Imports of a pasted text: first a preview of the changes, then exactly the previewed text.
import { createHash } from 'node:crypto';
import type { Permission } from '../../src/core/api/permission.ts';
import { html, type Part, together } from './html.ts';
import type { Asked, Form, Page, View } from './page.ts';
import { field, form } from './parts/form.ts';
import { orAgain } from './refused.ts';

export interface Import extends Required<Pick<View, 'title' | 'command'>>, Pick<View, 'request'> {
  path: string;
  needs: Permission;
  /** Label of the text, and the hint. */
  label: string;
  hint: string;
  /** Draws the fields beside the text. */
  fields(given: Form): Part;
  /** Imports, or with `dryRun` only previews the changes. Returns the report. */
  run(asked: Asked, given: Form, dryRun: boolean): Promise<Part>;
}

/** Returns a pasted text as a stream. */
export async function* chunksOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** Returns a digest of all that a person has typed. */
function digestOf(given: Form): string {
  const typed = Object.entries(given).filter(([name]) => name !== 'seen' && !name.startsWith('_'));
  const sorted = typed.sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url');
}

/** Draws the form; after a preview it has the button that imports. */
function draw(kind: Import, asked: Asked, given: Form, above: Part, isSeen: boolean): View {
  const { title, command, request, label, hint } = kind;
  const fields = html`
    ${isSeen && html`<input type="hidden" name="seen" value=${digestOf(given)} />`}
    <label class="field js"><span>Choose a file</span> <input type="file" accept=".csv,.txt,.ndjson,.json" data-into="file" /><small>Its text is looked at first; nothing is changed yet.</small></label>
    ${field({ name: 'file', label, type: 'textarea', value: given['file'], rows: given['file'] ? 6 : 14, isRequired: true, hint })}
    ${kind.fields(given)}
  `;
  const others = isSeen ? [{ action: 'import', label: 'Import this text' }] : [];
  const body = together(above, form(asked, 'preview', 'Show what would change', fields, others));
  return { title, body, command, ...(request !== undefined && { request }) };
}

const changed = html`<p class="problem" role="alert">This is not the text that was looked at, so nothing was imported.
  It would change this:</p>`;

/** Returns the page of an import. */
export function importPage(kind: Import): Page {
  const { path, needs } = kind;
  const orDraw = (asked: Asked, given: Form, act: () => Promise<View>) =>
    orAgain(act, (problem) => draw(kind, asked, given, problem, false));
  const preview = async (asked: Asked, given: Form) =>
    draw(kind, asked, given, await kind.run(asked, given, true), true);
  return {
    path,
    needs,
    show: async (asked) => draw(kind, asked, {}, null, false),
    actions: {
      preview: {
        needs,
        run: (asked, given) => orDraw(asked, given, () => preview(asked, given)),
      },
      import: {
        needs,
        run: (asked, given) =>
          orDraw(asked, given, async () => {
            if (given['seen'] === digestOf(given)) {
              return draw(kind, asked, {}, await kind.run(asked, given, false), false);
            }
            const view = await preview(asked, given);
            return { ...view, status: 409, body: together(changed, view.body) };
          }),
      },
    },
  };
}
