import { describe, expect, it } from 'vitest';
import { isPublicAddress, networkOf, siteOf } from '../../../src/platform/net/network-address.ts';

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '93.184.216.34',
    '100.128.0.1',
    '172.32.0.1',
    '2001:4860:4860::8888',
    '2a00:1450:4001:80b::200e',
    '64:ff9b::808:808',
    '::ffff:8.8.8.8',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ['unspecified', '0.0.0.0'],
    ['unspecified', '0.1.2.3'],
    ['unspecified', '::'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback', '::1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['carrier NAT', '100.64.0.1'],
    ['link-local', '169.254.169.254'],
    ['link-local', 'fe80::1'],
    ['link-local with zone', 'fe80::1%eth0'],
    ['unique local', 'fd00:ec2::254'],
    ['site-local', 'fec0::1'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['documentation', '192.0.2.1'],
    ['documentation', '2001:db8::1'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped private in hex', '::ffff:a00:1'],
    ['IPv4-compatible loopback', '::127.0.0.1'],
    ['NAT64 of a private address', '64:ff9b::a00:1'],
    ['6to4 of a private address', '2002:a00:1::1'],
    ['teredo', '2001::1'],
    ['discard only', '100::1'],
  ])('%s (%s) is not public', (_kind, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    '',
    'localhost',
    'example.com',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '1.2.3',
    '8.8.8.8 ',
  ])('a text other than a plain address (%j) is not public', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

describe('an IPv4 client of a listener bound to ::', () => {
  it.each(['::ffff:198.51.100.7', '::FFFF:198.51.100.7'])(
    'counts by its IPv4 network (%s)',
    (address) => {
      expect([networkOf(address), siteOf(address)]).toEqual(['198.51.100.7', '198.51.100.0/24']);
    },
  );
});
