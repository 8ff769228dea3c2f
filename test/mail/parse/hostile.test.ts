// Hostile and damaged mails: the parser always answers, within its bounds and its deadline.
import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ParsedMail } from '../../../src/mail/mime/parsed-mail.ts';
import { wordsOfMail } from '../../../src/mail/parse/mail-words.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { createMimeParser, type MimeParserOptions } from '../../../src/mail/parse/parser.ts';
import { readHeader } from '../../../src/mail/parse/read-header.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { fixture, fixtureNames, mail, sane } from './fixture.ts';

/** Parses a mail as the worker does, with the words for its search. */
async function wholeOf(raw: Buffer) {
  const parsed = await parseMime(raw);
  return { ...parsed, words: wordsOfMail(parsed) };
}

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const codes = ({ parsingErrors }: ParsedMail) => parsingErrors.map(({ code }) => code);
const multipart = sane('Content-Type: multipart/mixed; boundary=b');

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function parser(options: Partial<MimeParserOptions> = {}) {
  const created = createMimeParser({ clock: systemClock, ...options });
  closers.push(() => created.close());
  return created;
}

it('the list of fixtures is complete', () => {
  const files = readdirSync(new URL('../../fixtures/inbound', import.meta.url)).filter((file) =>
    file.endsWith('.eml'),
  );
  expect(files.map((file) => file.replace(/\.eml$/, '')).sort()).toEqual([...fixtureNames].sort());
});

describe('the bounds of the parser', () => {
  it('allow 1 MB of nested <div> within the deadline, with its text', async () => {
    const html = `<p>Hello</p>${'<div>'.repeat(200_000)}`;
    const raw = mail(sane('Content-Type: text/html'), html);
    const parsed = await parser({ deadlineMs: 10_000 }).parse(raw);
    expect(parsed.html).toHaveLength(html.length);
    expect(parsed.newContent).toMatch(/^Hello/);
    expect(codes(parsed)).toEqual(['split-truncated']);
  });

  it('read the first 500 of 100,000 parts', async () => {
    const body = Array.from({ length: 100_000 }, (_, at) => `--b\r\n\r\npart ${at}\r\n`).join('');
    const parsed = await parseMime(mail(multipart, body));
    expect(parsed.text).toMatch(/^part 0\npart 1\n/);
    expect(parsed.text?.split('\n').length).toBeLessThanOrEqual(500);
    expect(codes(parsed)).toContain('too-many-parts');
  });

  it('list the first 500 of 100,000 attachments', async () => {
    const body = '--b\r\nContent-Type: a/b\r\n\r\nx\r\n'.repeat(100_000);
    const parsed = await parseMime(mail(multipart, body));
    expect(parsed.attachments.length).toBeGreaterThan(490);
    expect(parsed.attachments.length).toBeLessThanOrEqual(500);
    expect(codes(parsed)).toContain('too-many-parts');
  });

  it('report parts deeper than 20 levels, and keep their words', async () => {
    const nested = (levels: number) => {
      let body = '--b0\r\n';
      for (let at = 1; at <= levels; at += 1) {
        body += `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`;
      }
      return mail(sane('Content-Type: multipart/mixed; boundary=b0'), `${body}\r\ndeep\r\n`);
    };
    const shallow = await parseMime(nested(15));
    expect(shallow.text?.trim()).toBe('deep');
    const deep = await parseMime(nested(300));
    expect(deep.text?.trim()).toBe('deep');
    expect(codes(deep)).toContain('nested-too-deep');
  });

  it('count a base64 bomb without holding it', async () => {
    const lines = sane('Content-Type: application/zip', 'Content-Transfer-Encoding: base64');
    const parsed = await parser().parse(mail(lines, 'QUFB'.repeat(5_000_000)));
    expect(parsed.attachments).toMatchObject([{ size: 15_000_000 }]);
  });

  it('cut text and HTML at 2 MB each', async () => {
    const part = (type: string) =>
      `--b\r\nContent-Type: text/${type}\r\n\r\n${'wordy text\r\n'.repeat(250_000)}`;
    const parsed = await parser({ deadlineMs: 10_000 }).parse(
      mail(multipart, `${part('plain')}\r\n${part('html')}\r\n--b--`),
    );
    expect(parsed.text).toHaveLength(2 * 1024 * 1024);
    expect(parsed.html).toHaveLength(2 * 1024 * 1024);
    expect(codes(parsed)).toEqual(['text-truncated', 'html-truncated', 'split-truncated']);
  });

  it('read the first 1,000 of 20,000 header fields, and the body', async () => {
    const lines = sane(...Array.from({ length: 20_000 }, (_, at) => `X-${at}: y`));
    const parsed = await parseMime(mail(lines));
    expect(parsed.headers).toHaveLength(1000);
    expect(parsed.newContent).toBe('text');
    expect(codes(parsed)).toEqual(['too-many-header-fields']);
  });

  it('cut a header block of 20 MB at 256 KB, and find the body', async () => {
    const lines = sane(...Array.from({ length: 20 }, () => `X: ${'y'.repeat(1_000_000)}`));
    const parsed = await parseMime(mail(lines));
    expect(parsed).toMatchObject({ from: { email: 'bob@example.net' }, newContent: 'text' });
    expect(codes(parsed)).toEqual(['header-too-large']);
  });

  it('end the reading at a part with an endless header', async () => {
    const kept = `--b\r\nContent-Type: a/b\r\n\r\n${'x'.repeat(2_000_000)}\r\n`;
    const bomb = `${kept}--b\r\nX: ${'y'.repeat(4_000_000)}\r\n\r\nlost\r\n`;
    const parsed = await parseMime(mail(multipart, bomb));
    expect(parsed.attachments).toMatchObject([{ contentType: 'a/b' }]);
    expect(parsed.text).toBeNull();
    expect(codes(parsed)).toContain('part-header-too-large');
  });

  it('read only the header of a mail over 50 MB', async () => {
    const raw = Buffer.alloc(50 * 1024 * 1024 + 1, 'x');
    raw.write('From: a@b.example\r\nSubject: big\r\n\r\n');
    const parsed = await parseMime(raw);
    expect(parsed).toMatchObject({ subject: 'big', text: null, newContent: null });
    expect(codes(parsed)).toContain('mail-too-large');
  });

  it.each([
    ['From', '<a@b.c>,'],
    ['To', '('],
    ['To', '"'],
    ['To', '<'],
    ['To', 'a:'],
    ['Subject', '=?'],
    ['Subject', '=?utf-8?q?a?= '],
    ['References', '<'],
    ['References', '<a '],
    ['Date', '1 '],
    ['List-Unsubscribe', '<https:'],
    ['Content-Type', 'multipart/mixed; boundary*0=a;'],
  ])('keep the time linear for %s full of %j', (name, piece) => {
    const raw = Buffer.from(`${name}: ${piece.repeat(Math.floor(200_000 / piece.length))}\r\n\r\n`);
    const start = startWork();
    // A quadratic algorithm would take minutes for 200,000 characters.
    readHeader(raw);
    expect(workedMs(start)).toBeLessThan(1000);
  });

  it.each([
    ['Op a schreef\n'],
    ['On a b '],
    ['On a b wrote\n'],
    ['a on at\n'],
    ['From: <<<<[[[\n'],
    ['From: x\nTo'],
    ['W dniu pisze'],
    ['a:\n> x\n\n'],
    ['\n'],
    [' \n'],
    ['---\n'],
    ['> '],
  ])('keep the time for splitting 256 KB of %j short', async (piece) => {
    const raw = mail(sane(), piece.repeat(Math.floor(256_000 / piece.length)));
    const start = startWork();
    const parsed = await parseMime(raw);
    expect(workedMs(start)).toBeLessThan(4000);
    expect(parsed.newContent).not.toBeNull();
  });
});

describe('the parse worker', () => {
  it('has the results of the parser', async () => {
    const { parse } = parser();
    for (const name of fixtureNames) {
      expect(await parse(fixture(name))).toEqual(await wholeOf(fixture(name)));
    }
  });

  it('leaves the buffer of the caller unchanged', async () => {
    const raw = fixture('gmail-reply-en');
    await parser().parse(raw);
    expect(raw).toEqual(fixture('gmail-reply-en'));
  });

  // The clock of these tests runs ahead of the CPU time, so that its limit is the one that holds.
  it('ends at an overrun; its mail keeps the header, and the next mails are parsed', async () => {
    const clock = virtualClock();
    const { parse } = parser({ clock });
    const next = fixture('gmail-reply-en');
    await parse(next);
    const slow = mail(sane('Subject: slow', 'Precedence: auto_reply'), '\n'.repeat(20_000_000));
    const parsed = parse(slow);
    const waiting = parse(next);
    await clock.advance(10 * 2_000);
    expect(await parsed).toMatchObject({
      subject: 'slow',
      from: { email: 'bob@example.net' },
      autoReplyReason: 'auto-response',
      text: null,
      parsingErrors: [{ code: 'parse-timeout' }],
    });
    expect((await waiting).newContent).toBe('Sounds good, see you at noon.');
  });

  it('ends at an overrun of a small mail, and the mails beside it are parsed', async () => {
    const clock = virtualClock();
    const { parse } = parser({ clock });
    const good = fixture('gmail-reply-en');
    await parse(good);
    // A mail that holds the worker very long for its size.
    const slow = mail(sane('Subject: slow'), 'Op a schreef\n'.repeat(300));
    const parsed = [slow, good, slow, good].map((raw) => parse(raw));
    await Promise.resolve();
    await clock.advance(10 * 1_000);
    const [first, ...others] = await Promise.all(parsed);
    expect(first).toMatchObject({
      subject: 'slow',
      text: null,
      cutShort: 'within',
      parsingErrors: [{ code: 'parse-timeout' }],
    });
    const whole = [good, slow, good].map(wholeOf);
    expect(others).toEqual(await Promise.all(whole));
  });

  it('reports an overrun on a report, which may be honest, and reads the next one', async () => {
    const clock = virtualClock();
    const { parse, readReport } = parser({ clock });
    await parse(fixture('gmail-reply-en'));
    const slow = mail(sane('Content-Type: text/html'), '<div>'.repeat(200_000));
    const overrun = readReport('bounce', slow);
    const told = expect(overrun).rejects.toThrow('reading a bounce report took too long');
    const next = readReport('bounce', fixture('bounce-postfix'));
    await clock.advance(10 * 2_000);
    await told;
    expect((await next)?.recipients).toHaveLength(1);
  });

  it('keeps text, HTML and attachments after an overrun in the reply split', async () => {
    const html = '<div>'.repeat(50_000);
    const raw = mail(
      multipart,
      `--b\r\n\r\nplain\r\n--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b--`,
    );
    let parsed: ParsedMail | null = null;
    // The deadline has to fall into the split: doubling finds it on a machine of any speed.
    for (let deadlineMs = 10; deadlineMs < 5000; deadlineMs *= 1.7) {
      parsed = await parser({ deadlineMs }).parse(raw);
      if (!codes(parsed).includes('parse-timeout')) break;
    }
    expect(parsed).toMatchObject({ text: 'plain', newContent: 'plain', quotedContent: null });
    expect(parsed?.html).toContain(html);
    expect(parsed && codes(parsed)).toEqual(['split-timeout']);
  });

  it('bounds all HTML parts together', async () => {
    const part = `--b\r\nContent-Type: text/html\r\n\r\n${'<div>'.repeat(50_000)}\r\n`;
    const start = startWork();
    const parsed = await parseMime(mail(multipart, `${part.repeat(20)}--b--`));
    expect(workedMs(start)).toBeLessThan(5000);
    expect(codes(parsed)).toEqual(['html-truncated', 'split-truncated']);
  });

  it('refuses mails beyond its queue', async () => {
    const { parse } = parser({ maxQueuedMails: 1 });
    const raw = fixture('gmail-reply-en');
    const taken = [parse(raw), parse(raw)];
    await expect(parse(raw)).rejects.toBeInstanceOf(CapacityError);
    expect((await Promise.all(taken)).map(({ subject }) => subject)).toEqual([
      'Re: Plan',
      'Re: Plan',
    ]);
    const { parse: parseSmall } = parser({ maxQueuedBytes: 10 });
    await expect(parseSmall(raw)).rejects.toBeInstanceOf(CapacityError);
  });

  it('refuses queued and later mails when it closes', async () => {
    const { parse, close } = parser();
    const left = [parse(fixture('gmail-reply-en')), parse(fixture('gmail-reply-de'))];
    const settled = Promise.allSettled(left);
    await close();
    for (const { status } of await settled) expect(status).toBe('rejected');
    await expect(parse(fixture('gmail-reply-en'))).rejects.toBeInstanceOf(CapacityError);
  });
});

describe(`a damaged mail (seed ${seed})`, () => {
  const damaged = fc
    .record({
      name: fc.constantFrom(...fixtureNames),
      end: fc.double({ min: 0, max: 1, noNaN: true }),
      edits: fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 6 })), {
        maxLength: 12,
      }),
      cut: fc.boolean(),
    })
    .map(({ name, end, edits, cut }) => {
      const raw = fixture(name);
      for (const [at, bytes] of edits) raw.set(bytes, at % Math.max(1, raw.length - 6));
      return cut ? raw.subarray(0, Math.floor(raw.length * end)) : raw;
    });

  it('becomes plain JSON without NUL when truncated or mutated', async () => {
    await fc.assert(
      fc.asyncProperty(damaged, async (raw) => {
        const parsed = await parseMime(raw);
        const { parsingErrors } = parsed;
        expect(parsingErrors.filter(({ code }) => code === 'parser-failed')).toEqual([]);
        expect(JSON.parse(JSON.stringify(parsed))).toEqual(parsed);
        expect(JSON.stringify(parsed)).not.toContain('\\u0000');
        const { subject, from, to, cc, messageIdHeader, date } = parsed;
        expect(readHeader(raw)).toMatchObject({ subject, from, to, cc, messageIdHeader, date });
      }),
      { seed, numRuns: Number(process.env.TEST_RUNS ?? 120) },
    );
  });

  it('of random bytes is parsed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        expect(await parseMime(Buffer.from(bytes))).toHaveProperty('parsingErrors');
      }),
      { seed, numRuns: Number(process.env.TEST_RUNS ?? 120) },
    );
  });
});
