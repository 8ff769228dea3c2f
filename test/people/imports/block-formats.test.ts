// Exports of other services (test/fixtures/blocks, written for this project after their
// documentation): each is recognized, and each row is understood.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { blockFiles } from '../../../src/people/imports/block-rows.ts';
import { standingOf } from '../../../src/people/imports/consent.ts';
import { reasonWords } from '../../../src/people/imports/words.ts';
import { columnKey } from '../../../src/platform/csv/read-table.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { blocked, importInto, today } from './support.ts';

let test: TestApp;
afterEach(() => test.close());

const fixture = (name: string) =>
  createReadStream(join(import.meta.dirname, '../../fixtures/blocks', name));

/** File, recognized format, expected blocks, and the remaining rows: line, address, reason. */
const exportsOfOthers: [string, string, string[], string[]][] = [
  [
    'sendgrid-bounces.csv',
    'sendgrid-bounces',
    [
      'Ada@example.com bounce 2015-09-30T22:12:34.000Z',
      'bob@example.com bounce 2015-09-30T22:13:20.000Z',
      'eve@example.com bounce 2015-09-30T22:18:20.000Z',
    ],
    [
      '5 cy@example.net 4.4.7 is not caused by the address',
      '6 di@example.net 5.7.1 is not caused by the address',
    ],
  ],
  [
    'sendgrid-invalid-emails.csv',
    'sendgrid-invalid-emails',
    ['ada@example.com bounce 2021-05-04T15:10:15.000Z'],
    ['3 not-an-address is not a valid email address'],
  ],
  [
    'sendgrid-spam-reports.csv',
    'sendgrid-spam-reports',
    [
      'ada@example.com complaint 2015-09-30T22:12:21.000Z',
      'bob@example.com complaint 2015-09-30T22:12:34.000Z',
    ],
    [],
  ],
  [
    'sendgrid-unsubscribes.csv',
    'sendgrid-unsubscribes',
    [
      'ada@example.com unsubscribe 2015-09-30T22:12:21.000Z',
      'bob@example.com unsubscribe 2015-09-30T22:12:34.000Z',
    ],
    [],
  ],
  [
    'postmark-suppressions.csv',
    'postmark-suppressions',
    [
      'ada@example.com bounce 2019-12-17T13:58:33.000Z',
      'bob@example.com complaint 2019-12-17T13:58:33.000Z',
      'cy@example.com unsubscribe 2019-12-18T13:58:33.000Z',
      'di@example.com manual 2019-12-19T13:58:33.000Z',
    ],
    [],
  ],
  [
    'postmark-bounces.csv',
    'postmark-bounces',
    [
      'ada@example.com bounce 2014-01-15T21:09:19.642Z',
      'bob@example.com complaint 2014-01-15T21:10:00.000Z',
    ],
    [
      '4 cy@example.com is active again at Postmark',
      '5 di@example.com Transient does not justify a block',
      '6 eve@example.com is active again at Postmark',
    ],
  ],
  [
    'mailgun-bounces.csv',
    'mailgun-bounces',
    [
      'ada@example.com bounce 2011-10-21T11:02:55.000Z',
      'bob@example.com bounce 2011-10-21T11:02:56.000Z',
    ],
    [],
  ],
  [
    'mailgun-complaints.csv',
    'mailgun-complaints',
    [
      'ada@example.com complaint 2011-10-21T11:02:55.000Z',
      'bob@example.com complaint 2011-10-21T11:02:56.000Z',
    ],
    [],
  ],
  [
    'mailgun-unsubscribes.csv',
    'mailgun-unsubscribes',
    [
      'ada@example.com unsubscribe 2011-10-21T11:02:55.000Z',
      'bob@example.com unsubscribe 2011-10-21T11:02:56.000Z',
    ],
    ['4 cy@example.com gets all mail except mail with the tag newsletter'],
  ],
  [
    'ses.csv',
    'plain',
    [`recipient1@example.com bounce ${today}`, `recipient2@example.com complaint ${today}`],
    ['3 recipient3@example.com has an unknown reason: LATER'],
  ],
  [
    'ses.jsonl',
    'ses',
    [
      `recipient1@example.com bounce ${today}`,
      'recipient2@example.com complaint 2020-04-10T21:03:05.000Z',
    ],
    [],
  ],
  [
    'resend-suppressions.csv',
    'resend-suppressions',
    [
      'ada@example.com manual 2025-10-06T23:47:56.678Z',
      'bob@example.com bounce 2025-10-07T08:12:03.412Z',
      'cy@example.com complaint 2025-10-08T08:12:03.412Z',
    ],
    [],
  ],
  [
    'resend-contacts.csv',
    'resend-contacts',
    ['ada@example.com unsubscribe 2025-05-31T08:19:35.263Z'],
    ['3 bob@example.com has not unsubscribed'],
  ],
  [
    'postal-suppressions.csv',
    'postal-suppressions',
    [`ada@example.com bounce ${today}`, `bob@example.com bounce ${today}`],
    [],
  ],
  [
    'listmonk-bounces.jsonl',
    'listmonk-bounces',
    [
      'x@example.com bounce 2024-01-01T00:00:00.000Z',
      'z@example.com complaint 2024-01-01T00:00:00.000Z',
    ],
    ['2 y@example.com is not caused by the address'],
  ],
  [
    'plain.txt',
    'plain',
    [`ada@example.com manual ${today}`, `bob@example.com complaint ${today}`],
    ['4 cy@example.com;x is not a valid email address'],
  ],
];

describe.each(exportsOfOthers)('the import of %s', (file, format, blocks, others) => {
  beforeEach(async () => {
    test = await testApp();
  });

  it('recognizes the format and understands each row', async () => {
    const report = await importInto(test, fixture(file));
    expect(report.format).toBe(format);
    expect(await blocked(test)).toEqual(blocks);
    const { skipped, rejected } = report;
    const left = [...skipped.first, ...rejected.first].map(
      ({ line, address, reason }) => `${line} ${address} ${reason}`,
    );
    expect(left).toEqual(others);
  });

  it('changes nothing the second time', async () => {
    await importInto(test, fixture(file));
    await test.clock.advance(1_000);
    const again = await importInto(test, fixture(file));
    expect([again.added.count, again.existing.count > 0]).toEqual([0, true]);
    expect(await blocked(test)).toEqual(blocks);
  });

  it('changes nothing as a preview, and reports like the import', async () => {
    const dry = await importInto(test, fixture(file), { dryRun: true });
    expect(await blocked(test)).toEqual([]);
    expect({ ...dry, dryRun: false }).toEqual(await importInto(test, fixture(file)));
  });
});

describe('the format of an import', () => {
  beforeEach(async () => {
    test = await testApp();
  });

  it('can be named where the header leaves it open', async () => {
    const text = 'email,created\nada@example.com,1443651141\n';
    expect(
      await importInto(test, text, { format: 'plain', reason: 'bounce', dryRun: true }),
    ).toMatchObject({ format: 'plain', added: { reasons: { bounce: 1, unsubscribe: 0 } } });
    const bare = await importInto(test, 'ada@example.com,BOUNCE\nbob@example.com\n', {
      format: 'ses',
    });
    expect(bare).toMatchObject({
      format: 'ses',
      added: { reasons: { bounce: 1 } },
      rejected: { first: [{ line: 2, reason: 'has no reason' }] },
    });
  });

  it('understands every word for a reason that an import of contacts understands', async () => {
    const words = [...reasonWords.keys(), 'Opted out', 'HARD_BOUNCE', 'marked-as-spam'];
    const rows = words.map((word, at) => `p${at}@example.com,${word}`);
    const { added } = await importInto(test, `email,reason\n${rows.join('\n')}\n`, {
      dryRun: true,
    });
    expect(added.count).toBe(words.length);
    expect(added.first.map(({ reason }) => reason)).toEqual([
      ...reasonWords.values(),
      ...['unsubscribe', 'bounce', 'complaint'],
    ]);
    for (const word of words) {
      const { reason } = standingOf([['status', 'status', word]]);
      expect(reason).toBe(reasonWords.get(columnKey(word)));
    }
  });

  it('shortens a long unknown reason in the report', async () => {
    const text = `email,reason\nada@example.com,${'x'.repeat(61)}\n`;
    const { rejected } = await importInto(test, text, { dryRun: true });
    expect(rejected.first).toMatchObject([{ reason: `has an unknown reason: ${'x'.repeat(60)}` }]);
  });

  it.each([
    ['outlook', 'email\n', /there is no outlook/],
    ['postmark-bounces', 'email\n', /lacks the column Type, BouncedAt. Its columns: email/],
    ['mailgun-bounces', 'ada@example.com\n', /no header: a header of Mailgun bounces was expected/],
  ])('%s is rejected for a file that does not fit', async (format, text, message) => {
    await expect(importInto(test, text, { format })).rejects.toThrow(message);
  });

  it('is recognized by its own columns, before all other formats', () => {
    const named = new Set(exportsOfOthers.map(([, format]) => format));
    const untested = blockFiles.filter(
      ({ blocks: { name } }) => !named.has(name) && name !== 'svc',
    );
    expect(untested).toEqual([]);
  });
});
