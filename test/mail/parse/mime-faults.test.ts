// Faulty MIME, read as other readers do, and the time for which one mail may hold the thread of its
// reader.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { joinFlowed } from '../../../src/mail/parse/reply/flowed.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { type Fault, mimeFaults } from './faults.ts';

async function readAs({ raw, reads }: Fault): Promise<Fault['reads']> {
  const mail = await parseMime(raw);
  const found = {
    subject: mail.subject,
    fromName: mail.from?.name,
    text: mail.text,
    newContent: mail.newContent,
    attachments: mail.attachments.map(({ filename }) => filename),
    size: mail.attachments[0]?.size,
    types: mail.attachments.map(({ contentType }) => contentType),
    errors: mail.parsingErrors.map(({ code }) => code),
  };
  const wanted = Object.keys(reads) as (keyof Fault['reads'])[];
  return Object.fromEntries(wanted.map((name) => [name, found[name]]));
}

describe('a mail with faulty MIME', () => {
  it.each(mimeFaults.map((one) => [one.fault, one] as const))(
    'is read like elsewhere with %s',
    async (_fault, one) => {
      expect(await readAs(one)).toEqual(one.reads);
    },
  );
});

it('a mail of 20 open multiparts and many lines of dashes is read in linear time', async () => {
  const open = Array.from({ length: 20 }, (_, at) => [
    `Content-Type: multipart/mixed; boundary=b${at}`,
    '',
    `--b${at}`,
  ]);
  const lines = ['From: a@b.example', ...open.flat(), '', ...Array(1_000_000).fill('--')];
  const started = startWork();
  await parseMime(Buffer.from(lines.join('\r\n')));
  expect(workedMs(started)).toBeLessThan(5_000);
});

describe('flowed text', () => {
  it.each([
    ['of one depth is joined', 'a \nb \nc', false, 'a b c'],
    ['is not joined across depths (RFC 3676 4.5)', '> a \nb', false, '> a \nb'],
    ['is not joined across depths downwards', 'a \n> b', false, 'a \n> b'],
    ['ends at a signature, which joins nothing', 'a \n-- \nBob', false, 'a \n-- \nBob'],
    ['loses one stuffed space', '  a\n > b', false, ' a\n> b'],
    ['loses the space of its cuts with DelSp', 'a \nb', true, 'ab'],
    ['keeps its empty lines', 'a\n\nb\n', false, 'a\n\nb'],
  ])('%s', (_what, text, delSp, joined) => {
    expect(joinFlowed(text, delSp)).toBe(joined);
  });
});

/** Measures the longest time that `work` held this thread, in milliseconds of its core. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  let longest = 0;
  let started = startWork();
  const watch = async () => {
    while (!isDone) {
      await nextTurn();
      longest = Math.max(longest, workedMs(started));
      started = startWork();
    }
  };
  const watched = watch();
  await work();
  isDone = true;
  await watched;
  return longest;
}

describe('an HTML part of 20 MB', () => {
  const bytes = 20 * 1024 * 1024;
  const html = '<p>é some words</p>\n'.repeat(bytes / 20);
  const raw = Buffer.from(
    `From: a@b.example\r\nMessage-ID: <1@b.example>\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}`,
  );

  it('holds its thread for less than 100 ms at a time', async () => {
    const turns: number[] = [];
    // Other load on the machine only adds time: the least of a few runs is the cost of the mail.
    for (let run = 0; run < 4 && !(Math.min(...turns) < 100); run += 1) {
      turns.push(await longestTurn(() => parseMime(raw)));
    }
    expect(Math.min(...turns)).toBeLessThan(100);
  });

  it('is cut at 2 MB and reported', async () => {
    const mail = await parseMime(raw);
    expect(mail.html).toBe(html.slice(0, 2 * 1024 * 1024));
    expect(mail.parsingErrors.map(({ code }) => code)).toEqual([
      'html-truncated',
      'split-truncated',
    ]);
  });

  it('in a charset of many bytes per character is reported as cut too', async () => {
    // UTF-32 is unknown here; ISO-2022-JP may escape each character, seven bytes for one.
    const character = Buffer.from('1b2442244c1b2842', 'hex');
    const body = Buffer.concat(Array.from({ length: 1_000_000 }, () => character));
    const head =
      'From: a@b.example\r\nMessage-ID: <1@b.example>\r\nContent-Type: text/html; charset=iso-2022-jp\r\n\r\n';
    const mail = await parseMime(Buffer.concat([Buffer.from(head), body]));
    expect(mail.html?.length).toBeLessThan(1_000_000);
    expect(mail.parsingErrors.map(({ code }) => code)).toContain('html-truncated');
  });
});
