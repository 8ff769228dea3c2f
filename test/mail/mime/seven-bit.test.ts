// 8-bit mail for servers without 8BITMIME: test/fixtures/eight-bit, encoded, has ASCII alone and
// the same content.
import { isAscii } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toSevenBit } from '../../../src/mail/mime/seven-bit.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { testSeed } from './compose-corpus.ts';

const folder = new URL('../../fixtures/eight-bit/', import.meta.url);
const fixture = (name: string) => readFileSync(new URL(name, folder));
const names = readdirSync(folder);
const isImpossible = (name: string) => name.startsWith('no-');

/** Returns all that a reader sees. */
async function contentOf(raw: Buffer) {
  const { text, html, attachments, parsingErrors, subject } = await parseMime(raw);
  // An attached mail has other bytes, as its own parts are encoded.
  const files = attachments.map(({ filename, contentType, size }) => [
    filename,
    contentType,
    contentType === 'message/rfc822' ? null : size,
  ]);
  return { text, html, files, subject, parsingErrors: parsingErrors.map(({ code }) => code) };
}

describe('8-bit mail, encoded', () => {
  it.each(names.filter((name) => !isImpossible(name)))('has the same content: %s', async (name) => {
    const raw = fixture(name);
    const encoded = toSevenBit(raw);
    expect(encoded && isAscii(encoded)).toBe(true);
    const lines = encoded?.toString('latin1').split('\r\n') ?? [];
    expect(lines.filter((line) => line.length > 998 || /[\r\n]/.test(line))).toEqual([]);
    const { parsingErrors, ...content } = await contentOf(encoded ?? raw);
    const { parsingErrors: before, ...expected } = await contentOf(raw);
    // Readers may not guess the charset of octets without a label.
    const text = name.startsWith('without-mime') ? 'Grüße aus der alten Welt\n' : expected.text;
    expect(content).toEqual({ ...expected, text });
    // A charset that nobody labelled, and preambles, may lose a fault.
    expect(before).toEqual(expect.arrayContaining(parsingErrors));
  });

  it.each(names.filter(isImpossible))('is impossible for %s', (name) => {
    expect(toSevenBit(fixture(name))).toBeNull();
  });

  it('keeps every field but the transfer encoding', () => {
    const encoded = toSevenBit(fixture('folded-encoding.eml'))?.toString('latin1') ?? '';
    const [header = ''] = encoded.split('\r\n\r\n');
    expect(header.match(/content-transfer-encoding/gi)).toHaveLength(1);
    for (const name of ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version']) {
      expect(header).toContain(`${name}: `);
    }
  });

  it('labels text that nobody labelled', () => {
    const typeOf = (name: string) =>
      /^Content-Type: .*/m.exec(toSevenBit(fixture(name))?.toString('latin1') ?? '')?.[0].trim();
    expect(typeOf('without-mime-utf8.eml')).toBe('Content-Type: text/plain; charset=utf-8');
    expect(typeOf('without-mime-latin1.eml')).toBe(
      'Content-Type: text/plain; charset=windows-1252',
    );
  });

  it('keeps the octets of a file', () => {
    const encoded = toSevenBit(fixture('binary-attachment.eml'))?.toString('latin1') ?? '';
    const [, base64 = ''] =
      /a\.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n([^-]*)/.exec(encoded) ?? [];
    const octets = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).filter(
      (byte) => ![0, 10, 13].includes(byte),
    );
    expect(Buffer.from(base64, 'base64').equals(octets)).toBe(true);
  });

  it('leaves ASCII mail as it is', () => {
    const raw = Buffer.from('From: a@b.test\r\n\r\nplain\r\n');
    expect(toSevenBit(raw)).toBe(raw);
  });

  it('never throws, and gives ASCII or nothing for any bytes', () => {
    const seed = fixture('nested.eml');
    const cut = fc.record({
      at: fc.nat(seed.length),
      length: fc.nat(40),
      put: fc.uint8Array({ maxLength: 20 }),
    });
    fc.assert(
      fc.property(cut, ({ at, length, put }) => {
        const raw = Buffer.concat([seed.subarray(0, at), put, seed.subarray(at + length)]);
        const encoded = toSevenBit(raw);
        expect(encoded === null || isAscii(encoded)).toBe(true);
      }),
      { seed: testSeed, numRuns: 500 },
    );
  });

  it('gives up on deep and on many parts in linear time', () => {
    const deep = Array.from(
      { length: 40 },
      (_, at) => `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`,
    );
    const head = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n';
    expect(toSevenBit(Buffer.from(`${head}${deep.join('')}ß`))).toBeNull();
    expect(toSevenBit(Buffer.from(`${head}${'--b0\r\n\r\nß\r\n'.repeat(2_000)}`))).toBeNull();
  });
});
