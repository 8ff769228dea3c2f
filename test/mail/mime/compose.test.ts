// Composing of single messages: their fields, encodings, repeatability and that nothing breaks out
// of a header. Equality of meaning is in compose.property.test.ts.
import { describe, expect, it } from 'vitest';
import { compose } from '../../../src/mail/mime/composer.ts';
import type { ComposeInput } from '../../../src/mail/mime/input.ts';
import { ComposeError } from '../../../src/mail/mime/input.ts';
import { messageBytes, parse, plainInput } from './compose-corpus.ts';

async function composeText(change: Partial<ComposeInput>): Promise<string> {
  return messageBytes(await compose({ ...plainInput, ...change })).toString('utf8');
}

async function bodyText(change: Partial<ComposeInput>): Promise<string> {
  return (await compose({ ...plainInput, ...change })).body.toString('latin1');
}

async function field(name: string, change: Partial<ComposeInput>): Promise<string | undefined> {
  const { fields } = await compose({ ...plainInput, ...change });
  return fields.find((candidate) => candidate.name === name)?.value;
}

it('a plain message has these exact bytes', async () => {
  expect(await composeText({})).toBe(
    [
      'From: hello@sandbox.test',
      'To: inbox@sandbox.test',
      'Subject: Hello',
      'Message-ID: <msg_01j8xk3v9qf0.1@sandbox.test>',
      'Date: Fri, 21 Nov 2025 02:27:00 +0000',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hello, world',
      '',
    ].join('\r\n'),
  );
});

it('the signed fields are in the bytes of the header', async () => {
  const composed = await compose({ ...plainInput, subject: 'Grüße '.repeat(30), priority: 'high' });
  const written = composed.fields.map(({ name, value }) => `${name}: ${value}\r\n`).join('');
  expect(composed.header.toString()).toBe(`${written}\r\n`);
});

it('text and HTML become alternatives, HTML last', async () => {
  const composed = await compose({ ...plainInput, html: '<p>Hello</p>' });
  const mail = await parse(messageBytes(composed));
  expect(mail.headers.get('content-type')).toMatchObject({ value: 'multipart/alternative' });
  expect([mail.text, mail.html]).toEqual(['Hello, world\n', '<p>Hello</p>\n']);
  expect(composed.body.indexOf('text/plain')).toBeLessThan(composed.body.indexOf('text/html'));
});

it('an empty text beside HTML is left out', async () => {
  expect(await field('Content-Type', { text: '', html: '<p>Hi</p>' })).toMatch(/^text\/html/);
  expect(await field('Content-Type', { text: 'Hi', html: '' })).toMatch(/^text\/plain/);
  expect(await bodyText({ text: '', html: null })).toBe('');
});

it('a message has all its optional fields', async () => {
  const mail = await parse(
    messageBytes(
      await compose({
        ...plainInput,
        from: { email: 'hello@sandbox.test', name: 'Ann "The Post" O\'Hara, Esq.' },
        cc: [
          { email: 'cc@example.com', name: 'Zoë' },
          { email: '"a..b"@example.com', name: null },
        ],
        replyTo: ['reply@example.com', 'other@example.com'],
        inReplyTo: '<1@example.com>',
        references: ['<0@example.com>', '<1@example.com>'],
        priority: 'low',
        headers: [
          ['List-Unsubscribe', '<https://example.com/u/1>, <mailto:u@example.com>'],
          ['X-Entity-Ref', 'Bestätigung'],
        ],
      }),
    ),
  );
  expect(mail.from?.value).toEqual([
    { address: 'hello@sandbox.test', name: 'Ann "The Post" O\'Hara, Esq.' },
  ]);
  expect(mail.cc).toMatchObject({
    value: [
      { address: 'cc@example.com', name: 'Zoë' },
      { address: '"a..b"@example.com', name: '' },
    ],
  });
  expect(mail.replyTo?.value.map(({ address }) => address)).toEqual([
    'reply@example.com',
    'other@example.com',
  ]);
  expect(mail.inReplyTo).toBe('<1@example.com>');
  expect(mail.references).toEqual(['<0@example.com>', '<1@example.com>']);
  expect(mail.headers.get('priority')).toBe('low');
  expect(mail.headers.get('list')).toMatchObject({
    unsubscribe: { url: 'https://example.com/u/1', mail: 'u@example.com' },
  });
});

it('a message has neither Bcc nor an empty To', async () => {
  expect(await composeText({ to: [] })).not.toMatch(/^(?:Bcc|To|Cc):/im);
});

describe('the shortest encoding of a body', () => {
  it.each([
    ['ASCII', 'Hello\n', '7bit'],
    ['a line of 998', 'x'.repeat(998), '7bit'],
    ['a line of 999', 'x'.repeat(999), 'quoted-printable'],
    ['mostly ASCII', 'Grüße an alle, die das lesen', 'quoted-printable'],
    ['mostly not', 'ご注文の商品を発送しました', 'base64'],
    ['NUL', 'a quiet\0day', 'quoted-printable'],
    ['the seed of the boundary', `--=_${plainInput.boundarySeed}--`, 'quoted-printable'],
  ])('is right for %s', async (_, text, encoding) => {
    expect(await field('Content-Transfer-Encoding', { text })).toBe(encoding);
    const mail = await parse(messageBytes(await compose({ ...plainInput, text })));
    expect(mail.text).toBe(`${text.trimEnd()}\n`);
  });

  it('keeps to 76 columns in quoted-printable and guards white space at line ends', async () => {
    for (const length of [72, 73, 74, 75, 76, 77, 150, 151, 152]) {
      const text = `ü${'x'.repeat(length)}\nblank \ntab\t\n${'y '.repeat(length)}\n`;
      const lines = (await bodyText({ text })).split('\r\n');
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(76);
      expect(lines).toContain('blank=20');
      expect(lines).toContain('tab=09');
      const mail = await parse(messageBytes(await compose({ ...plainInput, text })));
      expect(mail.text).toBe(text);
    }
  });

  it('has CRLF for all kinds of line ends', async () => {
    expect(await bodyText({ text: 'a\nb\rc\r\nd\n\re' })).toBe('a\r\nb\r\nc\r\nd\r\n\r\ne\r\n');
  });

  it('leaves leading dots to the transport', async () => {
    expect(await bodyText({ text: '.\n..\n.x' })).toBe('.\r\n..\r\n.x\r\n');
  });

  it('has U+FFFD for lone surrogates', async () => {
    const mail = await parse(
      messageBytes(
        await compose({
          ...plainInput,
          subject: 'half \ud83d of one',
          from: { email: 'hello@sandbox.test', name: '\udc00' },
          text: 'a\ud800b',
        }),
      ),
    );
    expect([mail.subject, mail.from?.value[0]?.name, mail.text]).toEqual([
      'half \ufffd of one',
      '\ufffd',
      'a\ufffdb\n',
    ]);
  });
});

describe('header fields', () => {
  it('split no character in an encoded word and pass no 76 columns', async () => {
    for (const text of ['😀'.repeat(80), `${'e\u0301x'.repeat(90)}`, 'ü'.repeat(200)]) {
      const subject = await field('Subject', { subject: text });
      const words = (subject ?? '').split('\r\n ');
      expect(words.length).toBeGreaterThan(2);
      for (const word of words) {
        expect(word.length).toBeLessThanOrEqual(64);
        const alone = await parse(Buffer.from(`Subject: ${word}\r\n\r\n`));
        expect(text).toContain(alone.subject);
        expect(alone.subject).not.toContain('\ufffd');
      }
    }
  });

  it('fold a long ASCII subject at its spaces and keep them all', async () => {
    const subject = `${'two  spaces and more   '.repeat(20)}${'x'.repeat(500)} end`;
    const value = await field('Subject', { subject });
    expect(value?.replaceAll('\r\n', '')).toBe(subject);
    expect(value).not.toMatch(/\r\n\s*\r\n/);
  });

  it('fold before a word of any length', async () => {
    for (let length = 1; length < 90; length++) {
      const subject = `${'x'.repeat(length)} y `.repeat(12).trim();
      const value = await field('Subject', { subject });
      expect(value?.replaceAll('\r\n', '')).toBe(subject);
    }
  });

  it('encode a word that cannot be folded', async () => {
    const url = `<https://example.com/${'x'.repeat(970)}>`;
    for (const name of ['X-Ref', 'X'.repeat(76)]) {
      const value = (await field(name, { headers: [[name, url]] })) ?? '';
      for (const line of `${name}: ${value}`.split('\r\n')) expect(line.length).toBeLessThan(90);
      expect((await parse(Buffer.from(`Subject: ${value}\r\n\r\n`))).subject).toBe(url);
    }
  });

  it('fold many recipients', async () => {
    const to = Array.from({ length: 50 }, (_, n) => ({
      email: `r${n}@example.com`,
      name: `R ${n}`,
    }));
    for (const line of (await field('To', { to }))?.split('\r\n') ?? []) {
      expect(line.length).toBeLessThanOrEqual(76);
    }
  });

  it('have domains as A-labels, and need SMTPUTF8 for a local part in UTF-8', async () => {
    const domain = await compose({ ...plainInput, to: [{ email: 'joe@exämple.org', name: null }] });
    expect(domain.header.toString()).toContain('To: joe@xn--exmple-cua.org\r\n');
    expect([domain.smtpUtf8, domain.eightBit]).toEqual([false, false]);
    const local = await compose({ ...plainInput, replyTo: ['jörg@exämple.org'] });
    expect(local.header.toString('utf8')).toContain('Reply-To: jörg@xn--exmple-cua.org\r\n');
    expect([local.smtpUtf8, local.eightBit]).toEqual([true, true]);
  });
});

const evil = '\r\nBcc: evil@attacker.test';
const file = { filename: 'a.txt', contentType: 'text/plain', contentId: null };
const content = Buffer.from('content');

const injections: [string, Partial<ComposeInput>][] = [
  ['CRLF in the subject', { subject: `Hi${evil}` }],
  ['LF in the subject', { subject: 'Hi\nBcc: evil@attacker.test' }],
  ['CR in the subject', { subject: 'Hi\rBcc: evil@attacker.test' }],
  ['NUL in the subject', { subject: 'Hi\0' }],
  ['an encoded CRLF in the subject', { subject: '=?utf-8?Q?=0D=0ABcc:_evil@attacker.test?=' }],
  ['a line separator in the subject', { subject: 'Hi\u2028Bcc: evil@attacker.test\u0085x' }],
  ['CRLF in the name of From', { from: { email: 'a@b.test', name: `A${evil}` } }],
  [
    'an address in the name of From',
    { from: { email: 'a@b.test', name: 'A <evil@attacker.test>,' } },
  ],
  [
    'a quote in the name of From',
    { from: { email: 'a@b.test', name: 'A" <evil@attacker.test>, "' } },
  ],
  ['a backslash at the end of a name', { to: [{ email: 'a@b.test', name: 'A\\' }] }],
  ['CRLF in the address of From', { from: { email: `a@b.test${evil}`, name: null } }],
  ['CRLF in the name of To', { to: [{ email: 'a@b.test', name: `A${evil}` }] }],
  ['CRLF in the address of To', { to: [{ email: `a@b.test${evil}`, name: null }] }],
  ['two addresses in one of To', { to: [{ email: 'a@b.test, evil@attacker.test', name: null }] }],
  [
    'brackets in an address of To',
    { to: [{ email: 'a@b.test>, <evil@attacker.test', name: 'A' }] },
  ],
  ['a group in To', { to: [{ email: 'all:evil@attacker.test;', name: null }] }],
  ['CRLF in the name of Cc', { cc: [{ email: 'a@b.test', name: `A${evil}` }] }],
  ['CRLF in Reply-To', { replyTo: [`a@b.test${evil}`] }],
  ['a list in Reply-To', { replyTo: ['a@b.test,evil@attacker.test'] }],
  ['CRLF in the Message-ID', { messageIdHeader: `<a@b.test>${evil}` }],
  ['CRLF in In-Reply-To', { inReplyTo: `<a@b.test>${evil}` }],
  ['CRLF in References', { references: ['<a@b.test>', `<c@b.test${evil}>`] }],
  ['CRLF in the name of a header', { headers: [[`X-A: 1${evil}\r\nX-B`, '1']] }],
  ['a colon in the name of a header', { headers: [['Bcc: evil@attacker.test, x', '1']] }],
  ['CRLF in the value of a header', { headers: [['X-A', `1${evil}`]] }],
  ['a fold in the value of a header', { headers: [['X-A', '1\r\n evil@attacker.test']] }],
  ['Bcc as a header', { headers: [['bCC', 'evil@attacker.test']] }],
  ['From as a header', { headers: [['From', 'evil@attacker.test']] }],
  ['To as a header', { headers: [['To', 'evil@attacker.test']] }],
  ['Content-Type as a header', { headers: [['Content-Type', 'text/evil']] }],
  ['CRLF in a file name', { attachments: [{ ...file, content, filename: `a${evil}.txt` }] }],
  ['a quote in a file name', { attachments: [{ ...file, content, filename: 'a"; x="evil\\' }] }],
  [
    'CRLF in a media type',
    { attachments: [{ ...file, content, contentType: `text/plain${evil}` }] },
  ],
  [
    'multipart as a media type',
    { attachments: [{ ...file, content, contentType: 'multipart/mixed; boundary=x' }] },
  ],
  ['CRLF in a Content-ID', { attachments: [{ ...file, content, contentId: `a${evil}` }] }],
  ['brackets in a Content-ID', { attachments: [{ ...file, content, contentId: 'a>\t<b' }] }],
  ['CRLF in the boundary seed', { boundarySeed: `x"${evil}\r\n\r\n--`, html: '<p>Hi</p>' }],
  [
    'a part in the text',
    { text: `--=_${plainInput.boundarySeed}\r\nContent-Type: text/evil\r\n\r\nx`, html: 'y' },
  ],
];

describe('an injection', () => {
  it.each(injections)('adds no field, recipient or part by %s', async (_, change) => {
    const input = { ...plainInput, ...change };
    let bytes: Buffer;
    try {
      bytes = messageBytes(await compose(input));
    } catch (error) {
      expect(error).toBeInstanceOf(ComposeError);
      return;
    }
    const mail = await parse(bytes);
    const allowed =
      /^(?:from|to|cc|reply-to|subject|message-id|date|mime-version|content-type|content-transfer-encoding)$/;
    for (const { key } of mail.headerLines) expect(key).toMatch(allowed);
    expect(mail.headerLines.filter(({ key }) => key === 'to')).toHaveLength(1);
    for (const header of [mail.from, mail.to, mail.cc ?? [], mail.replyTo ?? []].flat()) {
      expect(header?.value).toHaveLength(1);
      expect(header?.value[0]?.address).not.toContain('evil');
    }
    expect(mail.attachments).toHaveLength(input.attachments.length);
    expect(mail.attachments.map(({ contentType }) => contentType).join()).not.toContain('evil');
  });

  it('is mostly refused outright', async () => {
    const refused = await Promise.all(
      injections.map(async ([, change]) => {
        try {
          await compose({ ...plainInput, ...change });
          return false;
        } catch {
          return true;
        }
      }),
    );
    expect(refused.filter(Boolean)).toHaveLength(injections.length - 9);
  });
});
