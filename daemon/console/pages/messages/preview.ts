// Shows a mail in a chosen look: desktop, phone, dark, as text or as source.
import type { EmailProjection } from '../../../../src/outbound/messages/email-schema.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { counted } from '../../parts/times.ts';

const looks = ['desktop', 'phone', 'dark', 'text', 'source'] as const;
type Look = (typeof looks)[number];

const longestText = 100_000;

/** Returns the chosen look of a mail. */
export function lookOf({ query }: Pick<Asked, 'query'>): Look {
  return looks.find((look) => look === query['look']) ?? 'desktop';
}

/** Draws the choice of a look. `anchor` is the id of the place that shows it. */
export function lookChoice({ path, query }: Asked, anchor: string): Part {
  const here = lookOf({ query });
  return html`<span class="seg" role="group" aria-label="Show the mail">${looks.map((look) => {
    const to = `${withQuery(`/console${path}`, { ...query, look })}#${anchor}`;
    const word = look[0]?.toUpperCase() + look.slice(1);
    return html`<a href=${to} aria-current=${look === here ? 'true' : undefined}>${word}</a>`;
  })}</span>`;
}

function cut(text: string | null): Part {
  if (text === null) return html`<p class="soft">The mail has none.</p>`;
  const rest = text.length - longestText;
  return html`<div><pre>${text.slice(0, longestText)}</pre>
    ${rest > 0 && html`<p class="soft">${counted(rest)} more characters are not shown.</p>`}</div>`;
}

interface Shown {
  html: string | null;
  text: string | null;
  /** Path of the HTML for a frame; null without HTML. */
  framePath: string | null;
  /** Title of the frame, such as "The mail to Ada". */
  title: string;
}

/** Draws a mail in the chosen look. The frame is a sandbox and opens no connection. */
export function mailIn(look: Look, { html: source, text, framePath, title }: Shown): Part {
  if (look === 'text') return cut(text);
  if (look === 'source') return cut(source);
  if (framePath === null) return cut(text);
  return html`<iframe class=${`thumb tall ${look}`} sandbox="" title=${title} loading="lazy" src=${framePath}></iframe>`;
}

/** Returns the path of the raw mail; null where the message has none. */
export function rawPathOf({ storageUrls }: EmailProjection): string | null {
  return storageUrls ? new URL(storageUrls.raw).pathname : null;
}

const author = ({ fromName, fromEmail }: EmailProjection) =>
  fromName === null ? fromEmail : `${fromName} <${fromEmail}>`;

const kilobytes = (bytes: number) =>
  `${Math.max(1, Math.round(bytes / 1024)).toLocaleString('en')} KB`;

/** Draws the mail of a message, with files and a link to the raw mail. */
export function mailCard(asked: Asked, email: EmailProjection, to: string): Part {
  const { html: source, text, storageUrls, subject, attachments } = email;
  const framePath = storageUrls?.html ? `${new URL(storageUrls.html).pathname}?preview=1` : null;
  const raw = rawPathOf(email);
  const files = attachments.map(
    ({ filename, size }) =>
      html`<li>${filename ?? 'a file without a name'} <small>${kilobytes(size)}</small></li>`,
  );
  return html`<div data-keep="">${card(
    'The mail',
    together(
      html`<p><b>${subject || '(no subject)'}</b><br /><small>${author(email)} to ${to}</small></p>`,
      mailIn(lookOf(asked), { html: source, text, framePath, title: `The mail to ${to}` }),
      files.length > 0 && html`<ul aria-label="Files">${files}</ul>`,
      html`<p class="pager">${files.length === 0 && 'No files'} ${raw && html`<span class="right"><a href=${raw}>Raw mail (.eml)</a></span>`}</p>`,
    ),
    { more: lookChoice(asked, 'mail'), id: 'mail' },
  )}</div>`;
}
