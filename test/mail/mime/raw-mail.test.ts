// Mail composed elsewhere and sent as it is: whole fields are removed and put in front, the rest
// stays the same bytes.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Composer, composeHere, isForWorkers } from '../../../src/mail/mime/composer.ts';
import type { ComposeRequest } from '../../../src/mail/mime/input.ts';
import { composeRaw, cutRawMail, joinRawMail } from '../../../src/mail/mime/raw-mail.ts';
import { decodedParts } from '../../../src/mail/parse/decoded-parts.ts';
import { testSeed } from './compose-corpus.ts';
import { ed25519Key, rsaKey, timestampSeconds } from './test-keys.ts';

const line = fc.stringMatching(/^[ -~]{0,60}$/);
const name = fc.constantFrom('From', 'X-A', 'bcc', 'BCC', 'Received', 'X-Service-Tags', 'a-b');
/** One field, folded or not. */
const field = fc
  .record({
    name,
    first: line,
    folds: fc.array(
      line.map((text) => `\t${text}x`),
      { maxLength: 2 },
    ),
  })
  .map((one) => ({
    name: one.name,
    text: `${[`${one.name}:${one.first}`, ...one.folds].join('\r\n')}\r\n`,
  }));
const body = fc
  .array(line, { maxLength: 8 })
  .map((lines) => lines.map((text) => `${text}\r\n`).join(''));

const isBcc = (lowerName: string) => lowerName === 'bcc';

describe('a raw mail', () => {
  it('keeps every byte except those of removed fields', () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 12 }), body, (fields, text) => {
        const raw = Buffer.from(`${fields.map((one) => one.text).join('')}\r\n${text}`);
        const kept = fields.filter((one) => !isBcc(one.name.toLowerCase()));
        const expected = `X-New: 1\r\n${kept.map((one) => one.text).join('')}\r\n${text}`;
        const joined = joinRawMail(cutRawMail(raw, isBcc), [{ name: 'X-New', value: '1' }]);
        expect(joined.toString()).toBe(expected);
        const { header, body: composedBody, fields: signed } = composeRaw({ raw: joined });
        expect(Buffer.concat([header, composedBody]).equals(joined)).toBe(true);
        expect(signed.map((one) => one.name)).toEqual(['X-New', ...kept.map((one) => one.name)]);
      }),
      { seed: testSeed, numRuns: 300 },
    );
  });

  it('states the needs for SMTPUTF8 and 8BITMIME', () => {
    const needs = (text: string) => {
      const { smtpUtf8, eightBit } = composeRaw({ raw: Buffer.from(text) });
      return { smtpUtf8, eightBit };
    };
    expect(needs('A: b\r\n\r\nx\r\n')).toEqual({ smtpUtf8: false, eightBit: false });
    expect(needs('A: b\r\n\r\n\u00fc\r\n')).toEqual({ smtpUtf8: false, eightBit: true });
    expect(needs('A: \u00fc\r\n\r\nx\r\n')).toEqual({ smtpUtf8: true, eightBit: true });
  });
});

describe('concurrent raw mails', () => {
  let composer: Composer;
  beforeEach(() => {
    composer = new Composer();
  });
  afterEach(() => composer.close());

  it('are signed by workers as on this thread, and large ones are not copied to them', async () => {
    const requests = Array.from({ length: 20 }, (_, index): ComposeRequest => {
      const raw = Buffer.from(
        `From: a@sandbox.test\r\nSubject: ${index}\r\n\r\n${index}  \r\n\r\n`,
      );
      return { input: { raw }, keys: [rsaKey, ed25519Key()], timestampSeconds };
    });
    expect(requests.every(isForWorkers)).toBe(true);
    const made = await Promise.all(requests.map((request) => composer.compose(request)));
    for (const [index, request] of requests.entries()) {
      const here = await composeHere(request);
      expect(Buffer.concat(made[index]?.data ?? []).equals(Buffer.concat(here.data))).toBe(true);
    }
    const large: ComposeRequest = {
      input: { raw: Buffer.alloc(100_000, 'x') },
      keys: [rsaKey],
      timestampSeconds,
    };
    expect(isForWorkers(large)).toBe(false);
  });
});

describe('the decoded parts of a mail', () => {
  const nested = (depth: number) => {
    let text = 'Content-Type: text/plain\r\n\r\nx\r\n';
    for (let level = 0; level < depth; level += 1) {
      text = `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n${text}\r\n--b${level}--\r\n`;
    }
    return Buffer.from(text);
  };

  it('cover each level, within a bound', async () => {
    expect((await decodedParts(nested(2))).map(({ type }) => type)).toEqual([
      'multipart/mixed',
      'multipart/mixed',
      'text/plain',
    ]);
    expect((await decodedParts(nested(100))).length).toBe(101);
    const many = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(50_000)}`;
    expect((await decodedParts(Buffer.from(many))).length).toBe(1);
  });

  it('are equal under any encoding and line end of a text', async () => {
    const part = (encoding: string, text: string) =>
      decodedParts(
        Buffer.from(
          `Content-Type: text/plain\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${text}`,
        ),
      );
    const plain = await part('7bit', 'a = b\r\nc\r\n');
    expect(await part('quoted-printable', 'a =3D b\r\n=\r\nc')).toEqual(plain);
    expect(await part('base64', Buffer.from('a = b\nc').toString('base64'))).toEqual(plain);
    expect(await part('7bit', 'a = b\r\nd\r\n')).not.toEqual(plain);
  });

  it('are equal under any boundary, and differ by the bytes and name of a file', async () => {
    const mixed = (boundary: string, file: string, name = 'a.bin') =>
      decodedParts(
        Buffer.from(
          [
            `Content-Type: multipart/mixed; boundary=${boundary}`,
            '',
            `--${boundary}`,
            '',
            'text',
            `--${boundary}`,
            `Content-Type: application/octet-stream; name=${name}`,
            'Content-Transfer-Encoding: base64',
            '',
            file,
            `--${boundary}--`,
            '',
          ].join('\r\n'),
        ),
      );
    const first = await mixed('b1', 'AAECAw==');
    expect(first.map(({ type }) => type)).toEqual([
      'multipart/mixed',
      'text/plain',
      'application/octet-stream',
    ]);
    expect(await mixed('b2', 'AAEC\r\nAw==')).toEqual(first);
    expect(await mixed('b1', 'AAECBA==')).not.toEqual(first);
    expect(await mixed('b1', 'AAECAw==', 'b.bin')).not.toEqual(first);
  });

  it('tell texts apart that differ behind the part that is read', async () => {
    const long = (last: string) => decodedParts(Buffer.from(`\r\n${'x'.repeat(3_000_000)}${last}`));
    expect(await long('a')).not.toEqual(await long('b'));
  });
});
