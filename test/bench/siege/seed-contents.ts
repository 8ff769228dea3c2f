// Data for the attacks on lists: large drafts, a thread of large mails, documents to search, and a mail whose
// links are followed.
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

export interface Seeded {
  threadId: string;
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
  for (let n = 0; n < largeMails; n++) await deliver(siege, mail(siege, n, large, true));
  for (let n = 0; n < documents; n++) await deliver(siege, mail(siege, n, wordsOf(n), false));
  const threadId = await threadWith(siege, api, 'subject:large');
  return { threadId, links: await trackedLinks(siege, api) };
}

function mail(siege: Siege, n: number, text: string, isOneThread: boolean): string {
  const kind = isOneThread ? 'large' : 'small';
  const references = isOneThread && n > 0 ? 'References: <large.0@attacker.example>\r\n' : '';
  return (
    `From: x@attacker.example\r\nTo: ${siege.address}\r\nSubject: ${kind} ${n}\r\n` +
    `Message-ID: <${kind}.${n}@attacker.example>\r\n${references}\r\n${text}`
  );
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
