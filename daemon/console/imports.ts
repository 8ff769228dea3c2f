// Imports of a file or a pasted text: first a preview of the changes, then exactly the previewed
// text.
import { createHash } from 'node:crypto';
import type { Permission } from '../../src/core/api/permission.ts';
import { html, type Part, together } from './html.ts';
import type { Asked, Done, Form, Page, View } from './page.ts';
import { card, folded } from './parts/card.ts';
import { field, hidden } from './parts/form.ts';
import { counted } from './parts/times.ts';
import { orAgain } from './refused.ts';

/** Preview of an import. */
interface Look {
  /** Draws the counts of changes. */
  report: Part;
  /** Label of the button that imports, such as "Import 15 people"; null if no line is valid. */
  label: string | null;
}

/** An import as a person typed it. */
interface Ready {
  /** The typed values, with the usual values of fields that the person has not seen yet. */
  given: Form;
  /** The fields beside the text. */
  fields: Part;
  /** Previews the changes. */
  look(): Promise<Look>;
  run(): Promise<Done>;
}

export interface Import extends Required<Pick<View, 'title' | 'command'>>, Pick<View, 'request'> {
  path: string;
  needs: Permission;
  /** Label of the text, and the hint. */
  label: string;
  hint: string;
  prepare(asked: Asked, given: Form): Promise<Ready> | Ready;
}

/** Returns a pasted text as a stream. */
export async function* chunksOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const mostLines = 100;

/** A line of a file that the report names. */
interface Line {
  line: number;
  words: string;
}

/** Draws lines of a file, such as refused ones; nothing if `count` is 0. */
export function linesCard(title: string, count: number, lines: readonly Line[]): Part {
  if (count === 0) return null;
  const shown = lines.slice(0, mostLines);
  const more = count - shown.length;
  return card(
    title,
    html`<ul>${shown.map(({ line, words }) => html`<li>Line ${line}: ${words}</li>`)}
      ${more > 0 && html`<li>… and ${counted(more)} more</li>`}</ul>`,
  );
}

/** Returns a digest of all that a person has typed. */
function digestOf(given: Form): string {
  const sorted = Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url');
}

/** Draws the choice of a file and its text; folded once there is a text. */
function textPart({ label, hint }: Import, { file = '' }: Form): Part {
  const text = field({
    name: 'file',
    label,
    type: 'textarea',
    value: file,
    rows: 10,
    isRequired: true,
    hint,
  });
  const both = html`<label class="field js"><span>Choose a file</span> <input type="file" accept=".csv,.tsv,.txt,.ndjson,.json" data-into="file" /><small>You see first what would change.</small></label>
    ${text}`;
  return file === ''
    ? both
    : folded('Text of the file', both, 'to correct it, or to choose another');
}

/** Draws the form; after a preview its first button imports. */
function draw(
  kind: Import,
  asked: Asked,
  { given, fields }: Ready,
  above: Part,
  look?: Look,
): View {
  const { title, command, request } = kind;
  const button = (action: string, label: string, isFirst: boolean) =>
    html`<button class=${isFirst ? 'btn first' : 'btn'} name="_action" value=${action}>${label}</button>`;
  const form = html`<form method="post" class="fields">
    ${hidden(asked, 'preview', look && { seen: digestOf(given) })}${fields}${textPart(kind, given)}
    <div class="row">${look?.label && button('import', look.label, true)}
      ${button('preview', look ? 'Look again' : 'Show what would change', !look?.label)}</div>
  </form>`;
  const body = together(above, look?.report, form);
  return { title, body, command, ...(request !== undefined && { request }) };
}

const changed = html`<p class="problem" role="alert">The text or a meaning changed after you looked, so nothing was imported.
  Now it would change this:</p>`;

/** Returns a page that previews an import, then makes it. */
export function importPage(kind: Import): Page {
  const { path, needs, prepare } = kind;
  const preview = async (asked: Asked, ready: Ready, above: Part = null) =>
    draw(kind, asked, ready, above, await ready.look());
  const orDraw = <Result extends View | Done>(
    asked: Asked,
    ready: Ready,
    act: () => Promise<Result>,
  ) => orAgain(act, (problem) => draw(kind, asked, ready, problem));
  return {
    path,
    needs,
    show: async (asked) => draw(kind, asked, await prepare(asked, {}), null),
    actions: {
      preview: {
        needs,
        async run(asked, given) {
          const ready = await prepare(asked, given);
          return orDraw(asked, ready, () => preview(asked, ready));
        },
      },
      import: {
        needs,
        async run(asked, given) {
          const ready = await prepare(asked, given);
          const isSeen = given['seen'] === digestOf(ready.given);
          return orDraw<View | Done>(asked, ready, async () =>
            isSeen ? ready.run() : { ...(await preview(asked, ready, changed)), status: 409 },
          );
        },
      },
    },
  };
}
