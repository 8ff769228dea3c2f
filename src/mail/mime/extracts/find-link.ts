// Finds the first link of a mail: of its HTML if it has one, else of its text.
import { attributeOf, readHtml } from '../html-tags.ts';
import type { MailText } from './find-code.ts';

/** Returns the address of the first link of the mail, or null. */
export function findLink({ subject, text, html }: MailText): string | null {
  let first: string | null = null;
  readHtml(html ?? '', {
    text: () => {},
    tag: (name, tag) => {
      if (first !== null || (name !== 'a' && name !== 'area')) return;
      const href = attributeOf(tag, 'href');
      if (/^https?:\/\/[^\s<>]+$/i.test(href)) first = href;
    },
  });
  return first ?? /https?:\/\/[^\s<>"')\]]+/.exec(`${subject ?? ''}\n${text ?? ''}`)?.[0] ?? null;
}
