// Bounces by class: a permanent failure of the recipient is hard, a refusal of us never is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBounce } from '../../../../src/mail/parse/bounce/bounce-report.ts';
import { parseMime } from '../../../../src/mail/parse/parse-mime.ts';
import { classifyReply, replyRules } from '../../../../src/mail/smtp/reply-rules/classify-reply.ts';
import { readReplyLine } from '../../smtp/reply-line.ts';
import { bounceClasses } from './classes.ts';
import { inWords } from './fixture.ts';
import { cutAddresses, dragonfly, languages, olderSystems, parcels } from './other-systems.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env.TEST_RUNS ?? 500);

async function hardIn(raw: Buffer) {
  const bounce = readBounce(await parseMime(raw));
  return (bounce?.recipients ?? []).filter(({ isHard }) => isHard);
}

const classes = {
  ...bounceClasses,
  'of dma': dragonfly,
  'of a system with words of its own': olderSystems,
  'in the words of a language': languages,
  'with an address that is cut': cutAddresses,
  'only in appearance': parcels,
};

describe.each(Object.entries(classes))('%s', (_class, cases) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', async (_name, { raw, words }) => {
    const bounce = readBounce(await parseMime(raw));
    expect((bounce?.recipients ?? []).map(inWords)).toEqual(words);
  });
});

it('the collection holds at least 60 bounces', () => {
  expect(Object.values(bounceClasses).flat().length).toBeGreaterThanOrEqual(60);
});

/** Texts that are hard alone and with another code. */
const hardWords = replyRules
  .filter(({ errorCode }) => errorCode === 'invalid-recipient' || errorCode === 'invalid-domain')
  .map(({ example }) => readReplyLine(example).text);
const codeOfSender = fc.oneof(
  fc.constantFrom('1.7', '1.8'),
  fc.tuple(fc.constantFrom(6, 7), fc.integer({ min: 0, max: 999 })).map((pair) => pair.join('.')),
);

describe(`a code about the sender (seed ${seed})`, () => {
  it('never blocks an address in a reply of any text', () => {
    const reply = fc.record({
      code: fc.constantFrom(450, 550, 551, 553, 554, 556, null),
      enhancedCode: codeOfSender.map((detail) => `5.${detail}`),
      text: fc.constantFrom(...hardWords),
      verb: fc.constantFrom('MAIL', 'RCPT', 'DATA', 'dot', 'DSN'),
    });
    fc.assert(
      fc.property(reply, (one) => {
        expect(classifyReply(one).isHard).toBe(false);
      }),
      { seed, numRuns },
    );
  });

  it('never blocks an address in a bounce, as its status or in its text', async () => {
    const of = fc.record({
      detail: codeOfSender,
      words: fc.constantFrom(...hardWords),
      isStatus: fc.boolean(),
      other: fc.constantFrom('5.1.1', '5.0.0', '5.1.2', '5.2.1'),
    });
    await fc.assert(
      fc.asyncProperty(of, async ({ detail, words, isStatus, other }) => {
        const [status, said] = isStatus ? [`5.${detail}`, other] : [other, `5.${detail}`];
        const raw = Buffer.from(
          [
            'From: MAILER-DAEMON@mx.example.net',
            'Subject: Undelivered Mail Returned to Sender',
            'Content-Type: message/delivery-status',
            '',
            'Reporting-MTA: dns; mx.example.net',
            '',
            'Final-Recipient: rfc822; joe@example.net',
            'Action: failed',
            `Status: ${status}`,
            `Diagnostic-Code: smtp; 550 ${said} ${words}`,
            '',
            '',
          ].join('\r\n'),
        );
        expect(await hardIn(raw)).toEqual([]);
      }),
      { seed, numRuns },
    );
  });

  it('differs from a code of the recipient, with which the same texts block', () => {
    const reply = { code: 550, enhancedCode: '5.1.1', verb: 'RCPT' };
    const hard = hardWords.filter((text) => classifyReply({ ...reply, text }).isHard);
    expect(hard.length).toBeGreaterThan(hardWords.length * 0.9);
  });
});
