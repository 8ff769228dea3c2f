// Turns the HTML of a mail that has no plain part into the text the reply split reads. The input is
// bounded because html-to-text is not linear: 256 KB of nested <div> take 0.5 s, 1 MB 14 s.
import { compile } from 'html-to-text';
import { parseLimits } from './parsed-mail.ts';

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: parseLimits.splitCharacters, maxDepth: 100 },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'h4', options: { uppercase: false } },
    { selector: 'h5', options: { uppercase: false } },
    { selector: 'h6', options: { uppercase: false } },
  ],
});

/** The text of an HTML part, `> ` before the lines of a blockquote; only its first 256 KB count. */
export function htmlToText(html: string): string {
  return convert(html.slice(0, parseLimits.splitCharacters)).replaceAll('\u00a0', ' ');
}
