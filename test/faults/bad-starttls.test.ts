// A mail host with STARTTLS refused, broken or stripped. Without a demand for TLS the mail is sent
// in plain text; when the domain's DANE records demand TLS, not a byte of it is sent in plain text.
import { createHash, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SmtpSink, SmtpSinkOptions } from '../support/smtp-sink.ts';
import type { SinkReply, SinkVerb } from '../support/smtp-sink-script.ts';
import { testCert } from '../support/test-cert.ts';
import { type Delivery, type FaultWorld, firstAttemptsMs, startFaultWorld } from './fault-world.ts';

interface Fault {
  name: string;
  verb?: SinkVerb;
  reply?: SinkReply;
  options?: SmtpSinkOptions;
  /** Lies before the handshake: no plain text even without a demand for TLS. */
  isAttack?: true;
}

const faults: Fault[] = [
  { name: 'is not offered', options: { tls: false } },
  { name: 'is stripped from EHLO', verb: 'EHLO', reply: ['250-mx', '250 PIPELINING'] },
  { name: 'is masked in EHLO', verb: 'EHLO', reply: ['250-mx', '250 XXXXXXXX'] },
  { name: 'comes without EHLO', verb: 'EHLO', reply: '502 5.5.1 what?' },
  { name: 'is refused for now', verb: 'STARTTLS', reply: '454 4.7.0 not now' },
  { name: 'is refused for good', verb: 'STARTTLS', reply: '502 5.5.1 no TLS here' },
  { name: 'is answered by 421', verb: 'STARTTLS', reply: '421 4.7.0 no' },
  { name: 'is answered by 250', verb: 'STARTTLS', reply: '250 ok' },
  { name: 'closes the connection', verb: 'STARTTLS', reply: { drop: true } },
  { name: 'resets the connection', verb: 'STARTTLS', reply: { reset: true } },
  { name: 'hangs', verb: 'STARTTLS', reply: { hang: true } },
  {
    name: 'breaks in the handshake',
    options: { tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } },
  },
  {
    name: 'injects a reply',
    verb: 'STARTTLS',
    reply: { raw: '220 go\r\n250 ok\r\n' },
    isAttack: true,
  },
  { name: 'is answered by nonsense', verb: 'STARTTLS', reply: '999 what', isAttack: true },
  { name: 'floods', verb: 'STARTTLS', reply: { flood: 10_000_000 }, isAttack: true },
];

const all = faults.map((fault, index) => ({
  ...fault,
  plain: `plain${index}.test`,
  secure: `secure${index}.test`,
}));

const spki = new X509Certificate(testCert).publicKey.export({ type: 'spki', format: 'der' });
const certificate = createHash('sha256').update(spki).digest();
const tlsa = [{ usage: 3, selector: 1, matchingType: 1, certificate }];
const signed = { authenticated: true };

let world: FaultWorld;
const sinks = new Map<string, SmtpSink>();
let first: Map<string, Delivery>;
let last: Map<string, Delivery>;
const heardBefore = new Map<string, string[]>();

beforeAll(async () => {
  world = await startFaultWorld();
  const healing: (() => void)[] = [];
  const { dns, port } = world;
  for (const { verb, reply, options, plain, secure } of all) {
    for (const domain of [plain, secure]) {
      const sink = await world.startMx(`mx.${domain}`, { tls: {}, ...options });
      if (verb && reply) healing.push(sink.on({ verb }, reply));
      sinks.set(domain, sink);
    }
    dns.set(plain, 'MX', [{ exchange: `mx.${plain}`, preference: 1 }]);
    dns.set(secure, 'MX', [{ exchange: `mx.${secure}`, preference: 1 }], signed);
    dns.set(`mx.${secure}`, 'A', [sinks.get(secure)?.host ?? ''], signed);
    dns.set(`_${port}._tcp.mx.${secure}`, 'TLSA', tlsa, signed);
  }
  const ids = await world.sendToDomains(all.flatMap(({ plain, secure }) => [plain, secure]));
  await world.until(() => world.sockets.length >= ids.size);
  await world.pass(firstAttemptsMs);
  first = await world.firstDeliveries(ids);
  for (const { secure } of all) {
    heardBefore.set(secure, sinks.get(secure)?.commands.map(({ line }) => line) ?? []);
  }
  for (const heal of healing) heal();
  const canHeal = all.flatMap(({ options, plain, secure }) =>
    options ? [plain] : [plain, secure],
  );
  await world.passUntilOver(canHeal.map((domain) => ids.get(domain) ?? ''));
  last = await world.firstDeliveries(ids);
});

afterAll(() => world.close());

describe('an MX whose STARTTLS', () => {
  it.each(all)(
    '$name gets the mail in plain text without a demand for TLS',
    ({ plain, isAttack }) => {
      if (isAttack) {
        expect(first.get(plain)).toMatchObject({ status: 'processing', errorCode: 'protocol' });
      } else {
        expect(first.get(plain)).toMatchObject({ status: 'delivered', attempts: [{ tls: null }] });
      }
      expect(last.get(plain)?.status).toBe('delivered');
      expect(world.copies(`ada@${plain}`)).toHaveLength(1);
    },
  );

  it.each(all)('$name gets no command of the mail when DANE demands TLS', ({ secure }) => {
    expect(first.get(secure)).toMatchObject({ status: 'processing', attemptCount: 1 });
    expect(heardBefore.get(secure)?.filter((line) => /^(?:MAIL|RCPT|DATA)/.test(line))).toEqual([]);
  });

  it.each(all)('$name gets the mail over TLS once STARTTLS works', ({ secure, options }) => {
    const copies = world.copies(`ada@${secure}`);
    if (options) {
      expect([last.get(secure)?.status, copies.length]).toEqual(['processing', 0]);
    } else {
      expect(last.get(secure)?.status).toBe('delivered');
      expect(copies).toMatchObject([{ tls: true }]);
    }
  });
});
