import { describe, expect, it } from 'vitest';
import { hasRange, isInRanges, parseRange } from '../../../src/platform/net/network-address.ts';

function range(text: string) {
  const parsed = parseRange(text);
  if (!parsed) throw new Error(`${text} is no range`);
  return parsed;
}

describe('a range of addresses', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::/32', '2001:db8::/32'],
    ['::1', '::1/128'],
    ['::/0', '::/0'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::ffff:10.0.0.7', '10.0.0.7/32'],
  ])('reads %s as %s', (text, expected) => {
    expect(parseRange(text)).toMatchObject({ text: expected, isAligned: true });
  });

  it.each([
    ['10.0.0.5/8', '10.0.0.0/8'],
    ['2001:db8::1/64', '2001:db8::/64'],
    ['::ffff:10.0.0.7/104', '10.0.0.0/8'],
  ])('marks %s as unaligned: its network is %s', (text, expected) => {
    expect(parseRange(text)).toMatchObject({ text: expected, isAligned: false });
  });

  it.each([
    ...[
      '',
      'localhost',
      '10.0.0',
      '10.0.0.256',
      '010.0.0.1',
      '0x0a.0.0.1',
      '167772161',
      '10.0.0.1.1',
    ],
    ...['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/', '10.0.0.0/8/8', ' 10.0.0.0/8'],
    ...[
      '2001:db8::/129',
      '2001:db8:::/32',
      'fe80::1%eth0',
      '::ffff:10.0.0.0/95',
      '::ffff:10.0.0.0/90',
    ],
  ])('rejects %j', (text) => {
    expect(parseRange(text)).toBeNull();
  });

  it.each([
    ['203.0.113.0/24', '203.0.113.0', true],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.0/25', '203.0.113.128', false],
    ['0.0.0.0/0', '198.51.100.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '198.51.100.1', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '::FFFF:0A01:0203', true],
    ['::/0', '::ffff:10.1.2.3', false],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['10.0.0.0/8', '::10.1.2.3', false],
    ['10.0.0.0/8', '', false],
    ['10.0.0.0/8', 'nonsense', false],
    ['0.0.0.0/0', '10.1', false],
  ])('of %s contains %j: %s', (text, address, expected) => {
    expect(isInRanges(address, [range(text)])).toBe(expected);
  });

  it('matches when one of several contains the address', () => {
    const ranges = ['10.0.0.0/8', '2001:db8::/32'].map(range);
    expect(isInRanges('10.1.2.3', ranges)).toBe(true);
    expect(isInRanges('2001:db8::1', ranges)).toBe(true);
    expect(isInRanges('11.1.2.3', ranges)).toBe(false);
    expect(isInRanges('10.1.2.3', [])).toBe(false);
  });

  it.each([
    ['10.0.0.0/8', '10.0.0.0/8', true],
    ['10.0.0.0/8', '10.200.0.0/16', true],
    ['10.200.0.0/16', '10.0.0.0/8', false],
    ['10.0.0.0/8', '11.0.0.0/16', false],
    ['0.0.0.0/0', '::/0', false],
    ['::/0', '10.0.0.0/8', false],
    ['2001:db8::/32', '2001:db8:1::/48', true],
  ])('of %s contains %s: %s', (outer, inner, expected) => {
    expect(hasRange(range(outer), range(inner))).toBe(expected);
  });
});
