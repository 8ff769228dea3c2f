// Custom tracking of a domain: enable, show, recheck and disable, the role of DNS and CAA, and the
// certificate of a proxy in front.

import type { AddressInfo } from 'node:net';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../../src/access/organizations/organizations.ts';
import { listAudit } from '../../../../src/history/audit/audit.ts';
import { addDomain, deleteDomain } from '../../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../../src/identity/domains/verification.ts';
import {
  activeHostOf,
  refreshActiveHosts,
} from '../../../../src/outbound/tracking/custom/active-hosts.ts';
import {
  disableTracking,
  enableTracking,
  getTracking,
  recheckTracking,
} from '../../../../src/outbound/tracking/custom/hosts.ts';
import { stores } from '../../../support/command.ts';
import { type HttpApi, httpApi } from '../../../support/http-client.ts';
import { testCert, testKey } from '../../../support/test-cert.ts';
import {
  askPlain,
  day,
  hostname,
  hour,
  minute,
  type State,
  type TrackingWorld,
  target,
  trackingWorld,
  type WorldOptions,
} from './world.ts';

let world: TrackingWorld;
let api: HttpApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
  await world.close();
});

async function begin(options: WorldOptions = {}) {
  world = await trackingWorld(options);
  return world;
}

const enable = (label = 'links') =>
  enableTracking(world.test.app, world.test.operator, world.domain.id, { label });
const disable = () => disableTracking(world.test.app, world.test.operator, world.domain.id);
const recheck = async (app = world.test.app) => {
  const { customTracking } = await recheckTracking(app, world.test.operator, world.domain.id);
  return customTracking as State;
};
/** Reads the stored row of the host. */
async function hostRow() {
  const { rows } = await sql<{
    next_check_at: number | null;
    certificate: string | null;
    certificate_key: string | null;
  }>`select next_check_at, certificate, certificate_key from tracking_hosts`.execute(
    world.test.app.store.db,
  );
  return rows[0] ?? { next_check_at: null, certificate: null, certificate_key: null };
}
const questions = (name: string) => world.dns.queries.filter((query) => query.name === name).length;

describe.each(stores)('custom tracking over HTTP on %s', (store) => {
  it('is enabled, shown, disabled and enabled again', async () => {
    const { test, domain } = await begin({ store });
    api = httpApi(test);
    const path = `/v1/email/domains/${domain.id}/custom-tracking`;
    expect(await api.get(path)).toMatchObject({
      status: 200,
      body: { enabled: false, customTracking: null },
    });
    const enabled = await api.post(path, { label: 'Links' });
    expect(enabled.status).toBe(201);
    expect(enabled.body).toMatchObject({
      enabled: true,
      customTracking: {
        status: 'pending',
        label: 'links',
        hostname,
        region: 'local',
        sslStatus: 'none',
        certificate: { reason: { code: 'initializing' }, lastCheckedAt: null },
        dnsRecords: {
          tracking: { name: hostname, type: 'CNAME', value: target },
          dcvDelegation: {
            name: `_acme-challenge.${hostname}`,
            type: 'CNAME',
            value: expect.stringMatching(/^[0-9a-z]{24}\.dcv\.mail\.host\.example$/),
          },
        },
        caaBlocked: false,
        verificationErrors: [],
        teardownScheduledAt: null,
      },
    });
    expect(await api.get(path)).toMatchObject({ status: 200, body: enabled.body });
    expect(await api.post(path, { label: 'links' })).toMatchObject({
      status: 409,
      body: { _tag: 'ConflictError', resource: 'custom-tracking' },
    });
    const disabled = await api.post(`${path}/disable`, undefined);
    const at = new Date(test.clock.now() + 7 * day).toISOString();
    expect(disabled).toMatchObject({
      status: 200,
      body: {
        enabled: false,
        customTracking: { status: 'tearing-down', teardownScheduledAt: at },
      },
    });
    // While it is torn down, no check runs and no other label may replace it.
    for (const [at, body] of [
      [`${path}/recheck`, undefined],
      [`${path}/disable`, undefined],
      [path, { label: 'other' }],
    ] as const) {
      expect(await api.post(at, body)).toMatchObject({ status: 409 });
    }
    expect(await api.post(path, { label: 'links' })).toMatchObject({
      status: 201,
      body: { enabled: true, customTracking: { status: 'pending', teardownScheduledAt: null } },
    });
    const { items } = await listAudit(test.app, test.operator, { resource: domain.id, limit: 100 });
    const tracked = items.filter(({ action }) => action.startsWith('tracking.'));
    expect(tracked.map(({ action, details }) => [action, details.hostname])).toEqual([
      ['tracking.enabled', hostname],
      ['tracking.disabled', hostname],
      ['tracking.enabled', hostname],
    ]);
  });

  it('answers 409 when not enabled or verified, 404 without a domain, 422 without a label', async () => {
    const { test, domain } = await begin({ store });
    api = httpApi(test);
    const pathOf = (id: string) => `/v1/email/domains/${id}/custom-tracking`;
    for (const verb of ['recheck', 'disable']) {
      expect(await api.post(`${pathOf(domain.id)}/${verb}`, undefined)).toMatchObject({
        status: 409,
        body: { _tag: 'ConflictError' },
      });
    }
    const unproven = await addDomain(test.app, test.operator, { domain: 'new.example' });
    expect(await api.post(pathOf(unproven.id), { label: 'links' })).toMatchObject({
      status: 409,
      body: { resource: 'domain' },
    });
    const unknown = pathOf(test.app.newId('domain'));
    expect(await api.get(unknown)).toMatchObject({ status: 404 });
    expect(await api.post(unknown, { label: 'links' })).toMatchObject({ status: 404 });
    for (const verb of ['recheck', 'disable']) {
      expect(await api.post(`${unknown}/${verb}`, undefined)).toMatchObject({
        status: 404,
        body: { resource: 'domain' },
      });
    }
    const labels = ['', 'a.b', '-a', 'a-', 'a b', 'ab--c', '_x', 'ü', 'a'.repeat(64), 'bounce', 7];
    for (const label of labels) {
      expect(await api.post(pathOf(domain.id), { label })).toMatchObject({
        status: 422,
        body: { fields: { label: [expect.any(String)] } },
      });
    }
  });

  it('belongs to the organization that verified the name', async () => {
    const { test, domain } = await begin({ store });
    const other = await createOrganization(test.app, { name: 'other', plan: 'self-hosted' });
    const operator = operatorOf(other.id);
    const same = await addDomain(test.app, operator, { domain: 'acme.example', dkim: 'ed25519' });
    await enable();
    await expect(enableTracking(test.app, operator, same.id, { label: 'links' })).rejects.toThrow(
      /is not verified/,
    );
    await expect(getTracking(test.app, operator, domain.id)).rejects.toThrow(/domain/);
    await deleteDomain(test.app, test.operator, domain.id);
    await verifyDomain(test.app, operator, same.id, { force: true });
    await enableTracking(test.app, operator, same.id, { label: 'links' });
    expect(await getTracking(test.app, operator, same.id)).toMatchObject({ enabled: true });
  });

  it('is checked every 30 seconds at most, by any daemon', async () => {
    const { test } = await begin({ store });
    const another = await test.another();
    await enable();
    const first = await recheck();
    expect(first).toMatchObject({
      status: 'verifying',
      certificate: { reason: { code: 'dns-missing' } },
      verificationErrors: [expect.stringContaining(`publish ${hostname} CNAME ${target}`)],
    });
    const asked = questions(hostname);
    world.publish(first);
    await test.clock.advance(29_999);
    expect(await recheck(another)).toEqual(first);
    expect(await recheck()).toEqual(first);
    expect(questions(hostname)).toBe(asked);
    await test.clock.advance(1);
    // Of concurrent requests one checks.
    const [one, two] = await Promise.all([recheck(another), recheck()]);
    expect([one.status, two.status]).toContain('issuing');
    expect(await recheck()).toMatchObject({ status: 'issuing', sslStatus: 'pending' });
    expect(questions(hostname) - asked).toBe(1);
  });
});

describe('a tracking host', () => {
  it('without a record is checked less and less often, and fails after a week', async () => {
    await begin();
    await enable();
    await world.run();
    const missing = await world.until(({ status }) => status === 'verifying');
    expect(missing.certificate.reason?.code).toBe('dns-missing');
    const early = questions(hostname);
    await world.pass(hour);
    expect(questions(hostname) - early).toBeLessThan(30);
    await world.leap(6 * day);
    expect(await world.state()).toMatchObject({ status: 'verifying', sslStatus: 'none' });
    await world.leap(2 * day);
    const failed = await world.state();
    expect(failed).toMatchObject({
      status: 'failed',
      certificate: { reason: { code: 'dns-missing' } },
    });
    world.publish(failed);
    await world.leap(2 * day);
    await world.until(({ status }) => status === 'active');
  });

  it('keeps its state while DNS fails, and stops being active when the record is gone', async () => {
    const { dns, test, domain } = await begin();
    world.publish((await enable()).customTracking as State);
    await world.run();
    await world.until(({ status }) => status === 'active');
    dns.fault(hostname, 'servfail');
    await world.leap(2 * day);
    const unanswered = await world.state();
    expect(unanswered).toMatchObject({ status: 'active', sslStatus: 'active' });
    expect(unanswered.verificationErrors).toEqual([expect.stringContaining('SERVFAIL')]);
    dns.fault(hostname, 'nxdomain');
    await world.leap(2 * day);
    expect(await world.state()).toMatchObject({ status: 'verifying', sslStatus: 'active' });
    await refreshActiveHosts(test.app);
    expect(activeHostOf(test.app, domain.id)).toBeNull();
    dns.fault(hostname, undefined);
    await world.until(({ status }) => status === 'active', minute);
    expect(world.acme.orders).toHaveLength(1);
  });

  it.each([
    ['points elsewhere', { CNAME: ['elsewhere.example'] }, /points to elsewhere\.example/],
    ['is elsewhere', { A: ['192.0.2.1'] }, /is elsewhere/],
  ] as const)('that %s is not verified', async (_what, records, words) => {
    const { dns } = await begin();
    for (const [type, values] of Object.entries(records)) dns.set(hostname, type as 'A', values);
    await enable();
    const state = await recheck();
    expect(state.certificate.reason).toMatchObject({ code: 'dns-missing' });
    expect(state.verificationErrors[0]).toMatch(words);
  });

  it.each([
    [
      'by another CNAME',
      { [hostname]: { CNAME: 'cdn.example' }, 'cdn.example': { CNAME: target } },
    ],
    ['flattened, by the same address', { [hostname]: { A: '127.0.0.1' } }],
  ])('that leads here %s is verified', async (_what, zone) => {
    const { dns } = await begin();
    for (const [name, records] of Object.entries(zone)) {
      for (const [type, value] of Object.entries(records))
        dns.set(name, type as 'A', [String(value)]);
    }
    await enable();
    expect(await recheck()).toMatchObject({ status: 'issuing' });
  });

  it('needs the delegation too with dns-01', async () => {
    const { dns } = await begin({ challenge: 'dns-01' });
    const { dnsRecords } = (await enable()).customTracking as State;
    expect(dnsRecords.dcvDelegation.required).toBe(true);
    dns.set(hostname, 'CNAME', [target]);
    const state = await recheck();
    expect(state.certificate.reason?.code).toBe('dns-missing');
    const { name, value } = dnsRecords.dcvDelegation;
    expect(state.verificationErrors[0]).toContain(`publish ${name} CNAME ${value}`);
  });

  it('forbidden by CAA is not ordered, gives the reason, and is ordered once allowed', async () => {
    const { dns, acme } = await begin();
    world.publish((await enable()).customTracking as State);
    dns.set('acme.example', 'CAA', [{ tag: 'issue', value: 'other.example' }]);
    await world.run();
    const blocked = await world.until(({ status }) => status === 'failed');
    expect(blocked).toMatchObject({ caaBlocked: true, sslStatus: 'failed' });
    expect(blocked.certificate.reason).toEqual({
      code: 'caa-forbids',
      message: 'the CAA record of acme.example lets "other.example" issue, not ca.test by http-01',
    });
    expect(acme.orders).toHaveLength(0);
    dns.set('acme.example', 'CAA', [{ tag: 'issue', value: 'ca.test' }]);
    await world.test.clock.advance(30_000);
    await recheck();
    const active = await world.until(({ status }) => status === 'active');
    expect(active.caaBlocked).toBe(false);
  });

  it('without an answer for its CAA records is not ordered', async () => {
    const { dns, acme } = await begin();
    world.publish((await enable()).customTracking as State);
    dns.fault('acme.example', 'servfail');
    await world.run();
    const state = await world.until(({ verificationErrors }) => verificationErrors.length > 0);
    expect(state.verificationErrors[0]).toContain('CAA acme.example');
    expect(acme.orders).toHaveLength(0);
  });

  it('with its record restored during a wait for the authority does not blame the record', async () => {
    const { dns, acme } = await begin();
    world.publish((await enable()).customTracking as State);
    acme.fault({ status: 429, retryAfter: '86400' }, '/new-order');
    await world.run();
    await world.until(({ status }) => status === 'failed');
    dns.fault(hostname, 'nxdomain');
    await world.test.clock.advance(30_000);
    expect(await recheck()).toMatchObject({ status: 'verifying', sslStatus: 'none' });
    dns.fault(hostname, undefined);
    const orders = acme.requests.length;
    await world.pass(10 * minute);
    expect(await world.state()).toMatchObject({
      status: 'failed',
      certificate: { reason: { code: 'rate-limited' } },
    });
    // A recheck does not shorten the wait.
    expect(await recheck()).toMatchObject({ status: 'failed' });
    await world.pass(10 * minute);
    expect(acme.requests).toHaveLength(orders);
  });

  it('is served for a week after disabling, then deleted with its key', async () => {
    const { test, domain } = await begin();
    world.publish((await enable()).customTracking as State);
    const { listeners } = await world.run();
    await world.until(({ status }) => status === 'active');
    expect((await hostRow()).certificate_key).not.toBeNull();
    await disable();
    await refreshActiveHosts(test.app);
    expect(activeHostOf(test.app, domain.id)).toBeNull();
    const ask = () => askPlain(listeners.httpPort ?? 0, '/t/o/x', { host: hostname });
    await world.leap(7 * day - hour);
    expect((await world.state()).status).toBe('tearing-down');
    expect((await ask()).status).toBe(200);
    await world.leap(2 * hour);
    expect(await world.state()).toMatchObject({
      status: 'disabled',
      sslStatus: 'none',
      teardownScheduledAt: null,
    });
    expect(await hostRow()).toMatchObject({ certificate: null, certificate_key: null });
    await refreshActiveHosts(test.app);
    expect((await ask()).status).toBe(404);
    await expect(recheck()).rejects.toThrow(/no custom tracking enabled/);
    await enable('other');
    expect((await world.state()).hostname).toBe('other.acme.example');
  });
});

describe('a proxy in front of the tracking host', () => {
  async function showing(cert: string, key: string, port = 0) {
    const server = createServer({ cert, key }, (socket) => socket.end());
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
    return { port: (server.address() as AddressInfo).port, close };
  }

  async function proxied(publicPort: number) {
    await begin({ withAcme: false, tracking: { https: { publicPort } } });
    world.publish((await enable()).customTracking as State);
  }

  it('is awaited while it shows nothing', async () => {
    await proxied(1);
    const state = await recheck();
    expect(state).toMatchObject({ status: 'issuing', sslStatus: 'pending' });
    expect(state.certificate.reason?.message).toContain('shows no certificate at port 1');
  });

  it('activates the host by a certificate of an authority, until that expires', async () => {
    const spare = await showing(testCert, testKey);
    const freePort = spare.port;
    await spare.close();
    await begin({
      withAcme: false,
      start: Date.now(),
      tracking: { https: { publicPort: freePort } },
    });
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, world.acme.root]);
    const good = await world.acme.signFor(hostname, 10 * day);
    let proxy = await showing(good.certificate, good.key, freePort);
    try {
      world.publish((await enable()).customTracking as State);
      const active = await recheck();
      expect(active).toMatchObject({ status: 'active', sslStatus: 'active' });
      expect(active.certificate.reason).toBeNull();
      await refreshActiveHosts(world.test.app);
      const { app } = world.test;
      expect(activeHostOf(app, world.domain.id)).toBe(`${hostname}:${freePort}`);
      // A certificate that expires today is checked again then, before tomorrow.
      const short = await world.acme.signFor(hostname, 10 * hour);
      await proxy.close();
      proxy = await showing(short.certificate, short.key, freePort);
      world.test.clock.set(world.test.clock.now() + minute);
      await recheck();
      const { next_check_at: next } = await hostRow();
      expect(Number(next) - world.test.clock.now()).toBeGreaterThan(9 * hour);
      expect(Number(next) - world.test.clock.now()).toBeLessThanOrEqual(10 * hour);
      await proxy.close();
      proxy = await showing(good.certificate, good.key, freePort);
      world.test.clock.set(world.test.clock.now() + 11 * day);
      expect(activeHostOf(app, world.domain.id)).toBeNull();
      expect(await recheck()).toMatchObject({
        status: 'failed',
        sslStatus: 'expired',
        certificate: { reason: { code: 'expired' } },
      });
      setDefaultCACertificates(before);
      world.test.clock.set(world.test.clock.now() - 10 * day);
      const untrusted = await recheck();
      expect(untrusted.certificate.reason).toMatchObject({ code: 'certificate-mismatch' });
      expect(untrusted.certificate.reason?.message).toContain('not trusted');
    } finally {
      setDefaultCACertificates(before);
      await proxy.close();
    }
  });

  it('does not serve with a certificate for another name', async () => {
    const proxy = await showing(testCert, testKey);
    await proxied(proxy.port);
    const state = await recheck();
    await proxy.close();
    expect(state).toMatchObject({ status: 'failed', sslStatus: 'failed' });
    expect(state.certificate.reason).toMatchObject({ code: 'certificate-mismatch' });
    expect(state.certificate.reason?.message).toContain(`not for ${hostname}: DNS:sink.test`);
    expect(world.acme.requests).toEqual([]);
  });
});
