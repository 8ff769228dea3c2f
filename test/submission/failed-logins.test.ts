// The bound on failed logins of an address in a minute.
import { expect, it } from 'vitest';
import { FailedLogins } from '../../daemon/failed-logins.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const most = 3;

it('an address over the limit is refused until its first failure is a minute old', async () => {
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

it('addresses are counted separately, and an IPv6 network of 64 bits as one', () => {
  const failed = new FailedLogins(virtualClock(), 1);
  expect(failed.count('192.0.2.1')).toBe(false);
  expect(failed.count('192.0.2.2')).toBe(false);
  expect(failed.count('2001:db8::1')).toBe(false);
  expect(failed.count('2001:db8::2')).toBe(true);
  expect(failed.count('2001:db8:0:1::1')).toBe(false);
});
