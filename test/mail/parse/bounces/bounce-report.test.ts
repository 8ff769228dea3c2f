// Bounces, delay notices and complaints of the large providers and MTAs, and mails that only
// resemble them.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readBounce } from '../../../../src/mail/parse/bounce/bounce-report.ts';
import { readComplaint } from '../../../../src/mail/parse/bounce/complaint.ts';
import { readReportBlocks } from '../../../../src/mail/parse/bounce/report-fields.ts';
import { parseMime } from '../../../../src/mail/parse/parse-mime.ts';
import { createMimeParser } from '../../../../src/mail/parse/parser.ts';
import { systemClock } from '../../../../src/platform/runtime/clock.ts';
import { startWork, workedMs } from '../../../support/work-time.ts';
import { expected, fixture, fixtureNames, fixtures, inWords } from './fixture.ts';

function mail(lines: string[], body: string): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

const daemon = [
  'Return-Path: <>',
  'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>',
  'To: bounce+tok@rp.example.com',
  'Message-ID: <1@mx.example.net>',
];

it('the table lists every fixture', () => {
  const files = readdirSync(new URL('../../../fixtures/bounces', import.meta.url));
  const names = files.filter((file) => file.endsWith('.eml')).map((file) => file.slice(0, -4));
  expect(names.sort()).toEqual([...fixtureNames].sort());
  expect(fixtureNames.length).toBeGreaterThanOrEqual(60);
});

describe('a fixture of a bounce', () => {
  it.each(Object.entries(fixtures))('%s is read as %j', async (name, words) => {
    const parsed = await parseMime(fixture(name));
    const bounce = readBounce(parsed);
    const complaint = readComplaint(parsed);
    expect([
      ...(bounce?.recipients ?? []).map(inWords),
      ...(complaint ? [`complaint: ${complaint.feedbackType}`] : []),
    ]).toEqual(words);
    expect({ bounce, complaint }).toEqual(expected[name]);
  });

  it.each(fixtureNames)('%s is read the same with CRLF', async (name) => {
    const raw = Buffer.from(fixture(name).toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
    expect(readBounce(await parseMime(raw))).toEqual(expected[name]?.bounce ?? null);
  });

  it('is read the same by the parse worker', async () => {
    const parser = createMimeParser({ clock: systemClock });
    for (const name of fixtureNames) {
      const bounce = await parser.readReport('bounce', fixture(name));
      const read = await parser.readReport('complaint', fixture(name));
      expect({ bounce, complaint: read?.complaint ?? null }).toEqual(expected[name]);
    }
    await parser.close();
  });

  it('is hard only for failed recipients with a blocking code', () => {
    for (const { bounce } of Object.values(expected)) {
      for (const { isHard, action, errorCode } of bounce?.recipients ?? []) {
        if (!isHard) continue;
        expect(action).toBe('failed');
        expect(['invalid-recipient', 'invalid-domain']).toContain(errorCode);
      }
    }
  });
});

describe('prose under a null return path from a possible person', () => {
  const lines = (subject: string) => ['From: Bob <bob@example.net>', `Subject: ${subject}`];
  const text =
    'Your message could not be delivered:\r\n\r\n<joe@example.net>: 550 5.1.1 no such user';

  it('is a bounce, but never a hard one', async () => {
    const raw = mail(lines('Undeliverable: Your invoice 4711'), text);
    const bounce = readBounce(await parseMime(raw, { envelopeFrom: '' }));
    expect(bounce?.recipients).toMatchObject([
      { email: 'joe@example.net', errorCode: 'invalid-recipient', isHard: false },
    ]);
  });

  it('is not a bounce when it answers, or when the return path is not null', async () => {
    const undelivered = 'Undeliverable: Your invoice 4711';
    const answer = mail(lines(`Re: ${undelivered}`), text);
    expect(readBounce(await parseMime(answer, { envelopeFrom: '' }))).toBeNull();
    const ofBob = mail(lines(undelivered), text);
    expect(readBounce(await parseMime(ofBob, { envelopeFrom: 'bob@example.net' }))).toBeNull();
  });
});

describe('the bounds of a bounce', () => {
  it('count the first 100 of 1,000 recipients in a report', async () => {
    const block = (at: number) =>
      `Final-Recipient: rfc822; u${at}@example.net\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n`;
    const body = Array.from({ length: 1000 }, (_, at) => block(at)).join('');
    const lines = [...daemon, 'Subject: failure notice', 'Content-Type: message/delivery-status'];
    const bounce = readBounce(await parseMime(mail(lines, body)));
    expect(bounce?.recipients).toHaveLength(100);
  });

  it('skip empty lines before, between and after the fields of a report', () => {
    const empty = '\r\n \r\n'.repeat(1_000);
    const blocks = readReportBlocks(`${empty}A: 1\r\n${empty}B: 2\r\n${empty}`);
    expect(blocks.map((block) => [block.first('a'), block.first('b')])).toEqual([
      ['1', null],
      [null, '2'],
    ]);
  });

  it('count the first 100 of 1,000 recipients in prose', async () => {
    const body = Array.from({ length: 1000 }, (_, at) => `<u${at}@example.net>:\r\nno\r\n`).join(
      '',
    );
    const text = `I was not able to deliver your message.\r\n\r\n${body}`;
    const bounce = readBounce(await parseMime(mail([...daemon, 'Subject: failure notice'], text)));
    expect(bounce?.recipients.length).toBeLessThanOrEqual(100);
    expect(bounce?.recipients.length).toBeGreaterThan(90);
  });

  it('cut a line of 5,000 characters at 1,000 and drop its controls', async () => {
    const words = `550 5.1.1 \u0007user unknown ${'x'.repeat(5000)}`;
    const text = `Your message could not be delivered:\r\n\r\n<joe@example.net>:\r\n${words}`;
    const bounce = readBounce(await parseMime(mail([...daemon, 'Subject: failure notice'], text)));
    expect(bounce?.recipients[0]?.text).toMatch(/^user unknown x+$/);
    expect(bounce?.recipients[0]?.text).toHaveLength(989);
  });

  it.each([
    ['<a@b.example>:\r\n'],
    ['a@'],
    ['To: '],
    ['could not be '],
    ['delayed '],
    ['550 '],
    ['5.1.1 '],
    ['----'],
    [' > > '],
    ['Final-Recipient: '],
    ['Message-ID: <'],
    ['bounce+'],
    ['-->\r\n'],
  ])('keep the time for a notice of 300 KB of %j short', async (piece) => {
    const text = `Your message could not be delivered ${piece.repeat(300_000 / piece.length)}`;
    const parsed = await parseMime(mail([...daemon, 'Subject: failure notice'], text));
    const started = startWork();
    readBounce(parsed);
    readComplaint(parsed);
    expect(workedMs(started)).toBeLessThan(500);
  });
});
