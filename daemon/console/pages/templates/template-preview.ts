// The preview of a template: sample data as fields beside the filled mail, and the HTML for frames.
import { templateRoutes } from '../../../../src/content/templates/routes.ts';
import type { Rendered } from '../../../../src/content/templates/schema.ts';
import { workspaceRoutes } from '../../../../src/content/templates/workspace/routes.ts';
import { type Download, refusalOf, withQuery } from '../../api.ts';
import { html, type Part, renderDocument } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { check } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { orAgain } from '../../refused.ts';
import { sampleFields, typedValues } from './sample-data.ts';

const ownPath = ({ params }: Asked) => `/templates/${params['id']}`;

/** Requests the content that a send would have. */
function rendered({ ask, params, query }: Asked): Promise<Rendered> {
  const data = typedValues({ query });
  const body = { ...(data && { data }), ...(query['draft'] === '1' && { draft: true }) };
  return ask(templateRoutes.render, { params, body });
}

/** Draws advice on the content of a template. */
export function advice(warnings: Rendered['warnings']): Part {
  if (warnings.length === 0) return null;
  return html`<ul>${warnings.map(({ message, path, line }) => html`<li>${path} ${line !== null && `line ${line}`} ${message}</li>`)}</ul>`;
}

function result(asked: Asked, { subject, preheader, html: page, text, warnings }: Rendered): Part {
  const frame = `/console${withQuery(`${ownPath(asked)}/look`, asked.query)}`;
  const mail =
    page === null
      ? html`<pre>${text}</pre>`
      : html`<iframe class="preview light" sandbox="" title="The mail as HTML" src=${frame}></iframe>
        <details><summary>As text</summary><pre>${text}</pre></details>`;
  const head = html`<p><b>${subject}</b>${preheader && html`<br /><small>${preheader}</small>`}</p>`;
  return card('The mail', html`${head}${mail}${advice(warnings)}`);
}

/** Returns the paths of values that the mail misses, such as `order.number`. */
function missingIn({ warnings }: Pick<Rendered, 'warnings'>): string[] {
  const found = warnings.filter(({ code }) => code === 'missing-variable');
  return found.map(({ message }) => message.split(' ')[0] ?? '');
}

/** Draws sample data beside the mail filled with it. */
async function preview(asked: Asked): Promise<View> {
  const { ask, params, query } = asked;
  const [{ files }, { name }] = await Promise.all([
    ask(workspaceRoutes.show, { params }),
    ask(templateRoutes.get, { params }),
  ]);
  const draw = (
    mail: Part,
    missing: readonly string[],
    typed: ReturnType<typeof typedValues>,
  ): View => ({
    title: 'Preview',
    crumb: html`${link('/templates', 'Templates')} / ${link(ownPath(asked), name)}`,
    body: html`<div class="beside"><form method="get" class="fields">
      ${sampleFields({ files, missing, typed })}
      ${check('draft', 'the files as edited, not the published version', query['draft'] === '1')}
      <div class="row"><button class="btn first">Show the mail</button></div></form>${mail}</div>`,
    command: `svc templates render ${params['id']}`,
    request: `POST /v1/templates/${params['id']}/render`,
  });
  return orAgain(
    async () => {
      const mail = await rendered(asked);
      return draw(result(asked, mail), missingIn(mail), typedValues(asked));
    },
    (problem) => {
      // Malformed JSON stays in the field: parts/typed.ts fills it.
      const { data: _, ...rest } = query;
      return draw(problem, [], typedValues({ query: rest }) ?? (query['data'] ? {} : null));
    },
  );
}

/** Draws a frame with a small picture of a template. It loads once it comes into view. */
export function picture({
  id,
  name,
  version,
}: {
  id: string;
  name: string;
  version: number | null;
}): Part {
  const path = withQuery(`/console/templates/${id}/look`, {
    picture: 1,
    draft: version === null ? 1 : '',
  });
  return html`<div class="shot"><iframe sandbox="" loading="lazy" tabindex="-1" title=${`Picture of ${name}`} src=${path}></iframe></div>`;
}

/** Returns the HTML for a frame; in the place of a picture that fails, the reason. */
async function look(asked: Asked): Promise<Download> {
  const page = (bytes: string): Download => {
    return { contentType: 'text/html; charset=utf-8', disposition: 'inline', bytes };
  };
  const plain = (text: string | null) =>
    page(renderDocument(html`<html lang="en"><body><pre>${text}</pre></body></html>`));
  try {
    const { html: own, text } = await rendered(asked);
    return own === null ? plain(text) : page(own);
  } catch (error) {
    const { message } = refusalOf(error);
    if (asked.query['picture'] !== '1') throw error;
    return plain(`No picture: ${message}`);
  }
}

export const previewPages: readonly Page[] = [
  { path: '/templates/:id/render', needs: 'templates:read', show: preview },
  { path: '/templates/:id/look', needs: 'templates:read', show: look },
];
