// Messages for the tests of composing and signing: one complete input to vary, and generators that
// favour inputs on which composers break (bare line ends, dots, long lines, surrogates,
// encoded-word look-alikes).
import fc from 'fast-check';
import type { ParsedMail } from 'mailparser';
import { simpleParser } from 'mailparser';
import type { Composed, ComposeInput } from '../../../src/mail/mime/input.ts';

/** A message without any optional part. */
export const plainInput: ComposeInput = {
  messageIdHeader: '<msg_01j8xk3v9qf0.1@sandbox.test>',
  date: Date.UTC(2025, 10, 21, 2, 27),
  from: { email: 'hello@sandbox.test', name: null },
  to: [{ email: 'inbox@sandbox.test', name: null }],
  cc: [],
  replyTo: [],
  subject: 'Hello',
  html: null,
  text: 'Hello, world\n',
  attachments: [],
  headers: [],
  inReplyTo: null,
  references: null,
  priority: null,
  boundarySeed: 'msg_01j8xk3v9qf0000000000000',
};

export const testSeed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

const piece = fc.oneof(
  fc.constantFrom('\n', '\r', '\r\n', '.\n', '..\n', '  trailing  \n', '\t\n', 'From here\n', ' '),
  fc.constantFrom('=3D', '=', '=?utf-8?Q?x?=', '😀', 'שלום עולם', 'ご注文', '\ud800', '\udc00x'),
  fc.constantFrom('x'.repeat(75), 'y'.repeat(76), 'é'.repeat(40), 'z'.repeat(998), 'w'.repeat(999)),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 90 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
);

/** A body, some with a line of 100,000 characters. */
const bodies: fc.Arbitrary<string> = fc
  .tuple(fc.array(piece, { maxLength: 14 }), fc.constantFrom('', '', '', 'long', 'lông'))
  .map(([pieces, word]) => `${pieces.join('')}${word === '' ? '' : word.repeat(25_000)}`);

/** One line for a header, without control characters and without white space at its ends. */
const lines: fc.Arbitrary<string> = fc.array(piece, { maxLength: 8 }).map((pieces) =>
  pieces
    .join('')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim(),
);

const emails = fc.constantFrom(
  'a@example.com',
  'b.c+d@exämple.org',
  '"x@y"@example.net',
  'ö@b.test',
);
const mailboxes = fc.record({ email: emails, name: fc.oneof(fc.constant(null), lines) });

/** Messages without attachments, of all three shapes. */
export const inputs: fc.Arbitrary<ComposeInput> = fc
  .record({
    date: fc.integer({ min: 0, max: 4_102_444_800 }).map((seconds) => seconds * 1000),
    from: mailboxes,
    to: fc.array(mailboxes, { minLength: 1, maxLength: 5 }),
    cc: fc.array(mailboxes, { maxLength: 3 }),
    replyTo: fc.array(emails, { maxLength: 2 }),
    subject: lines,
    text: fc.oneof(fc.constant(null), bodies),
    html: fc.oneof(fc.constant(null), bodies),
    headers: fc.array(
      lines.map((value): [string, string] => ['X-Extra', value.slice(0, 500).toWellFormed()]),
      { maxLength: 1 },
    ),
    inReplyTo: fc.constantFrom(null, '<a@b.test>'),
    references: fc.constantFrom(
      null,
      ['<a@b.test>'],
      [...Array(20).keys()].map((n) => `<${n}@b.test>`),
    ),
    priority: fc.constantFrom(null, 'high', 'low', 'normal'),
  })
  .filter(({ text, html }) => text !== null || html !== null)
  .map((varied) => ({ ...plainInput, ...varied }));

/** Returns the message as the transport gets it. */
export function messageBytes(composed: Composed, signatures: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([signatures, composed.header, composed.body]);
}

/** Parses with the conversions off. */
export function parse(bytes: Buffer): Promise<ParsedMail> {
  return simpleParser(bytes, { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true });
}
