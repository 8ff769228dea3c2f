// Draws a mail that awaits a decision of a person, exactly as it would be sent. Every page for such
// a decision uses this file.
import type { MailPicture } from '../../src/inbox/approvals/schema.ts';
import { withoutFrames } from '../http/paths/storage.ts';
import type { Download } from './api.ts';
import { html, type Part } from './html.ts';
import { inWords } from './parts/facts.ts';

/** Most characters of HTML or text that a page shows. */
export const mostShown = 1_000_000;

interface Places {
  /** Path of the page that shows only the HTML. */
  htmlPath: string;
  /** Returns the path of a file. Without this function, files of the page have no links. */
  filePath?: (n: number) => string;
}

function whole(text: string): Part {
  const rest = text.length - mostShown;
  return html`<pre>${text.slice(0, mostShown)}</pre>
    ${rest > 0 && html`<p class="problem">${rest.toLocaleString('en')} more characters leave than are shown here.</p>`}`;
}

function files(attachments: MailPicture['attachments'], filePath?: Places['filePath']): Part {
  if (attachments.length === 0) return null;
  return html`<ul>${attachments.map(({ n, filename, contentType, contentId, size }) => {
    const name = filePath ? html`<a href=${filePath(n)}>${filename}</a>` : filename;
    const inline = contentId !== null && `, inline as ${contentId}`;
    return html`<li>${name} (${contentType ?? 'type by its name'}, ${size.toLocaleString('en')} bytes${inline})</li>`;
  })}</ul>`;
}

/** Draws everything that would be sent: addresses, text, files, HTML as it looks and as source. */
export function drawMail(mail: MailPicture, { htmlPath, filePath }: Places): Part {
  const { from, to, cc, bcc, replyTo, subject, text, html: source, notes, attachments } = mail;
  const author = from.name === null ? from.email : `${from.name} <${from.email}>`;
  return html`<article class="mail" aria-label="The mail that would leave">
    <p>From ${author}<br />To ${inWords(to)}<br />Cc ${inWords(cc)}<br />Bcc ${inWords(bcc)}<br />
      Replies go to ${inWords(replyTo)}</p>
    <p class="from">${subject}</p>
    ${text === null ? html`<p class="note">Its text is made from the HTML.</p>` : whole(text)}
    ${
      source !== null &&
      html`<h2>Its HTML</h2>
      ${notes.length > 0 && html`<ul>${notes.map((note) => html`<li class="problem">${note}</li>`)}</ul>`}
      <iframe class="preview" sandbox="" title="The mail as HTML" loading="lazy" src=${htmlPath}></iframe>
      <details><summary>Source of the HTML</summary>${whole(source)}</details>`
    }
    ${files(attachments, filePath)}
  </article>`;
}

/**
 * Returns the HTML of a mail for the frame of `drawMail`. The frame is a sandbox and opens no
 * connection.
 */
export function framedHtml({ html: source }: Pick<MailPicture, 'html'>): Download {
  return {
    contentType: 'text/html; charset=utf-8',
    disposition: 'inline',
    bytes: withoutFrames(Buffer.from(source ?? '')),
  };
}
