// HTML without the words that its reader does not see, for text made of it by html-to-text.
import { readHtml } from './read-html.ts';

/** Removes hidden words, preheaders among them; all tags stay. */
export function withoutHiddenWords(html: string): string {
  let kept = '';
  let at = 0;
  readHtml(html, {
    text(_, hiding, { start, end }) {
      if (!hiding) return;
      kept += html.slice(at, start);
      at = end;
    },
  });
  return kept + html.slice(at);
}
