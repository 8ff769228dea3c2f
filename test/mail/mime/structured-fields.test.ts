// Structured fields of the caller (RFC 2047 5, RFC 2369, RFC 2919, RFC 8098): only phrases and
// comments become encoded words, URIs are percent-encoded, and a value that cannot be written is
// refused.
import libmime from 'libmime';
import { describe, expect, it } from 'vitest';
import { encodeExtraHeader } from '../../../src/mail/mime/headers/header-encoding.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

/** Joins the folded lines of a value again (RFC 5322 2.2.3). */
const unfolded = (name: string, value: string) =>
  encodeExtraHeader(name, value)?.replaceAll('\r\n', '').trim() ?? null;

const addressee = '<read@example.com>';

describe('a structured field', () => {
  it.each([
    ['List-Id', 'Grüße an alle <news.example.com>', '<news.example.com>', 'Grüße an alle'],
    ['list-id', '"Größe, 1" <news.example.com>', '<news.example.com>', 'Größe, 1'],
    ['List-Id', 'Ω: Ω <news.example.com> (Ω)', '<news.example.com>', 'Ω: Ω'],
    [
      'List-ID',
      '日本語のお知らせ'.repeat(12).concat(' <n.example.jp>'),
      '<n.example.jp>',
      '日本語',
    ],
    ['Disposition-Notification-To', 'Zoë <read@example.com>', addressee, 'Zoë'],
    ['disposition-notification-to', '"Zoë: x; y" <read@example.com>', addressee, 'Zoë: x; y'],
    ['Return-Receipt-To', `"Zoë \\"Z\\" B" ${addressee}`, addressee, 'Zoë "Z" B'],
    ['X-Confirm-Reading-To', `Zoë${addressee}`, addressee, 'Zoë'],
    ['Errors-To', `Büro (nachts: ja) ${addressee}`, addressee, 'Büro'],
    ['Mail-Followup-To', `Größe: Zoë ${addressee}, b@example.com;`, addressee, 'Zoë'],
    ['Mail-Reply-To', `a@example.com, Zoë ${addressee}`, `a@example.com, `, 'Zoë'],
    ['Disposition-Notification-To', 'read@example.com (Zoë)', 'read@example.com', '(Zoë)'],
    ['Errors-To', 'Zoë <read@bücher.example>', '<read@xn--bcher-kva.example>', 'Zoë'],
    ['List-Post', 'NO (keine Beiträge)', 'NO ', '(keine Beiträge)'],
    ['List-Help', '<https://example.com/h> (Größe)', '<https://example.com/h> ', '(Größe)'],
  ])('%s: %j keeps %j and encodes %j', (name, value, kept, encoded) => {
    const text = unfolded(name, value) ?? '';
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(text).toContain(kept);
    expect(libmime.decodeWords(text)).toContain(encoded.split(' ')[0]);
    expect(text.replace(/=\?utf-8\?[QB]\?[^?]*\?=/g, '')).not.toMatch(/=\?|\?=/);
    for (const word of text.match(/=\?\S*/g) ?? []) expect(word.length).toBeLessThanOrEqual(76);
  });

  it.each([
    ['List-Unsubscribe', '<https://example.com/grüße>', '<https://example.com/gr%C3%BC%C3%9Fe>'],
    ['list-unsubscribe', '<https://e.com/a b?q=ü#ä>', '<https://e.com/a%20b?q=%C3%BC#%C3%A4>'],
    ['List-Unsubscribe', '<https://e.com/%20ü%zz>', '<https://e.com/%20%C3%BC%25zz>'],
    ['List-Unsubscribe', '<https://bücher.example/ü>', '<https://xn--bcher-kva.example/%C3%BC>'],
    [
      'List-Unsubscribe',
      '<https://u@bücher.example:8443/>',
      '<https://u@xn--bcher-kva.example:8443/>',
    ],
    [
      'List-Unsubscribe',
      '<mailto:ab@bücher.example?subject=lösche>',
      '<mailto:ab@xn--bcher-kva.example?subject=l%C3%B6sche>',
    ],
    [
      'List-Unsubscribe',
      '<mailto:lösch@e.com>, <https://e.com/ä>',
      '<mailto:l%C3%B6sch@e.com>, <https://e.com/%C3%A4>',
    ],
    ['List-Unsubscribe', 'https://example.com/grüße', '<https://example.com/gr%C3%BC%C3%9Fe>'],
    ['List-Unsubscribe', '<https://e.com/😀>', '<https://e.com/%F0%9F%98%80>'],
    ['List-Archive', '<https://e.com/"ü">', '<https://e.com/%22%C3%BC%22>'],
    ['Archived-At', '<https://e.com/日>', '<https://e.com/%E6%97%A5>'],
    ['List-Unsubscribe', '<https://e.com/a\u0301>', '<https://e.com/a%CC%81>'],
  ])('%s: %j becomes %j', (name, value, expected) => {
    expect(unfolded(name, value)).toBe(expected);
  });

  it.each([
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One‑Click'],
    ['Feedback-ID', 'größe:a:b:c'],
    ['Auto-Submitted', 'auto-generated; für=ä'],
    ['Precedence', 'büro'],
    ['Content-Language', 'größe'],
    ['List-Id', 'Größe'],
    ['List-Id', '<größe.example.com>'],
    ['List-Id', 'Größe <a b>'],
    ['List-Unsubscribe', 'bitte hier: https://example.com/ü'],
    ['List-Unsubscribe', 'Größe <https://example.com/u>'],
    ['List-Unsubscribe', '<größe>'],
    ['List-Unsubscribe', '<https://example.com/ü'],
    ['List-Unsubscribe', '<https://ü\u3000.example/>'],
    ['Disposition-Notification-To', 'Zoë'],
    ['Disposition-Notification-To', 'zoë@example.com'],
    ['Disposition-Notification-To', 'Z <zoë@example.com>'],
    ['Disposition-Notification-To', '"Zoë <a@example.com>'],
    ['Disposition-Notification-To', 'a@example.com (Zoë'],
    ['Errors-To', 'Zoë <a@example.com'],
    ['Supersedes', '<grüße@example.com>'],
    ['List-Unsubscribe', `<https://example.com/${'ü'.repeat(200)}>`],
    ['Feedback-ID', 'x'.repeat(998)],
  ])('%s: %j is refused', (name, value) => {
    expect(encodeExtraHeader(name, value)).toBeNull();
  });

  it.each([76, 300, 898, 920, 996])('keeps a URI of %i characters whole', (length) => {
    const uri = `<${'https://example.com/'.padEnd(length - 2, 'x')}>`;
    for (const name of ['List-Unsubscribe', 'list-help', 'Archived-At']) {
      const value = encodeExtraHeader(name, uri) ?? '';
      expect(value.trim()).toBe(uri);
      for (const line of `${name}: ${value}`.split('\r\n')) {
        expect(line.length).toBeLessThanOrEqual(998);
      }
    }
  });

  it('folds several long URIs, each on a line of its own', () => {
    const uris = [`<https://example.com/${'a'.repeat(470)}>`, `<mailto:${'b'.repeat(470)}@e.com>`];
    const value = encodeExtraHeader('List-Unsubscribe', uris.join(', ')) ?? '';
    expect(value.replaceAll('\r\n', '').trim()).toBe(uris.join(', '));
    for (const line of value.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
  });

  it.each([
    ['List-Unsubscribe', '<https://e.com/u>, <mailto:u@e.com?subject=out>'],
    ['List-Id', 'Plain words <news.example.com>'],
    ['List-Id', 'no brackets'],
    ['Disposition-Notification-To', '"Q, R" <q@example.com>'],
    ['Feedback-ID', 'a:b:c:d'],
    ['Keywords', 'one, two'],
    ['X-Plain', 'a\tb'],
  ])('%s: %j stays as it is', (name, value) => {
    expect(encodeExtraHeader(name, value)).toBe(value);
  });
});

describe('another field', () => {
  it.each(['X-Note', 'Comments', 'Organization', 'X-SMTPAPI', 'Campaign-Name'])(
    'of words (%s) is encoded as a whole',
    (name) => {
      const text = '{"a":"Größe <b>x</b>"}';
      const value = unfolded(name, text) ?? '';
      expect(value).toMatch(/^=\?utf-8\?/);
      expect(libmime.decodeWords(value)).toBe(text);
    },
  );

  it('encodes the phrases of Keywords and keeps their commas', () => {
    const value = unfolded('Keywords', 'plain, Größe 1, Ω') ?? '';
    expect(libmime.decodeWords(value)).toMatch(/^plain, Größe 1 ?, Ω$/);
    expect(value.match(/,/g)).toHaveLength(2);
  });

  it.each([
    ['Report-Abuse', 'Bitte hier, Zoë: <https://example.com/ü>', '<https://example.com/%C3%BC>'],
    ['Original-Sender', `Zoë ${addressee}`, addressee],
  ])('of an unknown grammar (%s) keeps its angle brackets', (name, text, kept) => {
    const value = unfolded(name, text) ?? '';
    expect(value).toMatch(/^[\x20-\x7e]+$/);
    expect(value).toContain(kept);
  });
});

it('the encoding of hostile values takes linear time', () => {
  const values = ['(', '"', '<', 'ü(', 'ü"\\', 'ü <', '<a:ü', 'ü,', 'ü:', '(ü)', '<a@ü> ', '%ü'];
  const before = startWork();
  for (const value of values) {
    for (const name of ['List-Id', 'List-Unsubscribe', 'Errors-To', 'Keywords', 'Foo']) {
      encodeExtraHeader(name, value.repeat(10_000));
    }
  }
  expect(workedMs(before)).toBeLessThan(2_000);
});
