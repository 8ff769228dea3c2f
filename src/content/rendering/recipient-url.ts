// The unsubscribe URL inside a stored content that several recipients may share. In each copy the
// recipient's own link replaces this URL.
import type { App } from '../../core/app.ts';

const path = '/u/of-this-recipient';
/** Longest public URL. The stored content may contain an earlier public URL of the service. */
const longestBase = 300;
const scheme = /https?:\/\/./;
const notInUrl = /[\s"'<>()]/;
/** Most URLs that are replaced in a text: each takes about a µs. */
const mostReplaced = 1_000;

/** Returns the URL that stands for each recipient's unsubscribe link in stored content. */
export function recipientUrl(app: App): string {
  return `${app.publicUrl.current.replace(/\/$/, '')}${path}`;
}

/** Replaces the common URL in a stored content by the unsubscribe link of a recipient. */
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

/** Returns the offset, not before `from`, of the URL that reaches to `end`; null without a URL. */
function startOfUrl(text: string, from: number, end: number): number | null {
  let start = end;
  while (start > from && !notInUrl.test(text.charAt(start - 1))) start--;
  const found = scheme.exec(text.slice(start, end));
  return found ? start + found.index : null;
}
