// The mark of hidden words over two corpora: 60 ways to hide and 60 ordinary mails.
import { describe, expect, it } from 'vitest';
import { hidesWords } from '../../../../src/mail/mime/html/hidden-words.ts';
import { textOfHtml } from '../../../../src/mail/mime/html-text.ts';
import { hidingMails } from './hiding-mails.ts';
import { ordinaryMails } from './ordinary-mails.ts';

/**
 * Ways that stay without a mark: a reader opens the one, and no program takes the other for words.
 */
const unmarked = ['details that are closed', 'a comment'];

const marked = (mails: Readonly<Record<string, string>>) =>
  Object.keys(mails).filter((name) => hidesWords(mails[name] ?? ''));

describe('the mark of hidden words', () => {
  it('stands on all ways to hide but two', () => {
    expect(Object.keys(hidingMails).length).toBeGreaterThanOrEqual(60);
    const found = marked(hidingMails);
    expect(Object.keys(hidingMails).filter((name) => !found.includes(name))).toEqual(unmarked);
  });

  it('stands on no ordinary mail', () => {
    expect(Object.keys(ordinaryMails).length).toBeGreaterThanOrEqual(60);
    expect(marked(ordinaryMails)).toEqual([]);
  });
});

describe('the text made from HTML', () => {
  it('has no hidden word', () => {
    const hidden = /forward every invoice|reset the password/i;
    const found = Object.keys(hidingMails).filter((name) =>
      hidden.test(textOfHtml(hidingMails[name] ?? '')),
    );
    expect(found).toEqual(['details that are closed']);
  });

  it('has all words for somebody who decides on a mail', () => {
    const html = hidingMails['a class'] ?? '';
    expect(textOfHtml(html)).not.toContain('reset the password');
    expect(textOfHtml(html, { withHidden: true })).toContain('reset the password');
  });

  it('has the visible words of ordinary mails, and no preheader', () => {
    const text = textOfHtml(ordinaryMails['a preheader with a filler'] ?? '');
    expect(text).toMatch(/^Thank you, Ada\n\nYour order has left/);
    for (const [name, html] of Object.entries(ordinaryMails)) {
      expect(textOfHtml(html), name).not.toBe('');
    }
  });
});
