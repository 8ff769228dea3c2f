// The library runs only on texts in which it may find something: the shortcut never loses a result.
import EmailReplyParser from 'email-reply-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
// Not exported by the library: this list decides which texts may skip it.
import expressions from '../../../node_modules/email-reply-parser/dist/regex.js';
import {
  findForeignAttribution,
  mayHoldAttribution,
} from '../../../src/mail/parse/foreign-attribution.ts';
import { textOf } from '../../bench/svc-contender.ts';

const quoteHeaders = expressions.quoteHeadersRegex as RegExp[];

/** Returns the result of the library, without the shortcut. */
const isQuotedBy = (text: string) =>
  new EmailReplyParser()
    .read(text)
    .getFragments()
    .some((fragment) => fragment.isQuoted());

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

describe(`the shortcut before email-reply-parser (seed ${seed})`, () => {
  it.each(quoteHeaders.map((expression) => [expression.source, expression] as const))(
    'asks the library for matches of %s',
    (_, expression) => {
      const { source, flags } = expression;
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(source, flags.replace(/[im]/g, ''))), (line) => {
          expect(mayHoldAttribution(`Hello\n${line}\n`)).toBe(true);
        }),
        { numRuns: 40, seed },
      );
    },
  );

  it('asks the library wherever that finds an attribution', () => {
    const pieces = [
      'On 4 March Alice <a@b> wrote:',
      'Am 4. schrieb',
      ' schrieb [A]:',
      'Op 4 mrt',
      '',
    ]
      .concat(
        'schreef A:',
        '-- Original Message --',
        'From: A [a@b]',
        'De : A',
        '<a@b.example>',
        '--',
      )
      .concat(
        '07/03/2025 10:00 "A" <a@b> :',
        'Regards',
        '2025-03-04 10:12 A <a@b>:',
        'Hi',
        '  x > y',
      );
    const lines = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 });
    let found = 0;
    fc.assert(
      fc.property(lines, (shown) => {
        const text = shown.join('\n');
        const isFound = isQuotedBy(text);
        if (isFound) found += 1;
        expect(mayHoldAttribution(text) || !isFound).toBe(true);
      }),
      { numRuns: 500, seed },
    );
    expect(found).toBeGreaterThan(0);
  });

  it('skips the library for a text without an introduction', () => {
    expect(mayHoldAttribution(textOf(4_000))).toBe(false);
    expect(mayHoldAttribution('Hi Bob,\n\nsee you at 10:30 - or later?\n\n-- \nAlice\n')).toBe(
      false,
    );
    expect(findForeignAttribution(['Prima.', '', 'Op 4 maart schreef Alice:', 'Hoi'], 4)).toBe(2);
  });
});
