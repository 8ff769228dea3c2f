// A DNS that fails, is silent, loops, truncates or lies. All cases run at once through one service:
// first against the bad DNS, then, once it is healed, to the end.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { DnsFault, DnsServer } from '../support/dns-server.ts';
import {
  type Delivery,
  type FaultWorld,
  firstAttemptsMs,
  startFaultWorld,
  waitedMs,
} from './fault-world.ts';

interface Fault {
  name: string;
  /** Breaks the DNS for `domain`, with the MX `mx`; returns a function that heals it. */
  break(dns: DnsServer, domain: string, mx: string): () => void;
  first: 'delivered' | 'deferred' | 'bounced' | 'failed';
  errorCode?: string;
}

const failing =
  (fault: DnsFault, of: 'domain' | 'mx') => (dns: DnsServer, domain: string, mx: string) => {
    const name = of === 'domain' ? domain : mx;
    dns.fault(name, fault);
    return () => dns.fault(name, undefined);
  };

const publishing = (exchanges: string[]) => (dns: DnsServer, domain: string, mx: string) => {
  const records = (names: string[]) =>
    names.map((exchange, preference) => ({ exchange, preference }));
  dns.set(domain, 'MX', records(exchanges.map((name) => (name === 'mx' ? mx : name))));
  return () => dns.set(domain, 'MX', records([mx]));
};

const manyNames = Array.from({ length: 199 }, (_, index) => `none${index}.gone.test`);

const faults: Fault[] = [
  ...(['servfail', 'refused', 'timeout', 'malformed', 'loop'] as const).flatMap(
    (fault): Fault[] => [
      {
        name: `${fault} for the domain`,
        break: failing(fault, 'domain'),
        first: 'deferred',
        errorCode: 'connection',
      },
      {
        name: `${fault} for the MX host`,
        break: failing(fault, 'mx'),
        first: 'deferred',
        errorCode: 'connection',
      },
    ],
  ),
  ...(['truncate', 'formerr', 'forged'] as const).flatMap((fault): Fault[] => [
    { name: `${fault} for the domain`, break: failing(fault, 'domain'), first: 'delivered' },
    { name: `${fault} for the MX host`, break: failing(fault, 'mx'), first: 'delivered' },
  ]),
  {
    name: 'NXDOMAIN for the domain',
    break: failing('nxdomain', 'domain'),
    first: 'deferred',
    errorCode: 'invalid-domain',
  },
  {
    name: 'NXDOMAIN for the MX host',
    break: failing('nxdomain', 'mx'),
    first: 'deferred',
    errorCode: 'invalid-domain',
  },
  { name: 'a null MX', break: publishing(['.']), first: 'bounced', errorCode: 'invalid-domain' },
  {
    name: 'an MX that is an address',
    break: publishing(['127.0.0.1']),
    first: 'bounced',
    errorCode: 'invalid-domain',
  },
  {
    name: 'an MX that is not a host name',
    break: publishing(['mx host.test']),
    first: 'bounced',
    errorCode: 'invalid-domain',
  },
  { name: 'a null MX among others', break: publishing(['.', 'mx']), first: 'delivered' },
  {
    name: '200 MX hosts, only the first of them working',
    break: publishing(['mx', ...manyNames]),
    first: 'delivered',
  },
  {
    name: '200 MX hosts that do not exist',
    break: publishing(manyNames),
    first: 'deferred',
    errorCode: 'invalid-domain',
  },
  {
    name: 'an MX that does not exist before one that does',
    break: publishing(['gone.test', 'mx']),
    first: 'delivered',
  },
  {
    name: 'an MX whose name cannot be looked up before one that works',
    break(dns, domain, mx) {
      dns.fault(`broken.${domain}`, 'servfail');
      return publishing([`broken.${domain}`, 'mx'])(dns, domain, mx);
    },
    first: 'delivered',
  },
  {
    name: 'an MX whose CNAME loops',
    break(dns, domain, mx) {
      dns.set(`one.${domain}`, 'CNAME', [`two.${domain}`]);
      dns.set(`two.${domain}`, 'CNAME', [`one.${domain}`]);
      return publishing([`one.${domain}`])(dns, domain, mx);
    },
    first: 'deferred',
    errorCode: 'connection',
  },
  {
    name: 'an MX that is an alias',
    break(dns, domain, mx) {
      dns.set(`alias.${domain}`, 'CNAME', [mx]);
      return publishing([`alias.${domain}`])(dns, domain, mx);
    },
    first: 'delivered',
  },
  {
    name: 'TLSA records that cannot be looked up, in a signed zone',
    break(dns, domain, mx) {
      const signed = { authenticated: true };
      dns.set(domain, 'MX', [{ exchange: mx, preference: 1 }], signed);
      dns.set(mx, 'A', [hostOf(mx)], signed);
      const name = `_${world.port}._tcp.${mx}`;
      dns.fault(name, 'servfail');
      return () => dns.fault(name, undefined);
    },
    first: 'deferred',
    errorCode: 'policy',
  },
  {
    name: 'SERVFAIL for the MTA-STS record',
    break: (dns, domain) => {
      dns.fault(`_mta-sts.${domain}`, 'servfail');
      return () => {};
    },
    first: 'delivered',
  },
];

const all = faults.map((fault, index) => ({ ...fault, domain: `dns${index}.test` }));
const addresses = new Map<string, string>();
const hostOf = (mx: string) => addresses.get(mx) ?? '';

let world: FaultWorld;
let firstAttempts: Map<string, Delivery>;
let ends: Map<string, Delivery>;

beforeAll(async () => {
  world = await startFaultWorld();
  const healing: (() => void)[] = [];
  for (const { domain, break: breakDns } of all) {
    const mx = `mx.${domain}`;
    addresses.set(mx, (await world.startMx(mx)).host);
    world.dns.set(domain, 'MX', [{ exchange: mx, preference: 1 }]);
    healing.push(breakDns(world.dns, domain, mx));
  }
  const ids = await world.sendToDomains([...all.map(({ domain }) => domain), 'good.test']);
  const asked = () => new Set(world.dns.queries.map(({ name }) => name));
  await world.until(() => all.every(({ domain }) => asked().has(domain)));
  await world.pass(firstAttemptsMs);
  firstAttempts = await world.firstDeliveries(ids);
  for (const heal of healing) heal();
  await world.passUntilOver(ids.values());
  ends = await world.firstDeliveries(ids);
});

afterAll(() => world.close());

const statusOf = {
  delivered: 'delivered',
  deferred: 'processing',
  bounced: 'bounced',
  failed: 'failed',
};

describe('a DNS with the fault', () => {
  it.each(all)('$name makes the first attempt $first', ({ domain, first, errorCode = null }) => {
    const delivery = firstAttempts.get(domain);
    expect(delivery).toMatchObject({ status: statusOf[first], errorCode, attemptCount: 1 });
    expect(delivery?.attempts[0]?.durationMs).toBeLessThanOrEqual(5 * 60_000);
  });

  it.each(all)(
    '$name loses and repeats nothing, and bounces only with a reason',
    ({ domain, first }) => {
      const isOver = first === 'bounced' || first === 'failed';
      expect(ends.get(domain)?.status).toBe(isOver ? statusOf[first] : 'delivered');
      expect(world.copies(`ada@${domain}`)).toHaveLength(isOver ? 0 : 1);
    },
  );
});

it('mail for other domains is delivered at once beside DNS faults', () => {
  const delivery = firstAttempts.get('good.test');
  expect(waitedMs(delivery)).toBeLessThan(1_000);
});

describe('a DNS that points to internal addresses', () => {
  let lied: FaultWorld;

  afterEach(() => lied.close());

  it.each(['127.0.0.1', '10.0.0.5', '169.254.169.254', '192.168.1.1', '0.0.0.0'])(
    'cannot make us dial %s: the delivery fails by policy',
    async (address) => {
      lied = await startFaultWorld({ direct: { port: 25 } });
      lied.dns.set('lie.test', 'MX', [{ exchange: 'mx.lie.test', preference: 1 }]);
      lied.dns.set('mx.lie.test', 'A', [address]);
      lied.dns.set('mx.lie.test', 'AAAA', ['::1', `::ffff:${address}`]);
      const id = await lied.send('ada@lie.test');
      await lied.pass(firstAttemptsMs);
      expect(await lied.deliveries(id)).toMatchObject([{ status: 'failed', errorCode: 'policy' }]);
      expect(lied.sockets).toHaveLength(0);
    },
  );
});
