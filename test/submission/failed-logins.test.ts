// How many failed logins an address has in a minute, by the clock.
import { expect, it } from 'vitest';
import { FailedLogins } from '../../daemon/smtp/failed-logins.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const most = 3;

it('one too many is told until the first of them is a minute old, however often it is tried', async () => {
  const clock = virtualClock();
  const failed = new FailedLogins(clock, most);
  for (let at = 0; at < most; at++) expect(failed.count('192.0.2.1')).toBe(false);
  for (let second = 0; second < 60; second++) {
    expect(failed.count('192.0.2.1')).toBe(true);
    await clock.advance(1_000);
  }
  for (let at = 0; at < most; at++) expect(failed.count('192.0.2.1')).toBe(false);
  expect(failed.count('192.0.2.1')).toBe(true);
});

it('each address has its own, an IPv6 network of 64 bits has one', () => {
  const failed = new FailedLogins(virtualClock(), 1);
  expect(failed.count('192.0.2.1')).toBe(false);
  expect(failed.count('192.0.2.2')).toBe(false);
  expect(failed.count('2001:db8::1')).toBe(false);
  expect(failed.count('2001:db8::2')).toBe(true);
  expect(failed.count('2001:db8:0:1::1')).toBe(false);
});
