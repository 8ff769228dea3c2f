// Mails with one fault in their MIME each, and their results in other readers. The texts are our
// own.

export interface Fault {
  /** Name of the fault. */
  fault: string;
  raw: Buffer;
  /** Expected results; absent fields are not compared. */
  reads: {
    subject?: string;
    fromName?: string;
    text?: string;
    newContent?: string;
    /** Names of attachments in their order. */
    attachments?: (string | null)[];
    /** Decoded bytes of the first attachment. */
    size?: number;
    /** Types of attachments in their order. */
    types?: string[];
    /** Codes of the parsing errors. */
    errors?: string[];
  };
}

const top = ['From: Bob <bob@example.net>', 'Message-ID: <f@example.net>', 'MIME-Version: 1.0'];

/** Each character is one byte. */
const bytes = (lines: string[]) => Buffer.from(lines.join('\r\n'), 'latin1');

function withField(field: string): Buffer {
  return bytes([...top, field, 'Content-Type: text/plain', '', 'text', '']);
}

/** Builds a mail with a text and an attachment, and these words after the delimiters. */
function mixed(
  { open = '', close = '', declared = '"b1"', end = '\r\n' }: Partial<Record<string, string>>,
  disposition = 'attachment; filename="a.bin"',
): Buffer {
  const lines = [
    ...top,
    `Content-Type: multipart/mixed; boundary=${declared}`,
    '',
    'preamble',
    `--b1${open}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    'the text',
    `--b1${open}`,
    'Content-Type: application/octet-stream',
    `Content-Disposition: ${disposition}`,
    'Content-Transfer-Encoding: base64',
    '',
    'AAECAwQF',
    `--b1--${close}`,
    'epilogue',
    '',
  ];
  return Buffer.from(lines.join(end), 'latin1');
}

const attached = { text: 'the text', attachments: ['a.bin'], size: 6 };

const boundaries: Fault[] = [
  { fault: 'a space behind each boundary', raw: mixed({ open: ' ', close: ' ' }), reads: attached },
  {
    fault: 'tabs behind each boundary',
    raw: mixed({ open: '\t\t', close: '\t' }),
    reads: attached,
  },
  {
    fault: 'a hundred spaces behind each boundary',
    raw: mixed({ open: ' '.repeat(100), close: ' '.repeat(100) }),
    reads: attached,
  },
  {
    fault: 'a space behind each boundary, bare line feeds',
    raw: mixed({ open: ' ', close: ' ', end: '\n' }),
    reads: attached,
  },
  {
    fault: 'a space behind the boundary as it is declared',
    raw: mixed({ declared: '"b1 "' }),
    reads: attached,
  },
  { fault: 'a boundary declared without quotes', raw: mixed({ declared: 'b1' }), reads: attached },
  {
    fault: 'a line that begins like a boundary and goes on',
    raw: bytes([
      ...top,
      'Content-Type: multipart/mixed; boundary=b1',
      '',
      '--b1',
      'Content-Type: text/plain',
      '',
      'above',
      '--b1 is no boundary',
      '--b12',
      'below',
      '--b1--',
      '',
    ]),
    reads: { text: 'above\n--b1 is no boundary\n--b12\nbelow', attachments: [] },
  },
  {
    fault: 'padded boundaries within padded boundaries',
    raw: bytes([
      ...top,
      'Content-Type: multipart/mixed; boundary=b1',
      '',
      '--b1 ',
      'Content-Type: multipart/alternative; boundary=b2',
      '',
      '--b2\t',
      'Content-Type: text/plain',
      '',
      'inner',
      '--b2-- ',
      '--b1 ',
      'Content-Type: application/pdf; name=b.pdf',
      'Content-Transfer-Encoding: base64',
      '',
      'AAEC',
      '--b1-- ',
      '',
    ]),
    reads: { text: 'inner', attachments: ['b.pdf'], size: 3 },
  },
];

const words: Fault[] = [
  {
    fault: 'raw Latin-1 bytes within an encoded word',
    raw: withField('Subject: =?iso-8859-1?Q?Gr\xfc\xdfe_aus_K=F6ln?='),
    reads: { subject: 'Grüße aus Köln' },
  },
  {
    fault: 'raw UTF-8 bytes within an encoded word',
    raw: withField('Subject: =?utf-8?Q?Gr\xc3\xbc\xc3\x9fe_aus_K=C3=B6ln?='),
    reads: { subject: 'Grüße aus Köln' },
  },
  {
    fault: 'raw KOI8-R bytes within an encoded word',
    raw: withField('Subject: =?koi8-r?Q?\xf0\xd2\xc9\xd7\xc5\xd4?='),
    reads: { subject: 'Привет' },
  },
  {
    fault: 'raw Latin-1 bytes within the name of a sender',
    raw: bytes([
      'From: =?iso-8859-1?Q?J\xfcrgen?= <j@example.net>',
      'Message-ID: <f@example.net>',
      '',
      'text',
      '',
    ]),
    reads: { fromName: 'Jürgen' },
  },
  {
    fault: 'raw bytes within an encoded word and of another charset beside it',
    raw: withField('Subject: =?koi8-r?Q?\xf0\xd2\xc9?= und Gr\xfc\xdfe'),
    reads: { subject: 'При und Grüße' },
  },
  {
    fault: 'raw Latin-1 bytes within an encoded filename',
    raw: mixed({}, 'attachment; filename="=?iso-8859-1?Q?Gr\xfc\xdfe.bin?="'),
    reads: { text: 'the text', attachments: ['Grüße.bin'] },
  },
  {
    fault: 'a character cut between two encoded words',
    raw: withField('Subject: =?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?='),
    reads: { subject: 'Grüße' },
  },
];

const flows: Fault[] = [
  {
    fault: 'flowed text with quotations of several depths',
    raw: bytes([
      ...top,
      'Content-Type: text/plain; format=flowed',
      '',
      '>> deep \r\n>> down\r\n> once \r\nmine \r\ngoes on',
      '',
    ]),
    reads: { text: '>> deep down\n> once \nmine goes on', newContent: 'mine goes on' },
  },
  {
    fault: 'flowed text with DelSp',
    raw: bytes([
      ...top,
      'Content-Type: text/plain; format=flowed; delsp=yes',
      '',
      'https://example.net/a \r\nb\r\n> co \r\n> re',
      '',
    ]),
    reads: { text: 'https://example.net/ab\n> core' },
  },
  {
    fault: 'flowed text with stuffed lines',
    raw: bytes([
      ...top,
      'Content-Type: text/plain; format=flowed',
      '',
      ' From here\r\n  indented\r\n-- \r\nBob',
      '',
    ]),
    reads: { text: 'From here\n indented\n-- \nBob' },
  },
];

/** The same outer multipart, around an inner one that ends without its closing boundary. */
function around(inner: string[], after: string[]): Buffer {
  const head = [...top, 'Content-Type: multipart/mixed; boundary=out', '', '--out'];
  return bytes([...head, ...inner, ...after, '']);
}

const alternative = [
  'Content-Type: multipart/alternative; boundary=in',
  '',
  '--in',
  'Content-Type: text/plain',
  '',
  'the text',
  '--in',
  'Content-Type: text/html',
  '',
  '<p>the text</p>',
];
const pdf = [
  '--out',
  'Content-Type: application/pdf; name=b.pdf',
  'Content-Transfer-Encoding: base64',
  '',
  'AAEC',
];
const unclosedInner = { errors: ['unclosed-multipart'] };

const nested: Fault[] = [
  {
    fault: 'an inner multipart that is not closed before a PDF (RFC 2046 5.1.2)',
    raw: around(alternative, ['', ...pdf, '--out--']),
    reads: { text: 'the text', attachments: ['b.pdf'], size: 3, ...unclosedInner },
  },
  {
    fault: 'two inner multiparts that are not closed',
    raw: around(
      ['Content-Type: multipart/related; boundary=mid', '', '--mid', ...alternative],
      ['', ...pdf.map((line) => (line === '--out' ? '--out ' : line)), '--out-- '],
    ),
    reads: { text: 'the text', attachments: ['b.pdf'], size: 3, ...unclosedInner },
  },
  {
    fault: 'an inner multipart that ends at the end of the outer one',
    raw: around(alternative, ['--out--', 'epilogue', '--in', 'Content-Type: text/plain', '', 'no']),
    reads: { text: 'the text', attachments: [], ...unclosedInner },
  },
  {
    fault: 'an unclosed multipart within an unclosed one, and a part of the middle one behind it',
    raw: around(
      ['Content-Type: multipart/related; boundary=mid', '', '--mid', ...alternative],
      ['', '--mid', 'Content-Type: image/png; name=a.png', '', 'png', ...pdf, '--out--'],
    ),
    reads: { text: 'the text', attachments: ['a.png', 'b.pdf'], ...unclosedInner },
  },
  {
    fault: 'an attached message that has the outer boundary in no line of its own',
    raw: around(
      ['Content-Type: message/rfc822', '', 'Content-Type: multipart/mixed; boundary=in', ''],
      ['--in', '', 'inner --out', ...pdf, '--out--'],
    ),
    reads: { types: ['message/rfc822', 'application/pdf'], errors: [] },
  },
];

const digests: Fault[] = [
  {
    fault: 'a digest whose parts have no type (RFC 2046 5.1.5)',
    raw: bytes([
      ...top,
      'Content-Type: multipart/digest; boundary=d',
      '',
      '--d',
      '',
      'From: Ada <ada@example.net>',
      'Subject: one',
      '',
      'first',
      '--d',
      'Content-Description: second',
      '',
      'Subject: two',
      '',
      'second',
      '--d',
      'Content-Type: text/plain',
      '',
      'a note',
      '--d--',
      '',
    ]),
    reads: { text: 'a note', types: ['message/rfc822', 'message/rfc822'], errors: [] },
  },
];

export const mimeFaults: Fault[] = [...boundaries, ...words, ...flows, ...nested, ...digests];
