// Finds the links of a mail: in the HTML if it has links, else in the text.
import { readHtml } from '../html/read-html.ts';
import type { MailText } from './find-code.ts';
import { addressAt } from './text-address.ts';

/** A link, with the words that a reader sees for it. */
export interface FoundLink {
  url: string;
  text: string;
}

/** Most links that are returned for a mail. */
const mostLinks = 100;
const longestText = 200;
const address = /^https?:\/\/[^\s<>]+$/i;

const plain = (words: string) => words.replace(/\s+/g, ' ').trim().slice(0, longestText);

function linksOfHtml(html: string): FoundLink[] {
  const links: FoundLink[] = [];
  let open: FoundLink | null = null;
  const add = (words: string) => {
    if (open && open.text.length < 2 * longestText) open.text += words;
  };
  readHtml(html, {
    text: add,
    open(name, attributes) {
      const alt = attributes.get('alt') ?? '';
      if (name === 'img') add(` ${alt} `);
      if (name !== 'a' && name !== 'area') return;
      open = null;
      const url = attributes.get('href')?.trim() ?? '';
      if (links.length >= mostLinks || !address.test(url)) return;
      const link = { url, text: name === 'area' ? alt : '' };
      links.push(link);
      if (name === 'a') open = link;
    },
    close(name) {
      if (name === 'a' || name === 'area') open = null;
    },
    isDone: () => links.length >= mostLinks && open === null,
  });
  return links.map(({ url, text }) => ({ url, text: plain(text) }));
}

function linksOfText(text: string): FoundLink[] {
  const links: FoundLink[] = [];
  const start = /https?:\/\//gi;
  for (let found = start.exec(text); found && links.length < mostLinks; found = start.exec(text)) {
    const { url, end } = addressAt(text, found.index);
    start.lastIndex = end;
    if (url === null) continue;
    const before = text.lastIndexOf('\n', found.index) + 1;
    const [line = ''] = text.slice(before, end + longestText).split('\n');
    links.push({ url, text: plain(line.slice(-longestText)) });
  }
  return links;
}

/** Returns the links of the mail in their order, at most 100. */
export function findLinks({ subject, text, html }: MailText): FoundLink[] {
  const links = linksOfHtml(html ?? '');
  return links.length > 0 ? links : linksOfText(`${subject ?? ''}\n${text ?? ''}`);
}

/** Returns the address of the first link of the mail, or null. */
export function findLink(mail: MailText): string | null {
  return findLinks(mail)[0]?.url ?? null;
}
