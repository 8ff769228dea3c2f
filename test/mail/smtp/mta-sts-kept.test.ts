// Stored MTA-STS policies over a restart and over jumps of the clock (RFC 8461 5.1): an attacker
// that hides the record or the policy host during our start gains nothing.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMtaSts, type MtaSts } from '../../../src/mail/smtp/mta-sts.ts';
import { keptPolicies } from '../../../src/outbound/queue/carrier/kept-policies.ts';
import { deleteOldStsPolicies } from '../../../src/outbound/queue/carrier/mta-sts-queries.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { trustTestAuthority } from './smtp-certificates.ts';
import { type MxHosts, mxHosts } from './smtp-mx-hosts.ts';
import { until } from './smtp-session-dialogue.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

beforeAll(trustTestAuthority);

describe.each(stores)('stored MTA-STS policies on %s', (store) => {
  let hosts: MxHosts;
  let service: TestApp;
  let sts: MtaSts;
  beforeEach(async () => {
    hosts = await mxHosts();
    service = await testApp({ store, start: hosts.clock.now() });
    sts = start();
  });
  afterEach(async () => {
    sts.close();
    await hosts.close();
    await service.close();
  });

  /** Starts with empty memory, as a daemon does. */
  function start(): MtaSts {
    const { dns, clock, connector } = hosts;
    const { store: kept } = service.app;
    const policies = keptPolicies({ store: kept, clock, log: service.app.log });
    return createMtaSts({ dns, clock, connector, policies });
  }

  function restart(): void {
    sts.close();
    sts = start();
  }

  function publish(id: string, mode = 'enforce', maxAgeSeconds = 604_800): void {
    hosts.server.set('_mta-sts.example.test', 'TXT', [`v=STSv1; id=${id};`], { ttlSeconds: 1 });
    hosts.server.set('mta-sts.example.test', 'A', ['127.0.0.1']);
    const lines = ['version: STSv1', `mode: ${mode}`, 'mx: mx1.test', `max_age: ${maxAgeSeconds}`];
    hosts.policyHost.answer(`${lines.join('\r\n')}\r\n`);
  }

  const modeNow = async () => (await sts.policyOf('example.test', true))?.mode ?? null;
  const hideRecord = () => hosts.server.fault('_mta-sts.example.test', 'servfail');

  it.each([
    ['the record cannot be looked up', hideRecord],
    ['the record is gone', () => hosts.server.set('_mta-sts.example.test', 'TXT', [])],
    ['the policy host is down', () => publishBroken('2')],
  ])('stay in force after a restart while %s', async (_name, fail) => {
    publish('1');
    expect(await modeNow()).toBe('enforce');
    fail();
    await hosts.clock.advance(minute);
    restart();
    const policy = await sts.policyOf('example.test', true);
    expect(policy?.mode).toBe('enforce');
    expect([policy?.covers('mx1.test'), policy?.covers('evil.test')]).toEqual([true, false]);
  });

  function publishBroken(id: string): void {
    publish(id);
    hosts.policyHost.answer((response) => response.destroy());
  }

  it('need no new fetch after a restart, and end after their max_age', async () => {
    publish('1', 'enforce', 3_600);
    await modeNow();
    restart();
    expect(await modeNow()).toBe('enforce');
    expect(hosts.policyHost.requests).toBe(1);
    hideRecord();
    await hosts.clock.advance(61 * minute);
    restart();
    expect(await modeNow()).toBeNull();
  });

  it('are replaced by a newer policy', async () => {
    publish('1');
    await modeNow();
    publish('2', 'none');
    await hosts.clock.advance(minute);
    expect(await modeNow()).toBe('none');
    hideRecord();
    restart();
    expect(await modeNow()).toBe('none');
  });

  it('are bounded: expired ones are evicted first, then the oldest', async () => {
    const { store: kept, log } = service.app;
    const policies = keptPolicies({ store: kept, clock: hosts.clock, log });
    const now = hosts.clock.now();
    const text = 'version: STSv1\r\nmode: none\r\nmax_age: 86400\r\n';
    for (let index = 0; index < 6; index++) {
      const expiresAt = index === 5 ? now - 1 : now + day;
      await policies.keep(`d${index}.test`, { id: '1', text, fetchedAt: now + index, expiresAt });
    }
    await kept.write((trx) => deleteOldStsPolicies(trx, now, 3));
    const left = await Promise.all(
      Array.from(
        { length: 6 },
        async (_, index) => (await policies.find(`d${index}.test`)) !== null,
      ),
    );
    expect(left).toEqual([false, false, true, true, true, false]);
  });

  it('survive a clock that is set back, and are fetched again then', async () => {
    publish('1');
    await modeNow();
    hosts.clock.set(hosts.clock.now() - 400 * day);
    expect(await modeNow()).toBe('enforce');
    await until(() => hosts.policyHost.requests === 2);
  });

  it('that expired by a clock set forward are fetched before mail is sent', async () => {
    publish('1');
    await modeNow();
    hosts.clock.set(hosts.clock.now() + 400 * day);
    expect(await modeNow()).toBe('enforce');
    expect(hosts.policyHost.requests).toBe(2);
  });

  it('that failed to load are fetched again after five minutes under any wall clock', async () => {
    publishBroken('1');
    expect(await modeNow()).toBeNull();
    hosts.clock.set(hosts.clock.now() - 30 * day);
    publish('1');
    await hosts.clock.advance(5 * minute + 1);
    expect(await modeNow()).toBe('enforce');
  });
});
