// Links to pages of the console, and titles of mails.
import { html, type Part } from '../html.ts';

const longestTitle = 200;

/** Draws a link to a page of the console. */
export function link(path: string, text: Part): Part {
  return html`<a href=${`/console${path}`}>${text}</a>`;
}

/** Returns the subject of a mail as the title of a page. */
export function titleOfMail(subject: string | null): string {
  return subject?.slice(0, longestTitle) || '(no subject)';
}
