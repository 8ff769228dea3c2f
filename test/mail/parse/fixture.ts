// Reads the mails of test/fixtures/inbound and builds small ones.
import { readFileSync } from 'node:fs';

export const fixtureNames = [
  'apple-mixed',
  'apple-reply-de',
  'apple-reply-en',
  'apple-reply-fr',
  'bounce-postfix',
  'bounce-qmail',
  'calendar-invite',
  'charset-bogus',
  'charset-gb18030',
  'charset-iso-2022-jp',
  'charset-iso-8859-1',
  'charset-koi8-r',
  'charset-shift-jis',
  'charset-windows-1252',
  'duplicate-headers',
  'feedback-report',
  'gmail-forward',
  'gmail-reply-de',
  'gmail-reply-en',
  'gmail-reply-fr',
  'inline-answers',
  'missing-headers',
  'nested-message',
  'newsletter',
  'out-of-office-exchange',
  'outlook-html-de',
  'outlook-html-en',
  'outlook-html-fr',
  'outlook-reply-de',
  'outlook-reply-en',
  'outlook-reply-fr',
  'raw-latin1-headers',
  'raw-utf8-headers',
  'read-receipt-outlook',
  'related-image',
  'ticket-confirmation',
  'unclosed-boundary',
  'vacation-gmail',
  'wrong-boundary',
];

export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/inbound/${name}.eml`, import.meta.url));
}

/** Builds a mail of header lines and a body, with CRLF. */
export function mail(lines: string[], body = 'text\r\n'): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Puts the header lines of a faultless mail before `lines`. */
export function sane(...lines: string[]): string[] {
  return ['From: Bob <bob@example.net>', 'Message-ID: <sane@example.net>', ...lines];
}
