// From `enable` to a certificate that a client accepts, against an authority that checks RFC 8555:
// both challenges, renewal, expiry, and a misbehaving authority.
import { once } from 'node:events';
import { get } from 'node:https';
import { connect } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import {
  activeHostOf,
  refreshActiveHosts,
} from '../../../../src/outbound/tracking/custom/active-hosts.ts';
import { disableTracking, enableTracking } from '../../../../src/outbound/tracking/custom/hosts.ts';
import { stores } from '../../../support/command.ts';
import type { WorldOptions } from './world.ts';
import { day, hostname, hour, minute, type TrackingWorld, trackingWorld } from './world.ts';

let world: TrackingWorld;
afterEach(() => world.close());

async function begin(options: WorldOptions = {}) {
  world = await trackingWorld(options);
  const { test, domain } = world;
  await enableTracking(test.app, test.operator, domain.id, { label: 'links' });
  world.publish(await world.state());
}

/** Makes a request over TLS like a mail program, with the certificate verified against the root. */
function fetchOver(port: number, path: string, host = hostname) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const where = { host: '127.0.0.1', port, path, servername: host, ca: world.acme.root };
    get({ ...where, headers: { host }, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    }).on('error', reject);
  });
}

/** Returns the certificate of the server without verifying it. */
async function shownAt(port: number, host = hostname) {
  await refreshActiveHosts(world.test.app);
  const options = { host: '127.0.0.1', port, servername: host, rejectUnauthorized: false };
  const socket = connect(options);
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  return certificate;
}

describe.each(stores)('a certificate on %s', (store) => {
  it.each(['http-01', 'dns-01'] as const)('is issued by %s and served', async (challenge) => {
    // OpenSSL uses the clock of the machine.
    await begin({ store, challenge, start: Date.now() });
    const { test, domain, acme } = world;
    const { listeners } = await world.run();
    const active = await world.until(({ status }) => status === 'active');
    expect(active).toMatchObject({
      sslStatus: 'active',
      certificate: { reason: null },
      caaBlocked: false,
      verificationErrors: [],
    });
    expect(acme.accounts).toMatchObject([{ contact: ['mailto:ops@host.example'] }]);
    expect(acme.orders).toMatchObject([{ hostname, status: 'valid' }]);
    const port = listeners.httpsPort ?? 0;
    await expect(shownAt(port, 'other.acme.example')).rejects.toThrow();
    expect(await fetchOver(port, '/t/o/token')).toEqual({
      status: 200,
      body: 'GET /t/o/token 127.0.0.1',
    });
    expect(activeHostOf(test.app, domain.id)).toBe(hostname);
  });
});

describe.each(stores)('a certificate with two daemons on %s', (store) => {
  it('is ordered by one and served by both', async () => {
    await begin({ store });
    const { test, acme } = world;
    const first = await world.run();
    const second = await world.run(await test.another());
    await world.until(({ status }) => status === 'active');
    await world.pass(10 * minute, 10_000);
    expect(acme.orders).toHaveLength(1);
    await refreshActiveHosts(second.app);
    const shown = await Promise.all(
      [first, second].map(({ listeners }) => shownAt(listeners.httpsPort ?? 0)),
    );
    expect(shown[0]?.fingerprint256).toBe(shown[1]?.fingerprint256);
  });

  it('does not revive a host disabled while the authority is silent', async () => {
    await begin({ store });
    const { test, acme, domain } = world;
    acme.fault('silent', '/new-order');
    await world.run();
    await expect.poll(() => acme.ignored).toBe(1);
    await disableTracking(test.app, test.operator, domain.id);
    await world.pass(5 * minute, 10_000);
    expect(acme.ignored).toBe(0);
    expect(await world.state()).toMatchObject({
      status: 'tearing-down',
      certificate: { reason: null },
    });
    expect(acme.requests.filter((path) => path === '/new-order')).toHaveLength(1);
  });
});

describe('a certificate', () => {
  it('is renewed after two thirds of its life by one order, and then served', async () => {
    await begin();
    const { acme } = world;
    const { listeners } = await world.run();
    await world.until(({ status }) => status === 'active');
    const first = await shownAt(listeners.httpsPort ?? 0);
    await world.leap(59 * day);
    expect(acme.orders).toHaveLength(1);
    const { expiresAt } = (await world.state()).certificate;
    await world.leap(3 * day);
    const renewed = await world.until(({ certificate }) => certificate.expiresAt !== expiresAt);
    expect(acme.orders).toHaveLength(2);
    expect(renewed).toMatchObject({ status: 'active', sslStatus: 'active' });
    const second = await shownAt(listeners.httpsPort ?? 0);
    expect(second?.serialNumber).not.toBe(first?.serialNumber);
    await world.leap(30 * day);
    expect(acme.orders).toHaveLength(2);
  });

  it('is served to its end when it cannot be renewed, and then expired', async () => {
    await begin({ acme: { lifeMs: 9 * day } });
    const { acme, test, domain } = world;
    await world.run();
    await world.until(({ status }) => status === 'active');
    acme.fault({ status: 503 });
    const asked = acme.requests.length;
    await world.leap(8 * day);
    const renewing = await world.state();
    expect(renewing).toMatchObject({ status: 'active', sslStatus: 'active' });
    expect(renewing.certificate.reason?.code).toBe('challenge-failed');
    expect(renewing.certificate.reason?.message).toContain('503');
    await world.leap(2 * day);
    const ended = await world.state();
    expect(ended).toMatchObject({ status: 'failed', sslStatus: 'expired' });
    expect(ended.certificate.reason?.code).toBe('expired');
    expect(activeHostOf(test.app, domain.id)).toBeNull();
    // Waits of 5 and 30 minutes, 2, 6 and then 24 hours: a few requests a day.
    expect(acme.requests.length - asked).toBeLessThan(15);
    acme.fault(undefined);
    await world.leap(day);
    const renewed = await world.until(({ status }) => status === 'active');
    expect(renewed.sslStatus).toBe('active');
  });

  it('for another name is not accepted for the host', async () => {
    await begin();
    world.acme.misissueFor('evil.example');
    await world.run();
    const failed = await world.until(({ status }) => status === 'failed');
    expect(failed.certificate.reason?.code).toBe('certificate-mismatch');
    expect(failed.sslStatus).toBe('failed');
  });

  it('is not ordered again by another daemon or after a restart', async () => {
    await begin();
    const { acme, test } = world;
    acme.decideNothing(true);
    const first = await world.run();
    await world.until(({ status }) => status === 'issuing');
    await world.pass(10_000, 1_000);
    await first.stop();
    acme.decideNothing(false);
    expect(acme.orders).toHaveLength(1);
    await world.run(await test.another());
    await world.run();
    await world.pass(minute, 1_000);
    expect(acme.orders).toHaveLength(1);
  });
});

describe('an authority', () => {
  /** Returns the first state after the fault, and the number of requests in the next hour. */
  async function trouble(fault: Parameters<TrackingWorld['acme']['fault']>[0], at?: string) {
    await begin();
    const { acme } = world;
    acme.fault(fault, at);
    await world.run();
    const state = await world.until(({ status }) => status === 'failed');
    const asked = acme.requests.length;
    await world.pass(hour, 10_000);
    return { state, asked: acme.requests.length - asked };
  }

  it.each([
    ['answers HTML', 'garbage', undefined, /other than ACME/],
    ['answers JSON of another kind', 'nonsense', undefined, /other than ACME/],
    ['answers orders with JSON of another kind', 'nonsense', '/new-order', /authority/],
    ['never answers', 'silent', undefined, /no complete answer within 20 s/],
    ['never answers an order', 'silent', '/new-order', /no complete answer within 20 s/],
    ['refuses every nonce', 'bad-nonce', '/new-order', /authority/],
    ['answers 500', { status: 500 }, undefined, /500/],
    ['refuses accounts', { status: 403, type: 'unauthorized' }, '/new-account', /unauthorized/],
  ] as const)(
    'that %s is recorded as the reason and asked ever more seldom',
    async (_what, fault, at, words) => {
      const { state, asked } = await trouble(fault, at);
      expect(state.certificate.reason?.code).toBe('challenge-failed');
      expect(state.certificate.reason?.message).toMatch(words);
      expect(state.sslStatus).toBe('failed');
      // Requests after 5 and after 30 minutes.
      expect(asked).toBeGreaterThan(0);
      expect(asked).toBeLessThan(25);
    },
  );

  it.each([
    [
      'https://inside.example',
      /inside\.example: leads to 127\.0\.0\.1 \(inside\.example\), which is not public/,
    ],
    [
      'http://inside.example',
      /named "http:\/\/inside\.example\/nonce", which is not an https:\/\/ address/,
    ],
  ])('that sends us to %s is not followed', async (base, words) => {
    await begin();
    world.dns.set('inside.example', 'A', ['127.0.0.1']);
    world.acme.sendElsewhere(base);
    await world.run();
    const { certificate } = await world.until(({ status }) => status === 'failed');
    expect(certificate.reason?.message).toMatch(words);
  });

  it('that answers 429 with Retry-After is not asked before then', async () => {
    await begin();
    const { acme, test } = world;
    acme.fault({ status: 429, retryAfter: String(6 * 3600), type: 'rateLimited' }, '/new-order');
    await world.run();
    const limited = await world.until(({ status }) => status === 'failed');
    expect(limited.certificate.reason?.code).toBe('rate-limited');
    const until = test.clock.now() + 6 * hour;
    expect(Date.parse(limited.certificate.nextCheckAt ?? '')).toBeGreaterThan(until - minute);
    const asked = acme.requests.length;
    await world.pass(5.9 * hour, minute);
    expect(acme.requests).toHaveLength(asked);
    acme.fault(undefined);
    await world.pass(hour, minute);
    expect(await world.state()).toMatchObject({ status: 'active' });
  });

  it('that finds no answer to its challenge is asked again later, with the reason recorded', async () => {
    await begin();
    const { acme } = world;
    const { listeners } = await world.run();
    await listeners.close(0);
    const failed = await world.until(({ status }) => status === 'failed');
    expect(failed.certificate.reason).toMatchObject({ code: 'challenge-failed' });
    expect(failed.certificate.reason?.message).toContain('found nothing');
    expect(acme.orders).toMatchObject([{ status: 'invalid' }]);
    await world.pass(4 * minute);
    expect(acme.orders).toHaveLength(1);
    await world.pass(3 * minute);
    expect(acme.orders).toHaveLength(2);
  });

  it('that does not decide is given up after ten minutes', async () => {
    await begin();
    const { acme } = world;
    acme.decideNothing(true);
    await world.run();
    await world.until(({ status }) => status === 'issuing');
    const asked = acme.requests.filter((path) => path.startsWith('/order/')).length;
    await world.pass(10 * minute, 1_000);
    const failed = await world.until(({ status }) => status === 'failed');
    expect(failed.certificate.reason?.message).toContain('did not decide within 10 minutes');
    const polls = acme.requests.filter((path) => path.startsWith('/order/')).length - asked;
    expect(polls).toBeLessThan(40);
  });
});
