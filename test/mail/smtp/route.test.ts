import { describe, expect, it } from 'vitest';
import {
  createRouter,
  dependsOnAddress,
  type RouteConfig,
  routeKey,
} from '../../../src/mail/smtp/route.ts';
import { ConfigError } from '../../../src/platform/errors.ts';

const relay = {
  host: 'smarthost.test',
  port: 587,
  secure: false,
  requireTls: true,
  username: 'user',
  password: 'secret',
};
const noRelay = { ...relay, host: null, username: null, password: null };
const listener = { host: '127.0.0.1', port: 2525 };
const plain: RouteConfig = {
  mode: 'capture',
  relay: noRelay,
  direct: { port: 25, allowPrivateAddresses: false },
  routes: [],
  allow: [],
};
const localRoute = { kind: 'local', ...listener };
const relayRoute = { kind: 'relay', ...relay };

const ada = { organizationId: 'org_0', email: 'ada@shop.example' };

function routeOf(config: Partial<RouteConfig>, email: string, isLocal = false, sender = ada) {
  return createRouter({ ...plain, ...config }, listener, 'sandbox.test')(email, isLocal, sender);
}

describe('the route of a recipient', () => {
  it('in mode capture is capture, or our own listener for a local mailbox', () => {
    expect(routeOf({}, 'a@example.com')).toEqual({ kind: 'capture', by: 'delivery.mode' });
    expect(routeOf({}, 'inbox@sandbox.test', true)).toEqual(localRoute);
  });

  it('in mode relay is the smarthost, also for a local mailbox on a separate domain', () => {
    expect(routeOf({ mode: 'relay', relay }, 'a@example.com')).toEqual(relayRoute);
    expect(routeOf({ mode: 'relay', relay }, 'inbox@acme.example', true)).toEqual(relayRoute);
  });

  it("is our own listener for the service's own domain, in every mode", () => {
    const routes = [{ match: '*', via: 'relay', ...relay }] as const;
    for (const mode of ['relay', 'direct'] as const) {
      for (const config of [
        { mode, relay },
        { mode, relay, routes },
      ]) {
        expect(routeOf(config, 'Inbox@Sandbox.test')).toEqual(localRoute);
        expect(routeOf(config, 'inbox@sub.sandbox.test').kind).not.toBe('local');
      }
    }
    expect(routeOf({}, 'nobody@sandbox.test').kind).toBe('capture');
  });

  it('in mode direct is the MX of its domain', () => {
    expect(routeOf({ mode: 'direct' }, 'A@Example.com')).toEqual({
      kind: 'direct',
      domain: 'example.com',
      requireTls: false,
      port: 25,
      allowPrivateAddresses: false,
    });
  });

  it.each(['delivered', 'bounced', 'deferred', 'complained', 'opened'] as const)(
    'of %s@simulator.test is the simulator under any configuration',
    (outcome) => {
      const routes = [{ match: '*', via: 'direct' }] as const;
      for (const mode of ['capture', 'relay', 'direct'] as const) {
        const config = { mode, relay, routes, allow: ['only@example.com'] };
        expect(routeOf(config, `${outcome}@simulator.test`)).toEqual({
          kind: 'simulator',
          outcome,
        });
      }
    },
  );

  it('follows the first matching rule', () => {
    const other = { ...relay, host: 'other.test', port: 25 };
    const routes = [
      { match: 'example.com', via: 'capture' },
      { match: '*.example.com', via: 'relay', ...other },
      { match: '*.example.com', via: 'capture' },
      { match: '*', via: 'direct' },
    ] as const;
    const kinds = ['example.com', 'a.example.com', 'a.b.example.com', 'notexample.com'].map(
      (domain) => routeOf({ routes }, `x@${domain}`).kind,
    );
    expect(kinds).toEqual(['capture', 'relay', 'relay', 'direct']);
    expect(routeOf({ routes }, 'x@a.example.com')).toEqual({ kind: 'relay', ...other });
  });

  it('via relay without a host is delivery.relay with all its settings', () => {
    const routes = [{ match: 'example.com', via: 'relay', ...noRelay }] as const;
    expect(routeOf({ relay, routes }, 'x@example.com')).toEqual(relayRoute);
  });

  it('via capture still reaches a local mailbox', () => {
    const config = { mode: 'direct', routes: [{ match: '*', via: 'capture' }] } as const;
    expect(routeOf(config, 'inbox@sandbox.test', true)).toEqual(localRoute);
  });

  it('is capture for recipients that delivery.allow leaves out', () => {
    const allow = ['boss@example.com', 'team.test', '*.lab.test'];
    const kindOf = (email: string) => routeOf({ mode: 'direct', allow }, email).kind;
    expect(['Boss@example.com', 'x@team.test', 'x@a.lab.test'].map(kindOf)).toEqual([
      'direct',
      'direct',
      'direct',
    ]);
    expect(['x@example.com', 'x@sub.team.test', 'x@lab.test'].map(kindOf)).toEqual([
      'capture',
      'capture',
      'capture',
    ]);
    expect(routeOf({ mode: 'direct', allow }, 'inbox@sandbox.test', true)).toEqual(localRoute);
  });

  it('follows the sender too: domain, subdomains, address, organization; the first match wins', () => {
    const by = (host: string) => ({ via: 'relay' as const, ...relay, host });
    const routes = [
      { match: '*', from: 'billing@shop.example', ...by('billing') },
      { match: 'gmail.example', from: 'shop.example', ...by('gmail') },
      { match: '*', from: 'shop.example', ...by('shop') },
      { match: '*', from: '*.shop.example', ...by('news') },
      { match: '*', from: 'org_06dq2k0qz8h3v5m1', ...by('organization') },
    ];
    const hostFor = (email: string, to = 'bob@example.com', organizationId = 'org_1') => {
      const route = routeOf({ routes }, to, false, { organizationId, email });
      return route.kind === 'relay' ? route.host : route.kind;
    };
    expect(hostFor('billing@shop.example')).toBe('billing');
    expect(hostFor('Billing@Shop.Example')).toBe('billing');
    expect(hostFor('ada@shop.example', 'bob@gmail.example')).toBe('gmail');
    expect(hostFor('ada@shop.example')).toBe('shop');
    expect(hostFor('ada@news.shop.example')).toBe('news');
    expect(hostFor('ada@myshop.example')).toBe('capture');
    expect(hostFor('ada@other.example', 'bob@example.com', 'org_06dq2k0qz8h3v5m1')).toBe(
      'organization',
    );
    expect(dependsOnAddress({ routes })).toBe(true);
    expect(dependsOnAddress({ routes: routes.slice(1) })).toBe(false);
  });

  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
    ['127.0.0.2', '127.0.0.2'],
  ])('for a listener bound to %s leads to %s', (host, expected) => {
    const choose = createRouter(plain, { host, port: 2525 }, 'sandbox.test');
    expect(choose('inbox@sandbox.test', true, ada)).toEqual({
      kind: 'local',
      host: expected,
      port: 2525,
    });
  });

  it('via relay needs a host', () => {
    const rule = { match: '*', via: 'relay', ...noRelay } as const;
    expect(() => createRouter({ ...plain, mode: 'relay' }, listener, 'sandbox.test')).toThrow(
      ConfigError,
    );
    expect(() => createRouter({ ...plain, routes: [rule] }, listener, 'sandbox.test')).toThrow(
      /delivery\.relay\.host/,
    );
  });
});

it('recipients share a transaction by relay, and by domain in direct mode', () => {
  const keyOf = (config: Partial<RouteConfig>, email: string) => routeKey(routeOf(config, email));
  const direct = { mode: 'direct' } as const;
  expect(keyOf(direct, 'a@x.test')).toBe(keyOf(direct, 'b@x.test'));
  expect(keyOf(direct, 'a@x.test')).not.toBe(keyOf(direct, 'a@y.test'));
  expect(keyOf({ mode: 'relay', relay }, 'a@x.test')).toBe(
    keyOf({ mode: 'relay', relay }, 'a@y.test'),
  );
});
