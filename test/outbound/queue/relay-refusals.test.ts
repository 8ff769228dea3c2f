// The log when a relay refuses our credentials: one line, bounded, never the password.
import { beforeEach, expect, it } from 'vitest';
import type { Outcome } from '../../../src/mail/smtp/outcome.ts';
import type { RelayRoute } from '../../../src/mail/smtp/route.ts';
import {
  refusalLogger,
  type TellRefusals,
} from '../../../src/outbound/queue/attempting/relay-refusals.ts';
import { createLogger } from '../../../src/platform/runtime/log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const password = 'correct horse';
const route: RelayRoute = {
  kind: 'relay',
  host: 'smtp.example.com',
  port: 587,
  secure: false,
  requireTls: true,
  username: 'ada',
  password,
};

let clock: VirtualClock;
let lines: string[];
let tell: TellRefusals;

beforeEach(async () => {
  clock = virtualClock();
  lines = [];
  const destination = { write: (line: string) => void lines.push(line) };
  tell = refusalLogger({
    clock,
    log: await createLogger({ level: 'warn', pretty: false, destination }),
  });
});

function refused(text: string): Outcome {
  return {
    kind: 'deferred',
    errorCode: 'auth-failed',
    reply: { code: 535, enhancedCode: '5.7.8', text, verb: 'AUTH' },
    trace: { host: null, address: null, tls: null, startedAt: 0, durationMs: 0, transcript: '' },
  };
}

it('a refused login is one line with relay, user and reply', () => {
  tell(route, [refused('authentication failed'), refused('authentication failed')]);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    relay: 'smtp.example.com:587',
    username: 'ada',
    code: 535,
    reply: 'authentication failed',
    msg: expect.stringContaining('user name or password'),
  });
});

it('a refused login is logged again after a quarter of an hour, separately for each relay', async () => {
  for (let minutes = 0; minutes < 40; minutes++) {
    tell(route, [refused('no')]);
    clock.set(clock.now() - 86_400_000);
    await clock.advance(60_000);
  }
  expect(lines).toHaveLength(3);
  tell({ ...route, host: 'other.example.com' }, [refused('no')]);
  expect(lines).toHaveLength(4);
});

it.each([
  ['itself', password],
  ['in base64', Buffer.from(password).toString('base64')],
  ['as AUTH PLAIN', Buffer.from(`\0ada\0${password}`).toString('base64')],
])('a refused login hides a password that the relay repeats %s', (_form, echoed) => {
  tell(route, [refused(`bad credentials ${echoed} ${'x'.repeat(5_000)}`)]);
  expect(lines[0]).not.toContain(echoed);
  expect(lines[0]).toContain('[hidden]');
  expect(lines[0]?.length).toBeLessThan(600);
});

it('other failures are not logged here', () => {
  const other: Outcome = { ...refused('busy'), kind: 'deferred', errorCode: 'connection' };
  tell(route, [other]);
  expect(lines).toEqual([]);
});
