// The lean composer against nodemailer's MailComposer, the reference: a receiver must parse the
// same from either, over generated messages. The seed is in the test's name; TEST_SEED repeats it.
import { isAscii } from 'node:buffer';
import fc from 'fast-check';
import type { AddressObject, ParsedMail } from 'mailparser';
import MailComposer from 'nodemailer/lib/mail-composer';
import { expect, it } from 'vitest';
import { compose } from '../../../src/mail/mime/composer.ts';
import type { ComposeInput, Mailbox } from '../../../src/mail/mime/input.ts';
import { inputs, messageBytes, parse, testSeed } from './compose-corpus.ts';

function referenceMailbox({ email, name }: Mailbox) {
  return { address: email, name: name ?? '' };
}

/** Replaces lone CRs, which MailComposer keeps and parsers read in various ways. */
function withLf(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

async function composeReference(input: ComposeInput): Promise<Buffer> {
  const mail = new MailComposer({
    messageId: input.messageIdHeader,
    date: new Date(input.date),
    from: referenceMailbox(input.from),
    to: input.to.map(referenceMailbox),
    cc: input.cc.map(referenceMailbox),
    replyTo: input.replyTo.map((address) => ({ address, name: '' })),
    subject: input.subject,
    ...(input.text !== null && { text: withLf(input.text) }),
    ...(input.html !== null && { html: withLf(input.html) }),
    ...(input.inReplyTo !== null && { inReplyTo: input.inReplyTo }),
    ...(input.references !== null && { references: [...input.references] }),
    headers: input.headers.map(([key, value]) => ({ key, value })),
  });
  return await mail.compile().build();
}

function mailboxesOf(header: AddressObject | AddressObject[] | undefined) {
  return [header ?? []]
    .flat()
    .flatMap(({ value }) => value)
    .map(({ address = '', name }) => {
      const at = address.lastIndexOf('@');
      const domain = address.slice(at + 1).replace('xn--exmple-cua', 'exämple');
      return { address: `${address.slice(0, at)}@${domain}`, name };
    });
}

function parsedMailbox({ email, name }: Mailbox) {
  return { address: email, name: (name ?? '').toWellFormed() };
}

function bodyOf(text: string | false | undefined): string {
  return withLf(text || '').replace(/\n+$/, '');
}

/** Decodes a header, because mailparser leaves unknown ones encoded. */
async function decodeHeader(value: unknown): Promise<string | undefined> {
  return (await parse(Buffer.from(`Subject: ${value ?? ''}\r\n\r\n`))).subject;
}

/**
 * Removes look-alikes of encoded words: MailComposer leaves them as they are, so that they read as
 * another text.
 */
function withoutLookAlikes(input: ComposeInput): ComposeInput {
  const plain = (text: string) => text.replaceAll('=?', '= ?');
  const named = ({ email, name }: Mailbox) => ({ email, name: name === null ? null : plain(name) });
  return {
    ...input,
    subject: plain(input.subject),
    from: named(input.from),
    to: input.to.map(named),
    cc: input.cc.map(named),
    headers: input.headers.map(([name, value]) => [name, plain(value)]),
  };
}

/** Returns the parts that must be equal for both composers. */
async function meaning(mail: ParsedMail) {
  return {
    subject: mail.subject,
    from: mailboxesOf(mail.from),
    to: mailboxesOf(mail.to),
    cc: mailboxesOf(mail.cc),
    replyTo: mailboxesOf(mail.replyTo),
    text: bodyOf(mail.text),
    html: bodyOf(mail.html),
    messageId: mail.messageId,
    date: mail.date?.getTime(),
    inReplyTo: mail.inReplyTo,
    references: mail.references,
    extra: await decodeHeader(mail.headers.get('x-extra')),
  };
}

/** TEST_RUNS=1000 is a soak. */
const numRuns = Number(process.env.TEST_RUNS ?? 50);

it(`a composed message means the same as MailComposer's (seed ${testSeed})`, async () => {
  await fc.assert(
    fc.asyncProperty(inputs.map(withoutLookAlikes), async (input) => {
      const lean = await parse(messageBytes(await compose(input)));
      const reference = await parse(await composeReference(input));
      expect(await meaning(lean)).toEqual(await meaning(reference));
    }),
    { seed: testSeed, numRuns },
  );
});

it(`a composed message is parsed into its input (seed ${testSeed})`, async () => {
  await fc.assert(
    fc.asyncProperty(inputs, async (input) => {
      const mail = await parse(messageBytes(await compose(input)));
      expect(mail.subject ?? '').toBe(input.subject.toWellFormed());
      expect(mailboxesOf(mail.from)).toEqual([parsedMailbox(input.from)]);
      expect(mailboxesOf(mail.to)).toEqual(input.to.map(parsedMailbox));
      expect(mailboxesOf(mail.cc)).toEqual(input.cc.map(parsedMailbox));
      expect(bodyOf(mail.text)).toBe(bodyOf((input.text ?? '').toWellFormed()));
      expect(bodyOf(mail.html)).toBe(bodyOf((input.html ?? '').toWellFormed()));
    }),
    { seed: testSeed, numRuns: 2 * numRuns },
  );
});

it(`every line is legal on the wire (seed ${testSeed})`, async () => {
  await fc.assert(
    fc.asyncProperty(inputs, async (input) => {
      const composed = await compose(input);
      const message = messageBytes(composed).toString('latin1');
      expect(message.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
      for (const line of message.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
      for (const { name, value } of composed.fields) {
        if (name === 'X-Extra') continue;
        for (const line of `${name}: ${value}`.split('\r\n')) {
          if (line.includes('=?')) expect(line.length).toBeLessThanOrEqual(76);
        }
      }
      if (!composed.eightBit) expect(isAscii(messageBytes(composed))).toBe(true);
      expect(composed.eightBit).toBe(composed.smtpUtf8);
      expect(composed.body.length === 0 || message.endsWith('\r\n')).toBe(true);
      expect(messageBytes(await compose(input))).toEqual(messageBytes(composed));
    }),
    { seed: testSeed, numRuns: 2 * numRuns },
  );
});
