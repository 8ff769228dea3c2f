// The header-only reader of the receive path, and the values in its results.
import { describe, expect, it } from 'vitest';
import { parseAddressList } from '../../../src/mail/mime/headers/header-addresses.ts';
import { readDate } from '../../../src/mail/mime/headers/header-values.ts';
import { readHeader } from '../../../src/mail/parse/read-header.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { fixture, mail } from './fixture.ts';

describe('the header reader', () => {
  it('gives the summary without reading the body', () => {
    const raw = mail(
      [
        'From: =?utf-8?q?Al=C3=AFce?= <alice@example.com>',
        'To: bob@example.org,',
        '\t"C, D" <cd@example.org>',
        'Cc: Eve (the other) <eve@example.org>',
        'Subject: a',
        ' folded =?utf-8?B?w7Y=?=',
        '  =?utf-8?B?w7w=?= subject',
        'Date: Fri, 07 Mar 2025 23:59:60 -0800',
        'MESSAGE-ID: <id@example.com>',
        'In-Reply-To: Your note of Tuesday <parent@example.com>',
      ],
      'From: body@example.com\r\n',
    );
    expect(readHeader(raw)).toEqual({
      subject: 'a folded öü subject',
      from: { email: 'alice@example.com', name: 'Alïce' },
      to: [
        { email: 'bob@example.org', name: null },
        { email: 'cd@example.org', name: 'C, D' },
      ],
      cc: [{ email: 'eve@example.org', name: 'Eve' }],
      messageIdHeader: '<id@example.com>',
      inReplyTo: '<parent@example.com>',
      references: [],
      date: Date.UTC(2025, 2, 8, 7, 59, 59),
    });
  });

  it('accepts bare line feeds and a header without a body', () => {
    const summary = readHeader(Buffer.from('From: a@b.example\nSubject: x\n y'));
    expect(summary).toMatchObject({ from: { email: 'a@b.example', name: null }, subject: 'x y' });
  });

  it('skips malformed lines and their continuations', () => {
    const raw = mail(['From a@b.example Tue', 'no colon here', ' continued', 'Subject: x']);
    expect(readHeader(raw).subject).toBe('x');
  });

  it('lets no encoded word start a line', () => {
    const raw = mail(['Subject: =?utf-8?q?a=0D=0ABcc:_x@y.example?=', 'From: a@b.example']);
    expect(readHeader(raw).subject).toBe('a Bcc: x@y.example');
  });

  it('takes less than 100 µs for a usual mail', () => {
    const raw = fixture('gmail-reply-en');
    const time = (runs: number) => {
      const start = startWork();
      for (let run = 0; run < runs; run += 1) readHeader(raw);
      return (workedMs(start) * 1000) / runs;
    };
    time(2000);
    expect(Math.min(time(500), time(500), time(500))).toBeLessThan(100);
  });
});

describe('an address list', () => {
  it.each([
    ['a@b.example', [['a@b.example', null]]],
    ['A B <a@b.example>', [['a@b.example', 'A B']]],
    ['a@b.example (A B)', [['a@b.example', 'A B']]],
    ['"A \\"x\\", B" <a@B.Example>', [['a@b.example', 'A "x", B']]],
    [
      'Team: a@b.example, C <c@d.example>;',
      [
        ['a@b.example', null],
        ['c@d.example', 'C'],
      ],
    ],
    ['undisclosed-recipients:;', []],
    ['<@relay.example,@other.example:a@b.example>', [['a@b.example', null]]],
    ['"john doe"@b.example', [['"john doe"@b.example', null]]],
    ['"joe"@b.example', [['joe@b.example', null]]],
    ['=?utf-8?q?=C3=A4?= =?utf-8?q?=C3=B6?= <a@b.example>', [['a@b.example', 'äö']]],
    ['root@localhost', [['root@localhost', null]]],
    ['a@[192.0.2.1]', [['a@[192.0.2.1]', null]]],
    ['mailto:a@b.example', [['a@b.example', null]]],
    [
      'a@b.example; c@d.example',
      [
        ['a@b.example', null],
        ['c@d.example', null],
      ],
    ],
    ['X <<a@b.example>>', [['a@b.example', 'X']]],
    ['"unclosed <a@b.example>', [['a@b.example', 'unclosed']]],
    ['A <a@b.example', [['a@b.example', 'A']]],
    ['a b c', []],
    ['@b.example, a@, <>', []],
    ['a(nested (comment) here)@b.example', [['a@b.example', 'nested (comment) here']]],
  ])('is read from %s', (value, expected) => {
    const { addresses } = parseAddressList(value);
    expect(addresses.map(({ email, name }) => [email, name])).toEqual(expected);
  });

  it('never takes an address from an encoded word', () => {
    const word = `=?utf-8?B?${Buffer.from('ceo@bank.example').toString('base64')}?=`;
    expect(parseAddressList(word)).toEqual({ addresses: [], invalid: 1, truncated: false });
    expect(parseAddressList(`${word} <a@b.example>`).addresses).toEqual([
      { email: 'a@b.example', name: 'ceo@bank.example' },
    ]);
    const list = `=?utf-8?q?x=40y.example=2C_z?= <a@b.example>`;
    expect(parseAddressList(list).addresses).toHaveLength(1);
  });

  it('ends after 500 addresses and is marked as cut', () => {
    const list = parseAddressList('a@b.example,'.repeat(501));
    expect(list).toMatchObject({ truncated: true });
    expect(list.addresses).toHaveLength(500);
  });
});

describe('a date', () => {
  it.each([
    ['Tue, 4 Mar 2025 10:30:00 +0100', '2025-03-04T09:30:00.000Z'],
    ['4 Mar 25 10:30 GMT', '2025-03-04T10:30:00.000Z'],
    ['Tue, 04 March 2025 10:30:00 EST', '2025-03-04T15:30:00.000Z'],
    ['Tue, 4 Mar 2025 10:30:00 +0100 (CET)', '2025-03-04T09:30:00.000Z'],
    ['2025-03-04T10:30:00+01:00', '2025-03-04T09:30:00.000Z'],
    ['1 Jan 99 00:00 -0000', '1999-01-01T00:00:00.000Z'],
  ])('%s is %s', (value, expected) => {
    expect(new Date(readDate(value) ?? Number.NaN).toISOString()).toBe(expected);
  });

  it.each([
    'foo 1',
    '',
    'Tue, 40 Mar 2025 10:30:00',
    '4 Foo 2025 10:30',
    '1 Jan 1900 00:00',
    '4 Mar 2025 25:00',
  ])('%j is not recognized', (value) => {
    expect(readDate(value)).toBeNull();
  });
});
