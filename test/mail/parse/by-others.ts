// Reads the pairs of test/fixtures/replies: mails as other programs write them, and the words of
// their senders. Written before the splitter that they check.
import { readdirSync, readFileSync } from 'node:fs';
import { htmlToText } from '../../../src/mail/parse/reply/html-reply.ts';
import { splitReply } from '../../../src/mail/parse/reply/reply-split.ts';

interface Pair {
  name: string;
  kind: 'text' | 'html';
  body: string;
  newContent: string;
}

const folder = new URL('../../fixtures/replies/', import.meta.url);

/** Compares the words and their lines, but not the number of empty lines. */
export const comparable = (text: string) =>
  text
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n\n')
    .trim();

export const pairs: Pair[] = readdirSync(folder).flatMap((file) =>
  readFileSync(new URL(file, folder), 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map((entry) => {
      const [, kind, name, rest] = /^(text|html): ([^\n]+)\n([\s\S]*)$/.exec(entry) ?? [];
      const [body = '', newContent = ''] = (rest ?? '').split(/^---\n(?=[\s\S])(?![\s\S]*^---\n)/m);
      return { name: name ?? '', kind: kind as Pair['kind'], body, newContent };
    }),
);

export function splitPair({ kind, body }: Pair) {
  return splitReply(kind === 'html' ? htmlToText(body) : body);
}
