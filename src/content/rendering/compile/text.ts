// Makes the text part from compiled HTML. Words stand for the Liquid.
import { templateText } from '../template-text.ts';
import { prints, type Shields } from './shields.ts';

/** Liquid that prints a brace, for a brace that begins no Liquid. */
const brace = '{{ "{" }}';

/** Returns the text of HTML with Liquid in comments and words. */
export function makeText(shields: Shields, html: string): string {
  const comment = new RegExp(`<!--(${shields.words.source})-->`, 'g');
  const opened = html.replace(comment, (_, word: string) => {
    const hidden = shields.only(word);
    // Hidden texts without a role are style sheets, comments and the like: the text omits them.
    return hidden?.kind === 'text' && hidden.role === null ? '' : word;
  });
  // All Liquid is hidden in words, so these braces are text that the author wrote as entities.
  const braced = templateText(opened).replace(/\{(?=[{%])/g, () => shields.hideText(brace, '', 1));
  return closeUp(shields, braced);
}

/**
 * Removes the empty lines that block tags would leave. A tag alone on a line moves to the beginning
 * of the next line, so that each pass of a loop prints only the lines of the content.
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
