// The words of a sender stay new content, all that is cut stands in a field, and the search finds
// all words. Each mail of test/fixtures/own-words has its words beside it.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { wordsOfMail } from '../../../src/mail/parse/mail-words.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { foundRowOf } from '../../../src/outbound/messages/contents/projection.ts';
import { attachmentWord } from '../../../src/platform/full-text/document.ts';
import { folded, wordsOf } from '../../../src/platform/full-text/words.ts';
import { comparable } from './by-others.ts';

interface Words {
  newContent: string;
  quotedContent: string | null;
  /** Names of the files that a reader can save. */
  files: string[];
  hasAttachments?: boolean;
}

const folder = new URL('../../fixtures/own-words/', import.meta.url);
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith('.eml') ? [file.slice(0, -4)] : [],
);
const rawOf = (name: string) =>
  Buffer.from(readFileSync(new URL(`${name}.eml`, folder), 'utf8').replaceAll('\n', '\r\n'));
const wordsBeside = (name: string): Words =>
  JSON.parse(readFileSync(new URL(`${name}.words.json`, folder), 'utf8'));

describe.each(names)('%s', (name) => {
  const words = wordsBeside(name);

  it('has the words of its sender as new content', async () => {
    const row = foundRowOf(await parseMime(rawOf(name)));
    expect(comparable(row.new_content ?? '')).toBe(comparable(words.newContent));
    const cut = row.quoted_content;
    expect(cut === null ? null : comparable(cut)).toBe(
      words.quotedContent === null ? null : comparable(words.quotedContent),
    );
  });

  it('is found by all of its words', async () => {
    const found = new Set(wordsOfMail(await parseMime(rawOf(name))).split(' '));
    const shown = `${words.newContent}\n${words.quotedContent ?? ''}`;
    expect(wordsOf(folded(shown)).filter((word) => !found.has(word))).toEqual([]);
  });

  it('has the files that a reader can save', async () => {
    const mail = await parseMime(rawOf(name));
    const files = mail.attachments.filter(({ related }) => !related);
    expect(files.map(({ filename }) => filename)).toEqual(words.files);
    expect(wordsOfMail(mail).includes(` ${attachmentWord}`)).toBe(words.files.length > 0);
  });
});
