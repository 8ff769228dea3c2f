// Caps on connections that a test on one machine cannot reach with real ones.
import { expect, it } from 'vitest';
import { ConnectionCounts } from '../../daemon/smtp/connection-counts.ts';
import { networkOf, siteOf } from '../../src/platform/net/network-address.ts';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
])('a connection from %s counts for %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:0db8::9', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
])('the site of %s is %s', (address, site) => {
  expect(siteOf(address)).toBe(site);
});

it('a site has its share over all its addresses, and leaves room for another', () => {
  const counts = new ConnectionCounts(200, 20);
  const address = (site: number, host: number) => `198.51.${site}.${host}`;
  let admitted = 0;
  while (counts.admit(address(1, admitted))) admitted += 1;
  expect(admitted).toBe(141);
  for (let site = 2; site < 15; site++) expect(counts.admit(address(site, 1))).toBe(true);
  expect(counts.admit(address(1, 200))).toBe(false);
});

it('a remote address has a share of its own, and this machine has none', () => {
  const counts = new ConnectionCounts(10, 2);
  const admitted = (address: string) => counts.admit(address);
  expect(['192.0.2.1', '192.0.2.1', '192.0.2.1'].map(admitted)).toEqual([true, true, false]);
  expect(['2001:db8::1', '2001:db8::2', '2001:db8::3'].map(admitted)).toEqual([true, true, false]);
  expect(['127.0.0.1', '127.0.0.1', '127.0.0.1'].map(admitted)).toEqual([true, true, true]);
  counts.release('192.0.2.1');
  expect(['192.0.2.1', '192.0.2.1'].map(admitted)).toEqual([true, false]);
});

it('a connection of a larger site is offered for takeover when all are taken', () => {
  const counts = new ConnectionCounts(4, 20);
  const [large, small, late] = ['198.51.1.1', '198.51.2.1', '198.51.3.1'] as const;
  for (const address of [large, large, large, small]) counts.admit(address);
  expect([counts.isFull, counts.admit(late)]).toEqual([true, false]);
  expect([counts.hasMore(large, late), counts.hasMore(small, late)]).toEqual([true, false]);
  expect(counts.mayTakeOver(late, large)).toBe(true);
});

it('the cap on all connections includes those of this machine', () => {
  const counts = new ConnectionCounts(2, 2);
  const addresses = ['192.0.2.1', '127.0.0.1', '127.0.0.1', '192.0.2.2'];
  expect(addresses.map((address) => counts.admit(address))).toEqual([true, true, false, false]);
  counts.release('127.0.0.1');
  expect(counts.admit('192.0.2.2')).toBe(true);
});
