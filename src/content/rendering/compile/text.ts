// Makes the text part of compiled HTML, with the Liquid in words.
import { templateText } from '../template-text.ts';
import { prints, type Shields } from './shields.ts';

/** A brace that begins no Liquid. */
const brace = '{{ "{" }}';

/** Returns the text of HTML with Liquid in comments and words. */
export function makeText(shields: Shields, html: string): string {
  const comment = new RegExp(`<!--(${shields.words.source})-->`, 'g');
  const opened = html.replace(comment, (_, word: string) => {
    const hidden = shields.only(word);
    // Texts without a role are style sheets, comments and such.
    return hidden?.kind === 'text' && hidden.role === null ? '' : word;
  });
  // All Liquid is in words, so these are braces that the author wrote as entities.
  const braced = templateText(opened).replace(/\{(?=[{%])/g, () => shields.hideText(brace, '', 1));
  return closeUp(shields, braced);
}

/**
 * Takes the lines away that blocks would leave behind: a tag alone on a line goes to the
 * beginning of the next, so that each pass of a loop has the lines of the content and no more.
 */
function closeUp(shields: Shields, text: string): string {
  let written = '';
  let tags = '';
  for (const line of text.split('\n')) {
    const isTagOnly =
      line.trim() !== '' &&
      line.replace(shields.words, '').trim() === '' &&
      !shields.in(line).some(prints);
    if (isTagOnly) tags += line.trim();
    else if (line.trim() === '' && tags !== '') continue;
    else {
      written += `${tags}${line}\n`;
      tags = '';
    }
  }
  return `${`${written}${tags}`.trim()}\n`;
}
