// The DNS records of a domain for its tracking host, with the result of the last look-up.
import { afterEach, expect, it } from 'vitest';
import {
  getDomain,
  listDnsRecords,
  listDomains,
} from '../../../../src/identity/domains/domains.ts';
import {
  disableTracking,
  enableTracking,
  recheckTracking,
} from '../../../../src/outbound/tracking/custom/hosts.ts';
import { stores } from '../../../support/command.ts';
import { hostname, type State, type TrackingWorld, target, trackingWorld } from './world.ts';

let world: TrackingWorld;
afterEach(() => world.close());

it.each(stores)(
  'a domain lists the record of its tracking host while it is enabled, on %s',
  async (store) => {
    world = await trackingWorld({ store });
    const { test, domain } = world;
    const { app, operator } = test;
    const shown = async () => {
      const { dnsRecords } = await getDomain(app, operator, domain.id);
      const { items: domains } = await listDomains(app, operator, { page: 1, limit: 20 });
      const listed = domains.find(({ id }) => id === domain.id);
      const { items } = await listDnsRecords(app, operator, domain.id);
      expect(listed?.dnsRecords).toEqual(dnsRecords);
      expect(items).toEqual(dnsRecords);
      return dnsRecords.filter(({ purpose }) => purpose === 'tracking');
    };
    const recheck = async () => {
      await test.clock.advance(30_000);
      return (await recheckTracking(app, operator, domain.id)).customTracking as State;
    };
    expect(await shown()).toEqual([]);
    await enableTracking(app, operator, domain.id, { label: 'links' });
    const fixed = { purpose: 'tracking', type: 'CNAME', required: false, name: hostname };
    const record = { ...fixed, value: target, error: null, diagnosis: null };
    expect(await shown()).toEqual([{ ...record, status: 'pending', found: [] }]);
    const missing = await recheck();
    const error = expect.stringContaining(`publish ${hostname} CNAME ${target}`);
    expect(await shown()).toEqual([{ ...record, status: 'missing', found: [], error }]);
    world.publish(missing);
    await recheck();
    expect(await shown()).toEqual([{ ...record, status: 'valid', found: [target] }]);
    await disableTracking(app, operator, domain.id);
    expect(await shown()).toEqual([]);
  },
);

it('a domain also lists the delegation of challenges where certificates need it', async () => {
  world = await trackingWorld({ challenge: 'dns-01' });
  const { test, domain } = world;
  await enableTracking(test.app, test.operator, domain.id, { label: 'links' });
  const { dnsRecords } = await getDomain(test.app, test.operator, domain.id);
  const names = dnsRecords.filter(({ purpose }) => purpose === 'tracking').map(({ name }) => name);
  expect(names).toEqual([hostname, `_acme-challenge.${hostname}`]);
});
