// SQLite's index reads a text in ASCII byte by byte, with the same words at the same positions.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FullTextDocument,
  placesOf,
  placesOfWords,
  wordsOfDocument,
} from '../../../src/platform/full-text/document.ts';
import { scanAscii } from '../../../src/platform/full-text/scan-ascii.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

function expectSame(document: FullTextDocument): void {
  const places = placesOf(document);
  expect(wordsOfDocument(document)).toBe(places.map((place) => ` ${place}`).join(''));
  expect(placesOfWords(wordsOfDocument(document))).toEqual(places);
}

const document = (text: string, others: Partial<FullTextDocument> = {}) => ({
  ...{ subject: '', from: [], hasAttachment: false },
  ...others,
  text,
});

describe(`the words of a text in ASCII (seed ${seed})`, () => {
  it('equal those of the general scan', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'a',
        'to',
        'A1',
        ' ',
        '\n',
        '-',
        '@b.example',
        'ada@example.com',
        'x'.repeat(70),
      ),
      fc.string({ unit: fc.nat(127).map((code) => String.fromCharCode(code)), maxLength: 20 }),
    );
    const text = fc.array(piece, { maxLength: 40 }).map((all) => all.join(''));
    const any = fc.record({
      subject: text,
      from: fc.array(text, { maxLength: 2 }),
      text,
      hasAttachment: fc.boolean(),
    });
    fc.assert(fc.property(any, expectSame), { seed, numRuns: 300 });
  });

  it.each([
    ['a word repeated beyond its kept positions', 'to be '.repeat(400), 'to to to'],
    ['words beyond the bound', Array.from({ length: 9_000 }, (_, i) => `w${i}`).join(' '), ''],
    [
      'more characters than are kept, among them words that are short enough yet',
      Array.from({ length: 5_000 }, (_, i) => `${i}${'y'.repeat(60)} ${i}`).join(' '),
      '1 2',
    ],
    ['other letters', `${'größer '.repeat(300)}東京都`, 'größer'],
    ['nothing', '', ''],
    ['no word', ' -- ', 'Hello'],
  ])('stay within the bounds: %s', (_, text, subject) => {
    expectSame(document(text, { subject, from: ['to@b.example', 'To'], hasAttachment: true }));
  });

  it('of one hash take no longer', () => {
    const letters = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789');
    const words: string[] = [];
    const grow = (word: string, hash: number): void => {
      for (const letter of words.length < 400 ? letters : []) {
        const next = Math.imul(hash ^ letter, 0x01000193);
        if (word.length < 4) grow(word + String.fromCharCode(letter), next);
        else if (((next ^ (next >>> 15)) & 16_383) === 7) {
          words.push(word + String.fromCharCode(letter));
        }
      }
    };
    grow('', 0);
    const bounds = { words: 8_000, perWord: 255, characters: 200_000 };
    expect(scanAscii(words.slice(0, 40).join(' '), bounds, new Map())).not.toBeNull();
    expect(scanAscii(words.join(' '), bounds, new Map())).toBeNull();
    expectSame(document(words.join(' ')));
  });
});
