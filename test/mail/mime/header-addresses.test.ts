// Address lists of received mail: the obsolete syntax of RFC 5322 4.4, and forms that no RFC has
// but mail has.
import { describe, expect, it } from 'vitest';
import { parseAddressList } from '../../../src/mail/mime/headers/header-addresses.ts';

type Read = [value: string, addresses: [email: string, name: string | null][], invalid?: number];

/** Unfolded as by the header reader. */
const examplesOfTheRfc: Read[] = [
  ['Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>', [['pete@silly.test', 'Pete']]],
  [
    "A Group(Some people)  :Chris Jones <c@(Chris's host.)public.example>,  joe@example.org,  John <jdoe@one.test> (my dear friend); (the end of the group)",
    [
      ['c@public.example', 'Chris Jones'],
      ['joe@example.org', null],
      ['jdoe@one.test', 'John'],
    ],
  ],
  ['(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;', []],
  ['Joe Q. Public <john.q.public@example.com>', [['john.q.public@example.com', 'Joe Q. Public']]],
  [
    'Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example',
    [
      ['mary@example.net', 'Mary Smith'],
      ['jdoe@test.example', null],
    ],
  ],
  ['John Doe <jdoe@machine(comment).  example>', [['jdoe@machine.example', 'John Doe']]],
  [
    '"Joe Q. Public" <john.q.public@example.com>, <boss@nil.test>, "Giant; \\"Big\\" Box" <sysservices@example.net>',
    [
      ['john.q.public@example.com', 'Joe Q. Public'],
      ['boss@nil.test', null],
      ['sysservices@example.net', 'Giant; "Big" Box'],
    ],
  ],
  [
    'A Group:Ed Jones <c@a.test>,joe@where.test,John <jdoe@one.test>;',
    [
      ['c@a.test', 'Ed Jones'],
      ['joe@where.test', null],
      ['jdoe@one.test', 'John'],
    ],
  ],
];

const obsolete: Read[] = [
  ['joe . doe @ example . com', [['joe.doe@example.com', null]]],
  ['Joe <joe . doe@example.com>', [['joe.doe@example.com', 'Joe']]],
  ['< joe@example.com >', [['joe@example.com', null]]],
  ['joe@ example.com', [['joe@example.com', null]]],
  ['joe(the first).(the last)doe@example.com', [['joe.doe@example.com', 'the last']]],
  ['"joe".doe@example.com', [['joe.doe@example.com', null]]],
  ['<"joe" . "doe" @example.com>', [['joe.doe@example.com', null]]],
  ['joe@example(a \\( b).com (Joe)', [['joe@example.com', 'Joe']]],
  ['<@a.example, @b.example : joe@example.com>', [['joe@example.com', null]]],
  ['<(a)@a.example,,@b.example:joe@example.com>', [['joe@example.com', null]]],
  ['joe@[192.0.2.1]', [['joe@[192.0.2.1]', null]]],
  ['joe@ [ 192.0.2.1 ]', [['joe@[192.0.2.1]', null]]],
  ['joe@[IPv6:2001:db8::1]', [['joe@[ipv6:2001:db8::1]', null]]],
  [
    'Managing Partners:ben@example.com,carol@example.com;',
    [
      ['ben@example.com', null],
      ['carol@example.com', null],
    ],
  ],
  ['Joe . Q . Public <joe@example.com>', [['joe@example.com', 'Joe . Q . Public']]],
];

const inNoRfc: Read[] = [
  ['"Joe Doe <joe@example.com>', [['joe@example.com', 'Joe Doe']]],
  ['Joe "The Doe <joe@example.com>', [['joe@example.com', 'Joe The Doe']]],
  ['Joe Doe" <joe@example.com>', [['joe@example.com', 'Joe Doe']]],
  [
    '"Joe <joe@example.com>, "Ann" <ann@example.com>',
    [
      ['joe@example.com', 'Joe'],
      ['ann@example.com', 'Ann'],
    ],
  ],
  ['Joe (sales <joe@example.com>', [['joe@example.com', 'Joe (sales']]],
  ['Joe :( <joe@example.com>', [['joe@example.com', 'Joe :(']]],
  ['Joe sales) <joe@example.com>', [['joe@example.com', 'Joe sales)']]],
  ['First Last [X/ Y] <joe@example.com>', [['joe@example.com', 'First Last [X/ Y]']]],
  ['[Acme <joe@example.com>', [['joe@example.com', '[Acme']]],
  ['Acme] Joe <joe@example.com>', [['joe@example.com', 'Acme] Joe']]],
  ['Joe {x <joe@example.com>', [['joe@example.com', 'Joe {x']]],
  ['Joe < Doe <joe@example.com>', [['joe@example.com', 'Joe Doe']]],
  ['Joe > Doe <joe@example.com>', [['joe@example.com', 'Joe Doe']]],
  ['Joe <<joe@example.com>>', [['joe@example.com', 'Joe']]],
  ['Joe <joe@example.com', [['joe@example.com', 'Joe']]],
  [
    '<joe@example.com, <ann@example.com>',
    [
      ['joe@example.com', null],
      ['ann@example.com', null],
    ],
  ],
  ['Joe joe@example.com>', [['joe@example.com', 'Joe']]],
  ['Joe Doe joe@example.com', [['joe@example.com', 'Joe Doe']]],
  ['joe@example.com Joe Doe', [['joe@example.com', 'Joe Doe']]],
  ['"Joe Doe" joe@example.com', [['joe@example.com', 'Joe Doe']]],
  ['"joe@example.com"', [['joe@example.com', null]]],
  ["'joe@example.com'", [['joe@example.com', null]]],
  ["<'joe@example.com'>", [['joe@example.com', null]]],
  ['Joe [joe@example.com]', [['joe@example.com', 'Joe']]],
  ['Joe (joe@example.com', [['joe@example.com', 'Joe']]],
  ['Joe (joe@example.com)', [['joe@example.com', 'Joe']]],
  ['"Joe Doe <joe@example.com>"', [['joe@example.com', 'Joe Doe']]],
  ['Joe <mailto:joe@example.com>', [['joe@example.com', 'Joe']]],
  ['joe@example.com <joe>', [['joe@example.com', null]]],
  ['Joe <joe@example.com.>', [['joe@example.com', 'Joe']]],
  ["Joe <o'brien@example.com>", [["o'brien@example.com", 'Joe']]],
  ['a..b@docomo.example', [['a..b@docomo.example', null]]],
  ['Joe <joe.@example.com>', [['joe.@example.com', 'Joe']]],
  ['Joe <joe@bücher.example>', [['joe@xn--bcher-kva.example', 'Joe']]],
];

const names: Read[] = [
  ['Support: Acme <joe@example.com>', [['joe@example.com', 'Support: Acme']]],
  ['Re: Support: Acme <joe@example.com>', [['joe@example.com', 'Re: Support: Acme']]],
  ['Acme, Inc. <joe@example.com>', [['joe@example.com', 'Acme, Inc.']]],
  [
    'Doe, Joe <joe@example.com>, Ann <ann@example.com>',
    [
      ['joe@example.com', 'Doe, Joe'],
      ['ann@example.com', 'Ann'],
    ],
  ],
  ['Doe, Joe, PhD <joe@example.com>', [['joe@example.com', 'Doe, Joe, PhD']]],
  ['=?utf-8?q?Doe,_J=C3=B6?= <joe@example.com>', [['joe@example.com', 'Doe, Jö']]],
  ['=?utf-8?q?Help:_J=C3=B6?= <joe@example.com>', [['joe@example.com', 'Help: Jö']]],
  ['"Acme", Inc. <joe@example.com>', [['joe@example.com', 'Acme, Inc.']]],
  ['Acme (a, b: c) <joe@example.com>', [['joe@example.com', 'Acme']]],
  [
    'ann@example.com, Doe, Joe <joe@example.com>',
    [
      ['ann@example.com', null],
      ['joe@example.com', 'Doe, Joe'],
    ],
  ],
  [
    'Joe <joe@example.com>; Ann <ann@example.com>',
    [
      ['joe@example.com', 'Joe'],
      ['ann@example.com', 'Ann'],
    ],
  ],
  ['12:30 Joe <joe@example.com>', [['joe@example.com', '12:30 Joe']]],
];

const none: Read[] = [
  ['', []],
  ['undisclosed-recipients:', []],
  ['undisclosed-recipients:;', []],
  ['Joe Doe', [], 1],
  ['<>', [], 1],
  ['Joe <joe doe@example.com>', [], 1],
  ['joe doe @ example.com', [], 1],
  ['Acme, Inc., joe@example.com', [['joe@example.com', null]], 2],
  ['Joe <joe@example.com>, Inc.', [['joe@example.com', 'Joe']], 1],
  ['=?utf-8?q?joe=40example.com?=', [], 1],
  ['joe(at)example.com', [], 1],
];

describe.each([
  ['the examples of RFC 5322', examplesOfTheRfc],
  ['obsolete syntax', obsolete],
  ['forms that no RFC has', inNoRfc],
  ['names with separators', names],
  ['values without an address', none],
] as const)('%s', (_, values) => {
  it.each(values)('gives the addresses of %s', (value, addresses, invalid = 0) => {
    const list = parseAddressList(value);
    expect(list.addresses.map(({ email, name }) => [email, name])).toEqual(addresses);
    expect(list).toMatchObject({ invalid, truncated: false });
  });
});

it('a comma parts the local users of a machine', () => {
  const { addresses } = parseAddressList('bob, Ann <ann@example.com>', 'web.example');
  expect(addresses).toEqual([
    { email: 'bob@web.example', name: null },
    { email: 'ann@example.com', name: 'Ann' },
  ]);
});

it('an address in the name is not the author', () => {
  expect(parseAddressList('"ceo@bank.example" <joe@example.com>').addresses).toEqual([
    { email: 'joe@example.com', name: 'ceo@bank.example' },
  ]);
  expect(parseAddressList('ceo@bank.example <joe@example.com>').addresses).toEqual([
    { email: 'joe@example.com', name: 'ceo@bank.example' },
  ]);
});
