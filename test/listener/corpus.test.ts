// All raw mails of test/fixtures with a `.words.json` beside them, over SMTP into one mailbox: each
// is read with the words and files that a reader sees, and the search finds each of these words.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getEmailProjection } from '../../src/outbound/messages/lists/email-projection.ts';
import { inbox, type ThreadApi, threadAll, threadsOver } from '../inbox/threads/mails.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { deliver, idIn, type SmtpService, smtpService } from './smtp-service.ts';

interface Words {
  newContent: string | null;
  quotedContent: string | null;
  /** Names of files, or their types if they have no name. */
  files: string[];
}

const fixtures = new URL('../fixtures/', import.meta.url);
const mails = ['inbound', 'mime'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, fixtures))
    .filter((file) => file.endsWith('.eml'))
    .map((file) => `${folder}/${file.slice(0, -'.eml'.length)}`),
);

const read = (path: string) => readFileSync(new URL(path, fixtures));
const wordsOf = (name: string): Words => JSON.parse(read(`${name}.words.json`).toString());
/** Drops zero-width characters and the form of white space: only the words count. */
const inOneLine = (text: string | null) =>
  text
    ?.replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim() ?? null;

/** Most words of one search. */
const mostWords = 30;

function searchesFor({ newContent, quotedContent }: Words): string[] {
  const all = `${newContent ?? ''} ${quotedContent ?? ''}`.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const words = [...new Set(all)].filter((word) => word.length < 100);
  return Array.from({ length: Math.ceil(words.length / mostWords) }, (_, at) =>
    words.slice(at * mostWords, (at + 1) * mostWords).join(' '),
  );
}

describe('the corpus of received mails, over SMTP', () => {
  let service: SmtpService;
  let api: HttpApi;
  let threads: ThreadApi;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    service = await smtpService();
    api = httpApi(service);
    threads = await threadsOver(service.app, api);
    const session = await service.session();
    for (const name of mails) {
      const raw = read(`${name}.eml`);
      const whole = raw.at(-1) === 10 ? raw : Buffer.concat([raw, Buffer.from('\r\n')]);
      ids.set(name, idIn(await deliver(session, inbox, whole)));
    }
    await threadAll(service.app);
  });
  afterAll(async () => {
    await api.close();
    await service.close();
  });

  it.each(mails)('has the words and files of %s', async (name) => {
    const { app, caller } = service;
    const mail = await getEmailProjection(app, caller, ids.get(name) ?? '', {});
    const wanted = wordsOf(name);
    expect({
      newContent: inOneLine(mail.newContent),
      quotedContent: inOneLine(mail.quotedContent),
      files: mail.attachments.map(({ filename, contentType }) => filename ?? contentType),
    }).toEqual({
      newContent: inOneLine(wanted.newContent),
      quotedContent: inOneLine(wanted.quotedContent),
      files: wanted.files,
    });
  });

  it.each(mails)('finds the words of %s', async (name) => {
    for (const words of searchesFor(wordsOf(name))) {
      const { items } = await threads.list(`?limit=100&q=${encodeURIComponent(words)}`);
      const found = await Promise.all(items.map(({ id }) => threads.messages(id, '?limit=100')));
      const messageIds = found.flatMap((page) => page.items.map(({ id }) => id));
      expect(messageIds, words).toContain(ids.get(name));
    }
  });
});
