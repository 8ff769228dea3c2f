// Functions of ours on the main thread that give text from outside to a library (data): the longest
// text that they take, and hostile texts.
import { authenticate } from '../../src/inbox/receiving/authenticate.ts';
import { dmarcCheck } from '../../src/inbox/receiving/dmarc-check.ts';
import { checkSpf } from '../../src/inbox/receiving/spf.ts';
import { fileTypeOf } from '../../src/mail/mime/file-type.ts';
import { parseAddressList } from '../../src/mail/mime/headers/header-addresses.ts';
import { decodeWords, readParameters } from '../../src/mail/mime/headers/header-values.ts';
import { hidesWords } from '../../src/mail/mime/html/hidden-words.ts';
import { mostCharacters as mostHtml } from '../../src/mail/mime/html/tokens.ts';
import { composeWithMailComposer } from '../../src/mail/mime/mail-composer.ts';
import { readAttachmentBytes } from '../../src/mail/parse/attachment-bytes.ts';
import { automatedBy } from '../../src/outbound/tracking/automated.ts';
import { findLinks, mostCharacters } from '../../src/outbound/tracking/links.ts';
import { csvRows } from '../../src/platform/csv/read-csv.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';
import { plainInput } from '../mail/mime/compose-corpus.ts';
import { type Hostile, repeated } from './growth.ts';

interface Doorway {
  /** Files that import the library, each with its library. */
  imports: readonly string[];
  /** Longest text in characters. */
  most: number;
  run(text: string): unknown;
  texts: readonly Hostile[];
}

const kilobyte = 1024;
const header = 256 * kilobyte;

const all = (pieces: readonly string[], head = '', tail = '') =>
  pieces.map((piece) => repeated(piece, head, tail));

/** Numbers a piece, so that each one differs. */
const numbered =
  (head: string, piece: (number: number) => string): Hostile =>
  (length) => {
    const count = Math.ceil(length / piece(10_000).length);
    return head + Array.from({ length: count }, (_, number) => piece(number)).join('');
  };

async function noDns(): Promise<never> {
  throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' });
}

const session = {
  ip: '192.0.2.1',
  helo: 'mx.example.com',
  mailFrom: 'a@example.com',
  mta: 'svc.example',
};

async function readRows(text: string): Promise<void> {
  const chunks = (async function* () {
    yield Buffer.from(text);
  })();
  for await (const row of csvRows(chunks, ',', 64 * kilobyte)) if (row.line < 0) return;
}

const part = 'Content-Type: multipart/mixed; boundary=x\r\n\r\n';

export const doorways: Readonly<Record<string, Doorway>> = {
  decodeWords: {
    imports: [
      'src/mail/mime/headers/header-values.ts libmime',
      'src/mail/mime/charset/charset.ts libmime',
    ],
    most: header,
    run: decodeWords,
    texts: [
      ...all([
        '=?',
        '=?a?q?',
        '=?utf-8?q?a?= ',
        '=?utf-8?q?a?=',
        '=?utf-8?b?QQ==?=\t',
        '=?x ',
        '?=',
      ]),
      ...all(['_', 'a ', '=', ' '], '=?utf-8?q?', '?='),
      ...all([' ', '\t=?'], '=?utf-8?q?a?='),
    ],
  },
  readParameters: {
    imports: [],
    most: header,
    run: readParameters,
    texts: [
      ...all(
        ['a=b;', '; a*0=x', 'a="', '\\"', ';', '=', ' ;x', "a*=u''%41;", '*1', ' '],
        'text/plain; ',
      ),
      numbered('text/plain', (number) => `; a*${number}=xyz`),
      numbered('text/plain', (number) => `; a${number}*=u'%41`),
    ],
  },
  parseAddressList: {
    imports: [],
    most: header,
    run: parseAddressList,
    texts: all([
      '<',
      '(',
      '"',
      'a@b,',
      ':',
      ' ',
      '\\',
      '=?utf-8?q?a?= ',
      '()',
      '"" ',
      'mailto:',
      '(=?',
    ]),
  },
  readAttachmentBytes: {
    imports: ['src/mail/parse/lenient-parser.ts mailparser'],
    most: 512 * kilobyte,
    run: (text) => readAttachmentBytes(Buffer.from(text), '9', kilobyte),
    texts: [
      ...all(
        [
          '--x\r\n',
          '--x\r\n\r\na\r\n',
          '--x',
          '\r',
          '--x\r\nContent-Type: multipart/mixed\r\n\r\n',
        ],
        part,
      ),
      ...all(['b\r\n ', ' ', ';a=', '=?'], 'Content-Type: text/plain; a='),
      ...all(['a:b\r\n', 'Content-Type: message/rfc822\r\n\r\n']),
      ...all(['=', '=\r\n', ' \r\n', '=3D'], 'Content-Transfer-Encoding: quoted-printable\r\n\r\n'),
      ...all(['=', 'A\r\n', '\r\n'], 'Content-Transfer-Encoding: base64\r\n\r\n'),
    ],
  },
  composeWithMailComposer: {
    imports: ['src/mail/mime/mail-composer.ts nodemailer'],
    most: 255,
    run: (filename) =>
      composeWithMailComposer({
        ...plainInput,
        attachments: [{ filename, contentType: 'a/b', contentId: null, content: Buffer.from('a') }],
      }),
    texts: all(['"', '\\', 'é', ' ', '%', "'", '.']),
  },
  fileTypeOf: {
    imports: ['src/mail/mime/file-type.ts nodemailer'],
    most: 255,
    run: fileTypeOf,
    texts: all(['.', '.a', '/', '?', ' ']),
  },
  findLinks: {
    imports: ['src/outbound/tracking/links.ts parse5-html-rewriting-stream'],
    most: mostCharacters,
    run: (html) => findLinks(html, () => null),
    texts: [
      ...all([
        '<',
        '<a href="',
        '<a href=x>',
        '&',
        '&amp',
        '<!--',
        '</',
        '<img src=',
        '<b>',
        '<title>',
        '<svg>',
      ]),
      ...all(['b ', "a='", '&#x'], '<a '),
      numbered('<a ', (number) => `a${number}=x `),
    ],
  },
  hidesWords: {
    imports: ['src/mail/mime/html/tokens.ts htmlparser2'],
    most: mostHtml,
    run: hidesWords,
    texts: [
      ...all([
        '<',
        '<a ',
        '<div>',
        '</x>',
        '<b></i>',
        '&',
        '&amp',
        '<!--',
        '<style>',
        '<li>',
        '<td>',
        '<svg/>',
        'a ',
      ]),
      ...all(
        ['a a ', 'a@', 'a@a.', 'http', ' ', '\u{E0041}', '<b>a</b>', '<i hidden>a '],
        '<p hidden>',
      ),
      ...all(['<p>', '<p><button>', '<b></p>'], `<p><button>${'<b>'.repeat(120)}`),
      ...all(['</b>', '</div>', '<div></b>'], '<table><td>'.repeat(60)),
      ...all(['a:', ';', 'color:red;', '/*', '\\', 'a:b!', 'color:#', '('], '<p style="'),
      ...all(['url(', ' red', '#fff ', '0/', 'rgb('], '<p style="background:', '">a'.repeat(9)),
      ...all(
        [
          '{',
          '}',
          'a{color:red}',
          '@media ',
          '/*',
          'p p{color:red}',
          'a,',
          '"',
          'content:"',
          '[a',
          ':not(',
        ],
        '<style>',
      ),
      ...all(
        ['<p>a', '<p class="a b">a</p>', '<div><p>'],
        '<style>*{color:red}p{color:red}div p,p+p,p~p .a{color:red}</style>',
      ),
      ...all(['<p>a'], `<style>${'p~p{color:red}'.repeat(200)}</style>`),
      ...all(['<p>'], `<style>p{background:${'red '.repeat(9_000)}}</style>`),
      ...all(['a '], `<style>${'.a[class]{color:red}'.repeat(500)}</style><p class="`, '">'),
      numbered('<p hidden>', (number) => ` @a${number}.b`),
      numbered('<p ', (number) => `a${number}=x `),
      numbered('<style>', (number) => `.a${number}{color:red}`),
    ],
  },
  csvRows: {
    imports: ['src/platform/csv/read-csv.ts csv-parse'],
    most: 256 * kilobyte,
    run: readRows,
    texts: all(['"', ',', '\n', '""', 'a"b', '\r', '"a",', '"\n', ' ', '"a"b', '\r\n', 'x']),
  },
  automatedBy: {
    imports: ['src/outbound/tracking/automated.ts isbot'],
    most: 16 * kilobyte,
    run: (text) =>
      automatedBy('open', { method: 'GET', headers: { 'user-agent': text }, remoteAddress: null }),
    texts: all(['cisco', 'bot', ' ', 'Mozilla/5.0 (', 'a.', '(']),
  },
  dmarcCheck: {
    imports: ['src/inbox/receiving/dmarc-check.ts mailauth'],
    most: 8 * kilobyte,
    run: (text) => dmarcCheck(Buffer.from(`From: ${text}\r\n\r\n`), noDns, systemClock).author,
    texts: all(['<', '(', '"', 'a@b,', ':', ' ', '\\', '<a@b>', '=?utf-8?q?a?= ', ',', '@', '"a']),
  },
  authenticate: {
    imports: ['src/inbox/receiving/authenticate.ts mailauth'],
    most: 128 * kilobyte,
    run: (text) => {
      const raw = Buffer.from(`${text}\r\nFrom: a@example.com\r\n\r\nbody\r\n`);
      const trustedSealers = new Set<string>();
      return authenticate(raw, { ...session, resolver: noDns, clock: systemClock, trustedSealers });
    },
    texts: [
      ...all(['a=b; ', ' ', 'b=', ';', '\r\n ', '=', '"'], 'DKIM-Signature: v=1; x=a', 'b'),
      ...all(['a=b; ', ' ', 'i=1;', ';'], 'ARC-Seal: i=1; x=a', 'b'),
      ...all([' ', '\t'], 'DKIM-Signature: v=1; x=a\r\nb', 'c'),
      ...all(['<', '(', 'a ', '"'], 'Return-Path: '),
      ...all(['From: a@b\r\n', 'From: (((((((((\r\n', 'a:b\r\n', 'h:\r\n ']),
      ...all([' ', '\r'], 'a', 'b: c'),
    ],
  },
  checkSpf: {
    imports: ['src/inbox/receiving/spf.ts mailauth'],
    most: 64 * kilobyte,
    run: (text) =>
      checkSpf(session, async (_name, type) => (type === 'TXT' ? [[`v=spf1 ${text}`]] : noDns())),
    texts: all(['a ', ' ', '%{', '%{d}', 'ip4:192.0.2.1 ', '/', ':', 'x=', '-', 'exp=a ']),
  },
};

/** Importers whose text has another origin, with the reason. */
export const otherImports: Readonly<Record<string, string>> = {
  'src/mail/smtp/mta-sts.ts mailauth': 'a policy of 64 KB, from a server that the domain names',
};
