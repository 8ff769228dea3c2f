// Readers of ours whose patterns grew faster than their texts (data), each with hostile texts.
import { contactPathsIn } from '../../src/campaigns/mail/contact-paths.ts';
import { readCss } from '../../src/content/rendering/css.ts';
import { baseSubject } from '../../src/mail/mime/headers/subject.ts';
import { readBounce } from '../../src/mail/parse/bounce/bounce-report.ts';
import { parseMime } from '../../src/mail/parse/parse-mime.ts';
import { splitReply } from '../../src/mail/parse/reply/reply-split.ts';
import { classifyReply } from '../../src/mail/smtp/reply-rules/classify-reply.ts';
import { attachmentList } from '../../src/outbound/messages/send-schema.ts';
import { standingOf } from '../../src/people/imports/consent.ts';
import { addressesIn } from '../../src/platform/full-text/words.ts';
import { type Hostile, repeated } from './growth.ts';

interface Reader {
  most: number;
  run(text: string): unknown;
  texts: readonly Hostile[];
}

const kilobyte = 1024;
const emptyContent = {
  subject: '',
  preheader: '',
  html: '',
  text: '',
  partials: {},
  textPartials: {},
};

async function readNoticeMail(text: string): Promise<unknown> {
  const head = 'From: MAILER-DAEMON@example.com\r\nSubject: Delivery failure\r\n\r\n';
  const words = 'Your mail could not be delivered.\nFinal-Recipient: rfc822; a@example.com\n';
  return readBounce(await parseMime(Buffer.from(head + words + text)));
}

export const readers: Readonly<Record<string, Reader>> = {
  contactPathsIn: {
    most: 240_000,
    run: (html) => contactPathsIn({ ...emptyContent, html } as never),
    texts: ['{{', '{%', '{{%}', '{'].map((piece) => repeated(piece)),
  },
  standingOf: {
    most: 64 * kilobyte,
    run: (cell) => standingOf([['Status', 'status', cell]]),
    texts: [repeated(' ', 'a', 'a'), repeated(']', 'a', 'a'), repeated('"', 'a', 'a')],
  },
  attachmentList: {
    most: 2_000_000,
    run: (content) => attachmentList.safeParse([{ filename: 'a', content }]),
    texts: ['A', '=', '-', '\r\n', 'AAAA\r\n', ' '].map((piece) => repeated(piece)),
  },
  readBounce: {
    most: 60 * kilobyte,
    run: readNoticeMail,
    texts: ['\n', ' \n', '\n>', '.', 'fail', 'a@'].map((piece) => repeated(piece)),
  },
  splitReply: {
    most: 128 * kilobyte,
    run: splitReply,
    texts: [
      repeated('0h00((.', 'On 1 ', '\nwrote:\n> a\n'),
      repeated('<', 'a', '\nwrote:\n> a\n'),
      repeated(' ', 'a', '\nwrote:\n> a\n'),
    ],
  },
  baseSubject: { most: 8 * kilobyte, run: baseSubject, texts: [repeated(' ', 'Re', 'x')] },
  readCss: { most: 256 * kilobyte, run: (css) => readCss(css), texts: [repeated('\\0', 'a{b:')] },
  addressesIn: {
    most: 64 * kilobyte,
    run: (text) => addressesIn(text, 100),
    texts: [repeated('.'), repeated('.@'), repeated('a.@')],
  },
  classifyReply: {
    most: 8 * kilobyte,
    run: (text) => classifyReply({ code: 550, enhancedCode: null, text, verb: 'RCPT' }),
    texts: ['LPN', 'fail', 'user ', 'exceed', '\u0001', 'host '].map((piece) => repeated(piece)),
  },
};
