// Data for the attacks: large drafts, a thread of large mails, documents to search, a mail whose
// links are followed, a thread of hostile mails, and contacts with hostile values.
import { setTimeout as wait } from 'node:timers/promises';
import type { Api } from './api.ts';
import type { Siege } from './siege.ts';
import { deliver } from './smtp-attacks.ts';

const drafts = 20;
const draftBytes = 15_000_000;
const largeMails = 100;
const largeMailBytes = 2_000_000;
const documents = 2_000;
const links = 1_000;
const pollMs = 200;
const hostileBytes = 120_000;
const hostileUnits = [
  ...[
    '<',
    '<a ',
    '<a hidden',
    'display:',
    'display : \t',
    'left:-',
    'text-indent:-1',
    'font-size:0.',
  ],
  ...['\u200b', '\u202e', '&lt;', '<div><', '<!--', '<style>', '"', '> '],
];
const contacts = 20_000;
export const contactTag = 'all';
/** The end of the notes of each contact. */
export const noteAtEnd = 'the end';

export interface Seeded {
  threadId: string;
  hostileThreadId: string;
  /** Paths of links of one delivery. */
  links: string[];
}

export async function seedContents(siege: Siege, api: Api): Promise<Seeded> {
  const { apiKey: key, mailboxId } = siege;
  const content = Buffer.alloc(draftBytes).toString('base64');
  for (let n = 0; n < drafts; n++) {
    const attachments = [{ filename: 'a.bin', content, contentType: 'application/octet-stream' }];
    const body = { to: [siege.address], subject: `Draft ${n}`, text: 'x', attachments };
    await api.ask(`/v1/mailboxes/${mailboxId}/drafts`, { method: 'POST', key, body });
  }
  const line = `${'word '.repeat(190)}\r\n`;
  const large = line.repeat(largeMailBytes / line.length);
  for (let n = 0; n < largeMails; n++) await deliver(siege, mail(siege, 'large', n, large));
  for (let n = 0; n < documents; n++) await deliver(siege, mail(siege, 'small', n, wordsOf(n)));
  const threadId = await threadWith(siege, api, 'subject:large');
  for (const [n, unit] of hostileUnits.entries()) {
    const html = unit.repeat(hostileBytes / Buffer.byteLength(unit));
    const text = Buffer.from(html).toString('base64').replaceAll(/.{76}/g, '$&\r\n');
    await deliver(siege, mail(siege, 'hostile', n, text, hostile));
  }
  const hostileThreadId = await threadWith(siege, api, 'subject:hostile');
  await importContacts(siege, api);
  return { threadId, hostileThreadId, links: await trackedLinks(siege, api) };
}

const hostile =
  'MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n' +
  'Content-Transfer-Encoding: base64\r\n';

/** Mails of another kind than `small` are one thread. */
function mail(siege: Siege, kind: string, n: number, text: string, fields = ''): string {
  const isAnswer = kind !== 'small' && n > 0;
  const references = isAnswer ? `References: <${kind}.0@attacker.example>\r\n` : '';
  return (
    `From: x@attacker.example\r\nTo: ${siege.address}\r\nSubject: ${kind} ${n}\r\n` +
    `Message-ID: <${kind}.${n}@attacker.example>\r\n${references}${fields}\r\n${text}`
  );
}

/**
 * Imports contacts with notes of 1 KB, which end alike, and names that a spreadsheet takes for
 * formulas.
 */
async function importContacts({ apiKey: key }: Siege, api: Api): Promise<void> {
  const notes = `${'"" , ;\t'.repeat(140)}${noteAtEnd}`;
  const rows = Array.from(
    { length: contacts },
    (_, n) => `c${n}@reader.example,=1+${n},${contactTag},"${notes}"\n`,
  );
  const raw = `email,firstName,tags,notes\n${rows.join('')}`;
  const headers = { 'content-type': 'text/csv' };
  const path = `/v1/contacts/import?map=${encodeURIComponent('notes=custom')}`;
  const { status, text } = await api.ask(path, { method: 'POST', key, raw, headers });
  if (status !== 200) throw new Error(`the contacts were refused: ${text.slice(0, 500)}`);
}

/** Words that begin with all letters, so that every prefix finds every document. */
const wordsOf = (n: number) =>
  Array.from({ length: 26 }, (_, at) => `${String.fromCharCode(97 + at).repeat(3)}${n}`).join(' ');

interface Thread {
  id: string;
}

/** The newest thread that `q` finds, once it is there. */
async function threadWith({ mailboxId, apiKey: key }: Siege, api: Api, q: string): Promise<string> {
  const path = `/v1/mailboxes/${mailboxId}/threads?limit=1&q=${encodeURIComponent(q)}`;
  for (;;) {
    const [thread] = (await api.json<{ items: Thread[] }>(path, key)).items;
    if (thread) return thread.id;
    await wait(pollMs);
  }
}

/** Sends a mail of many tracked links to the mailbox; resolves with the paths of its links. */
async function trackedLinks(siege: Siege, api: Api): Promise<string[]> {
  const { apiKey: key, domain, address, mailboxId } = siege;
  const anchors = Array.from(
    { length: links },
    (_, n) => `<a href="https://a.example/${n}">${n}</a>`,
  );
  const email = {
    subject: 'Links',
    html: anchors.join(''),
    tracking: { opens: true, clicks: true },
  };
  const body = {
    channel: 'email',
    from: { email: `x@${domain}` },
    to: [{ email: address }],
    email,
  };
  const { status, text: refusal } = await api.ask('/v1/messages', { method: 'POST', key, body });
  if (status !== 201) throw new Error(`the tracked mail was refused: ${refusal}`);
  const thread = await threadWith(siege, api, 'subject:Links');
  const messages = `/v1/mailboxes/${mailboxId}/threads/${thread}/messages`;
  const [message] = (await api.json<{ items: Thread[] }>(messages, key)).items;
  const details = `/v1/messages/${message?.id}/email?includeStorageUrls=true`;
  const { storageUrls } = await api.json<{ storageUrls: { html: string } }>(details, key);
  const { pathname, search } = new URL(storageUrls.html, 'http://127.0.0.1');
  const { text: html } = await api.ask(`${pathname}${search}`);
  return [...html.matchAll(/\/t\/c\/[^"]+/g)].map(([path]) => path);
}
