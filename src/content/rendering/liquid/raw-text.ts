// HTML values in text parts: the filter `raw` leaves HTML unchanged in HTML, and gives its text elsewhere.
import { compile } from 'html-to-text';
import { withoutHiddenWords } from '../../../mail/mime/html/visible-html.ts';

/** Characters of one value that are read: html-to-text is not linear. */
const mostCharacters = 64 * 1024;

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: mostCharacters, maxDepth: 100 },
  selectors: [
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
  ],
});

/** Returns the visible text of an HTML value. */
export function rawAsText(html: string): string {
  return convert(withoutHiddenWords(html.slice(0, mostCharacters))).replaceAll('\u00a0', ' ');
}
