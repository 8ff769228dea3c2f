// Each raw mail of test/fixtures/mime is read with all words and files of its `.words.json`, and
// with the parsing errors named there.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';

const folder = new URL('../../fixtures/mime/', import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.eml'))
  .map((file) => file.slice(0, -'.eml'.length));

const read = (name: string) => readFileSync(new URL(name, folder));

describe('a mail with faults in its structure', () => {
  it.each(names)('is read with its words: %s', async (name) => {
    const mail = await parseMime(read(`${name}.eml`));
    expect({
      newContent: mail.newContent,
      quotedContent: mail.quotedContent,
      files: mail.attachments.map(({ filename, contentType }) => filename ?? contentType),
      parsingErrors: mail.parsingErrors.map(({ code }) => code),
    }).toEqual(JSON.parse(read(`${name}.words.json`).toString()));
  });
});
