// DKIM signatures seen by a receiver: verified by mailauth, a separate implementation, with keys
// published by dkimRecordValue through a resolver of the test.
import { createPrivateKey } from 'node:crypto';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { describe, expect, it } from 'vitest';
import { compose } from '../../../src/mail/mime/composer.ts';
import type { SigningKey } from '../../../src/mail/mime/dkim/dkim-key.ts';
import {
  type DkimAlgorithm,
  dkimRecordValue,
  generateDkimKey,
} from '../../../src/mail/mime/dkim/dkim-key.ts';
import { signatureFields, signHere } from '../../../src/mail/mime/dkim/sign.ts';
import type { Composed, ComposeInput } from '../../../src/mail/mime/input.ts';
import { inputs, messageBytes, plainInput, testSeed } from './compose-corpus.ts';

const domain = 'sandbox.test';
const timestampSeconds = 1_763_692_020;

async function makeKey(algorithm: DkimAlgorithm, selector: string) {
  const { privateKeyPem, publicKey } = await generateDkimKey(algorithm);
  const key: SigningKey = {
    domain,
    selector,
    algorithm,
    privateKey: createPrivateKey(privateKeyPem),
  };
  return { key, record: dkimRecordValue(algorithm, publicKey) };
}

const rsa = await makeKey('rsa-sha256', 'r1');
const ed25519 = await makeKey('ed25519-sha256', 'e1');
const keys = [rsa.key, ed25519.key];

function sign(composed: Composed, by: readonly SigningKey[] = keys): Promise<Buffer> {
  return signatureFields(composed, by, timestampSeconds, signHere);
}

const records = new Map([
  [`r1._domainkey.${domain}`, rsa.record],
  [`e1._domainkey.${domain}`, ed25519.record],
]);

/** Resolves the published records, in strings of at most 255 octets. */
async function resolver(name: string): Promise<string[][]> {
  const record = records.get(name);
  if (record === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
  return [record.match(/.{1,255}/g) ?? []];
}

async function results(message: Buffer): Promise<string[]> {
  const verified = await dkimVerify(message, { resolver, strict: true });
  return verified.results.map(({ status, algo, signingDomain }) =>
    [algo, signingDomain, status.result].join(' '),
  );
}

const bothPass = ['rsa-sha256 sandbox.test pass', 'ed25519-sha256 sandbox.test pass'];

async function signed(composed: Composed): Promise<Buffer> {
  return messageBytes(composed, await sign(composed));
}

async function signedInput(change: Partial<ComposeInput>): Promise<Buffer> {
  return await signed(await compose({ ...plainInput, ...change }));
}

/** Fields that a mail has at most once (RFC 5322 3.6, RFC 2045 3). */
const singletons = [
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'subject', 'date', 'message-id'],
  ...['in-reply-to', 'references', 'mime-version', 'content-type', 'content-transfer-encoding'],
];

/** Fields of lists and of feedback, which mailing lists may add to a mail without them. */
const listHeaders: readonly (readonly [string, string])[] = [
  ['List-Unsubscribe', '<https://example.com/u>'],
  ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ['List-Id', 'Spring <spring.example.com>'],
  ['List-Help', '<mailto:help@example.com>'],
  ['List-Owner', '<mailto:owner@example.com>'],
  ['List-Post', 'NO'],
  ['List-Subscribe', '<https://example.com/s>'],
  ['List-Archive', '<https://example.com/a>'],
  ['Feedback-ID', 'spring:-:org:svc'],
];

/** Returns the names in `h=`, lower case. */
function signedNamesOf(message: Buffer): string[] {
  const [, names = ''] = /;\s+h=([^;]*);/s.exec(message.toString('latin1')) ?? [];
  return names.toLowerCase().replace(/\s/g, '').split(':');
}

function attachmentOf(size: number): ComposeInput['attachments'] {
  const content = Buffer.alloc(size, 'attachment ');
  return [{ filename: 'ä.bin', contentType: 'application/pdf', contentId: null, content }];
}

describe('both signatures', () => {
  it.each<[string, Partial<ComposeInput>]>([
    ['a plain message', {}],
    ['an empty body', { text: '' }],
    ['a body of blank lines', { text: '\n\n\n' }],
    ['a body of white space', { text: ' \t \n  ' }],
    ['blank lines at both ends', { text: '\n\nHi\n \n\t\n\n' }],
    ['white space of all kinds', { text: ' lead\n\ttab  two   three \t four \t\n' }],
    ['leading dots', { text: '.\n..\n...x\n' }],
    ['UTF-8 everywhere', { subject: 'Grüße 😀', text: 'ご注文', html: '<p>Grüße</p>' }],
    ['a line of 100,000 characters', { text: 'x'.repeat(100_000) }],
    ['a long subject with double spaces', { subject: 'two  spaces '.repeat(40) }],
    ['a UTF-8 address', { from: { email: 'jörg@sandbox.test', name: 'Jörg' } }],
    ['an attachment of 0 bytes', { attachments: attachmentOf(0) }],
    ['an attachment of 10 MB', { attachments: attachmentOf(10_000_000) }],
    ['a body of several segments', { text: `${'a  b\t\n'.repeat(40_000)}\n\n` }],
    ['a segment that ends in blanks', { text: `${' '.repeat(900)}\n`.repeat(200) }],
    [
      'every field that is signed',
      {
        cc: [{ email: 'cc@example.com', name: 'C, C' }],
        replyTo: ['reply@example.com'],
        inReplyTo: '<1@example.com>',
        references: Array.from({ length: 30 }, (_, n) => `<${n}@example.com>`),
        headers: [
          ['List-Unsubscribe', '<https://example.com/u>'],
          ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
          ['list-unsubscribe', '<https://example.com/second>'],
          ['Feedback-ID', 'spring:-:org:svc'],
          ['List-Id', 'Spring <spring.example.com>'],
        ],
      },
    ],
  ])(
    'verify for %s',
    async (_, change) => {
      expect(await results(await signedInput(change))).toEqual(bothPass);
    },
    30_000,
  );

  it('cover all fields that a reader sees or acts on, and no other', async () => {
    const message = await signedInput({
      cc: [{ email: 'cc@example.com', name: null }],
      replyTo: ['reply@example.com'],
      inReplyTo: '<1@example.com>',
      references: ['<1@example.com>'],
      text: 'text',
      html: null,
      headers: [...listHeaders, ['X-Own', 'own']],
    });
    const counts = new Map<string, number>();
    for (const name of signedNamesOf(message)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const present = singletons.filter((name) => !['sender', 'bcc'].includes(name));
    const lists = listHeaders.map(([name]) => name.toLowerCase());
    expect(Object.fromEntries(counts)).toEqual({
      ...Object.fromEntries([...present, ...lists].map((name) => [name, 2])),
      ...{ sender: 1, bcc: 1 },
    });
  });

  it(`verify for generated messages (seed ${testSeed})`, async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        expect(await results(await signed(await compose(input)))).toEqual(bothPass);
      }),
      { seed: testSeed, numRuns: 100 },
    );
  });

  it('verify after dot-stuffing and back', async () => {
    const message = await signedInput({ text: '.\n..\n.leading\n', html: null });
    const onTheWire = message.toString('latin1').replace(/^\./gm, '..');
    const received = onTheWire.replace(/^\.\./gm, '.');
    expect(onTheWire).not.toBe(received);
    expect(await results(Buffer.from(received, 'latin1'))).toEqual(bothPass);
  });

  it('verify after a relay refolded fields and trimmed line ends', async () => {
    const text = (
      await signedInput({ subject: 'some words to fold', text: 'a  \nb\n' })
    ).toString();
    const relayed = text
      .replace('Subject: some words', 'SUBJECT:  some\r\n\t words')
      .replace('a  \r\n', 'a\r\n');
    expect(await results(Buffer.from(`${relayed}\r\n\r\n`))).toEqual(bothPass);
  });
});

describe('a signature of a changed message', () => {
  it.each<[string, (message: string) => string]>([
    ['another subject', (message) => message.replace('Subject: Hello', 'Subject: Hullo')],
    ['another sender', (message) => message.replace('From: hello@', 'From: evil@')],
    ['another recipient', (message) => message.replace('To: inbox@', 'To: other@')],
    ['another date', (message) => message.replace('02:27:00', '02:27:01')],
    ['a changed body', (message) => message.replace('Hello, world', 'Hello, World')],
    ['a longer body', (message) => `${message}P.S.\r\n`],
    ['a second From on top', (message) => `From: evil@attacker.test\r\n${message}`],
    ['a second From below', (message) => message.replace('\r\nTo:', '\r\nFrom: e@a.test\r\nTo:')],
    ['another timestamp', (message) => message.replaceAll('t=1763692020', 't=1763692021')],
    ['another type', (message) => message.replace('text/plain', 'text/html ')],
  ])('fails for %s', async (_, tamper) => {
    const message = (await signedInput({})).toString('latin1');
    const tampered = tamper(message);
    expect(tampered).not.toBe(message);
    for (const result of await results(Buffer.from(tampered, 'latin1'))) {
      expect(result).not.toMatch(/pass$/);
    }
  });

  it.each(singletons)(
    'fails for a %s put in front, whether the mail has that field',
    async (name) => {
      const values: Partial<Record<string, string>> = {
        'mime-version': '1.0',
        'content-type': 'text/plain',
        'content-transfer-encoding': '8bit',
      };
      const bare = await signedInput({ to: [], text: 'text', html: null });
      const full = await signedInput({
        cc: [{ email: 'cc@example.com', name: null }],
        replyTo: ['reply@example.com'],
        inReplyTo: '<1@example.com>',
        references: ['<1@example.com>'],
      });
      for (const message of [bare, full]) {
        expect(await results(message)).toEqual(bothPass);
        const front = Buffer.from(`${name}: ${values[name] ?? '<evil@attacker.test>'}\r\n`);
        for (const result of await results(Buffer.concat([front, message]))) {
          expect(result).not.toMatch(/pass$/);
        }
      }
    },
  );

  it.each(listHeaders)('fails for a second or another %s', async (name, value) => {
    const message = await signedInput({ headers: [[name, value]] });
    const tampered = [
      `${name}: <https://attacker.test/>\r\n${message.toString('latin1')}`,
      message.toString('latin1').replace(`${name}: ${value}`, `${name}: <https://attacker.test/>`),
      message.toString('latin1').replace(`${name}: ${value}\r\n`, ''),
    ];
    for (const text of tampered) {
      for (const result of await results(Buffer.from(text, 'latin1'))) {
        expect(result).not.toMatch(/pass$/);
      }
    }
  });

  it('passes with fields that a mailing list or a server on the way adds', async () => {
    const front = 'Received: by mx.example\r\nList-Id: <l.example.org>\r\nList-Post: NO\r\n';
    const message = Buffer.concat([Buffer.from(front), await signedInput({})]);
    expect(await results(message)).toEqual(bothPass);
  });

  it('fails for a changed bit anywhere in the body', async () => {
    const composed = await compose({ ...plainInput, text: 'abcdefghij\n'.repeat(20) });
    const message = await signed(composed);
    for (let at = message.length - composed.body.length; at < message.length - 2; at += 13) {
      const tampered = Buffer.from(message);
      tampered[at] = (tampered[at] ?? 0) ^ 0x40;
      for (const result of await results(tampered)) expect(result).not.toMatch(/pass$/);
    }
  });
});

describe('the signature field', () => {
  it('has the tags of RFC 6376, and each singleton once too often', async () => {
    const composed = await compose(plainInput);
    const field = (await sign(composed, [ed25519.key])).toString();
    expect(field.replace(/\r\n\s+/g, ' ')).toMatch(
      /^DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed\/relaxed; d=sandbox\.test; s=e1; t=1763692020; h=[^;]*; bh=[A-Za-z0-9+/]{43}=; b=[A-Za-z0-9+/= ]+\r\n$/,
    );
    for (const name of ['From', 'Subject', 'Date', 'Message-ID']) {
      expect(field.match(new RegExp(name, 'g'))).toHaveLength(2);
    }
    expect(field.match(/Sender/g)).toHaveLength(1);
    for (const line of field.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
  });

  it('is the same for the same message, key and time', async () => {
    const composed = await compose(plainInput);
    const once = await sign(composed);
    expect((await sign(composed)).equals(once)).toBe(true);
  });

  it('is missing without a key', async () => {
    const composed = await compose(plainInput);
    expect(await sign(composed, [])).toHaveLength(0);
  });

  it('is refused for a key of another kind', async () => {
    const composed = await compose(plainInput);
    const wrong: SigningKey = { ...rsa.key, algorithm: 'ed25519-sha256' };
    await expect(sign(composed, [wrong])).rejects.toThrow(
      'r1._domainkey.sandbox.test is not ed25519-sha256',
    );
  });
});

it('the key records follow RFC 6376 and RFC 8463', () => {
  expect(rsa.record).toMatch(/^v=DKIM1; k=rsa; p=MIIB[A-Za-z0-9+/]+=*$/);
  expect(ed25519.record).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
});
