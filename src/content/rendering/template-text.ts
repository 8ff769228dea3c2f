// The form of texts made of the HTML of templates.
import { textOfHtml } from '../../mail/mime/html-text.ts';

/** Returns the address of a link in brackets; empty if the words already show the address. */
function bracketedLink(href: string, words: string): string {
  const shown = href.replace(/^mailto:/i, '');
  return shown === '' || shown === words || shown.startsWith('#') ? '' : `[${shown}]`;
}

/** Converts the HTML of a template to text, without hidden words and pictures. */
export function templateText(html: string): string {
  return textOfHtml(html, { link: bracketedLink, bullet: ' * ', withoutPictures: true });
}
