// The unsubscribe URL inside a stored content, which several recipients may share. Each copy gets
// the link of the recipient in place of the URL.
import type { App } from '../../core/app.ts';

const path = '/u/of-this-recipient';
/**
 * The service may have had a different public URL when the content was stored, with at most this
 * length.
 */
const longestBase = 300;
const scheme = /https?:\/\/./;
const notInUrl = /[\s"'<>()]/;
/** URLs that are replaced in a text: each takes about a µs. */
const mostReplaced = 1_000;

/** Returns the URL that stands for the unsubscribe link of each recipient. */
export function recipientUrl(app: App): string {
  return `${app.publicUrl.current.replace(/\/$/, '')}${path}`;
}

/** Puts the link of a recipient in place of each such URL. */
export function withRecipientUrl<Text extends string | null>(text: Text, url: string): Text {
  if (!text?.includes(path)) return text;
  const parts: string[] = [];
  let from = 0;
  let at = text.indexOf(path);
  for (let count = 0; at >= 0 && count < mostReplaced; count++) {
    const end = at + path.length;
    const start = startOfUrl(text, Math.max(from, at - longestBase), at);
    if (start !== null && !/^[\w-]/.test(text.slice(end, end + 1))) {
      parts.push(text.slice(from, start), url);
      from = end;
    }
    at = text.indexOf(path, end);
  }
  return (parts.join('') + text.slice(from)) as Text;
}

/**
 * Returns the place between `from` and `end` where the URL that goes on at `end` begins, or null.
 */
function startOfUrl(text: string, from: number, end: number): number | null {
  let start = end;
  while (start > from && !notInUrl.test(text.charAt(start - 1))) start--;
  const found = scheme.exec(text.slice(start, end));
  return found ? start + found.index : null;
}
