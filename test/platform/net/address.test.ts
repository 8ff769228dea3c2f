// The address grammar: accepted and refused texts, and the normal form as a fixed point.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldAddress, isHeaderSafe, parseAddress } from '../../../src/platform/net/address.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

describe('the normal form of an address', () => {
  it.each([
    ['joe@example.com', 'joe@example.com'],
    ["!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~@example.com"],
    ['Joe.Bloggs+tag@Mail.EXAMPLE.com', 'Joe.Bloggs+tag@mail.example.com'],
    ['a@b.co', 'a@b.co'],
    ['joe@exämple.org', 'joe@xn--exmple-cua.org'],
    ['joe@XN--EXMPLE-CUA.org', 'joe@xn--exmple-cua.org'],
    ['joe@例え。テスト', 'joe@xn--r8jz45g.xn--zckzah'],
    ['jörg@example.com', 'jörg@example.com'],
    ['jo\u0308rg@example.com', 'jörg@example.com'],
    ['用户@例え.テスト', '用户@xn--r8jz45g.xn--zckzah'],
    ['"joe..bloggs"@example.com', '"joe..bloggs"@example.com'],
    ['"a@b"@example.com', '"a@b"@example.com'],
    ['"a\\"b\\\\c"@example.com', '"a\\"b\\\\c"@example.com'],
    ['"joe"@example.com', 'joe@example.com'],
    ['"j\\oe"@example.com', 'joe@example.com'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ])('of %s is %s', (text, email) => {
    expect(parseAddress(text)?.email).toBe(email);
  });

  it('comes with its parts and the need for SMTPUTF8', () => {
    expect(parseAddress('Joe@EXAMPLE.com')).toEqual({
      email: 'Joe@example.com',
      localPart: 'Joe',
      domain: 'example.com',
      needsSmtpUtf8: false,
    });
    expect(parseAddress('jörg@example.com')?.needsSmtpUtf8).toBe(true);
    expect(parseAddress('joe@exämple.org')?.needsSmtpUtf8).toBe(false);
  });
});

describe('texts that are not addresses', () => {
  it.each([
    ['nothing', ''],
    ['no at sign', 'joe'],
    ['no local part', '@example.com'],
    ['no domain', 'joe@'],
    ['two at signs', 'joe@evil.com@example.com'],
    ['a single label', 'joe@localhost'],
    ['an IPv4 literal', 'joe@[127.0.0.1]'],
    ['an IPv6 literal', 'joe@[IPv6:::1]'],
    ['a bare IPv4 address', 'joe@127.0.0.1'],
    ['an IPv4 address in disguise', 'joe@１２７.0.0.1'],
    ['a trailing dot', 'joe@example.com.'],
    ['an empty label', 'joe@example..com'],
    ['a label that begins with a hyphen', 'joe@-example.com'],
    ['a label that ends with a hyphen', 'joe@example-.com'],
    ['a label of 64', `joe@${'a'.repeat(64)}.com`],
    ['an underscore in the domain', 'joe@ex_ample.com'],
    ['a port', 'joe@example.com:25'],
    ['a port behind an IDN', 'joe@exämple.com:25'],
    ['a path behind an IDN', 'joe@exämple.com/x'],
    ['an escape in an IDN', 'joe@exämple%2ecom'],
    ['an IDN with a bidi override', 'joe@ex\u202eä.com'],
    ['an IDN with a lone surrogate', 'joe@ex\ud800.com'],
    ['a leading dot', '.joe@example.com'],
    ['a trailing dot in the local part', 'joe.@example.com'],
    ['two dots', 'jo..e@example.com'],
    ['a local part of 65', `${'a'.repeat(65)}@example.com`],
    ['a local part of 66 octets', `${'ö'.repeat(33)}@example.com`],
    ['255 octets', `${'a'.repeat(64)}@${`${'b'.repeat(61)}.`.repeat(3)}coms`],
    ['white space in front', ' joe@example.com'],
    ['white space behind', 'joe@example.com '],
    ['white space inside', 'jo e@example.com'],
    ['a quoted space', '"jo e"@example.com'],
    ['a no-break space', 'jo\u00a0e@example.com'],
    ['a zero-width space', 'jo\u200be@example.com'],
    ['a right-to-left override', 'jo\u202ee@example.com'],
    ['a comma', 'joe,ann@example.com'],
    ['a quoted comma', '"joe,ann"@example.com'],
    ['two addresses', 'joe@example.com,ann@example.com'],
    ['angle brackets', '<joe@example.com>'],
    ['a quoted angle bracket', '"joe>"@example.com'],
    ['a display name', 'Joe <joe@example.com>'],
    ['a comment', 'joe(comment)@example.com'],
    ['a comment in the domain', 'joe@example.com(comment)'],
    ['a group', 'all:joe@example.com;'],
    ['CR and LF', 'joe@example.com\r\nBcc: x@example.com'],
    ['LF in the local part', 'jo\ne@example.com'],
    ['LF at the end', 'joe@example.com\n'],
    ['NUL', 'joe\0@example.com'],
    ['DEL', 'jo\x7fe@example.com'],
    ['an escaped CR', '"jo\\\re"@example.com'],
    ['a C1 control', 'jo\u0085e@example.com'],
    ['a line separator', 'jo\u2028e@example.com'],
    ['a lone surrogate', 'jo\ud800e@example.com'],
    ['a full-width at sign', 'joe＠evil.com@example.com'],
    ['a full-width angle bracket', 'joe＞@example.com'],
    ['an open quote', '"joe@example.com'],
    ['an unquoted quote', 'jo"e@example.com'],
    ['an empty quoted string', '""@example.com'],
  ])('%s', (_, text) => {
    expect(parseAddress(text)).toBeNull();
  });

  it('are refused at once at any length', () => {
    const started = startWork();
    expect(parseAddress(`${'a.'.repeat(500_000)}@example.com`)).toBeNull();
    expect(parseAddress(`"${'\\"'.repeat(120)}@example.com`)).toBeNull();
    expect(workedMs(started)).toBeLessThan(100);
  });
});

it(`an accepted text is one header-safe address and its own normal form (seed ${seed})`, () => {
  const piece = fc.oneof(
    fc.constantFrom('@', '.', '"', '\\', '"a@b"', 'joe', 'ö', 'example.com', 'xn--', '＠', '\r\n'),
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
    fc.array(piece, { maxLength: 4 }).map((pieces) => `${pieces.join('')}@example.com`),
    fc.emailAddress(),
  );
  let taken = 0;
  fc.assert(
    fc.property(text, (candidate) => {
      const address = parseAddress(candidate);
      if (address === null) return;
      taken++;
      expect(isHeaderSafe(address.email)).toBe(true);
      expect(address.email).not.toMatch(/[\s<>,]/);
      expect(address.domain).toMatch(/^[a-z0-9.-]+$/);
      expect(parseAddress(address.email)).toEqual(address);
    }),
    { seed, numRuns: 3000 },
  );
  expect(taken).toBeGreaterThan(300);
});

it('the comparison of addresses ignores case', () => {
  expect(foldAddress('Joe.Bloggs@example.com')).toBe(foldAddress('joe.bloggs@example.com'));
  expect(foldAddress('JÖRG@example.com')).toBe(foldAddress('jörg@example.com'));
  expect(foldAddress('STRASSE@example.com')).toBe(foldAddress('straße@example.com'));
  expect(foldAddress('ΟΔΟΣ@example.com')).toBe(foldAddress('οδος@example.com'));
  expect(foldAddress('joe@example.com')).not.toBe(foldAddress('ann@example.com'));
  const folded = foldAddress('İstanbul@example.com');
  expect(foldAddress(folded)).toBe(folded);
});

it('a header-safe text has no line ends and no control characters except TAB', () => {
  expect(isHeaderSafe('Grüße\tan alle 😀')).toBe(true);
  for (let code = 0; code < 0x20; code++) {
    expect(isHeaderSafe(`a${String.fromCharCode(code)}b`)).toBe(code === 0x09);
  }
});
