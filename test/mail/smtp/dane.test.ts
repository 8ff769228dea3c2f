import { createHash, X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SmtpSinkOptions } from '../../support/smtp-sink.ts';
import { testCert, testKey } from '../../support/test-cert.ts';
import { authorityCert, forgedTls, lentTls, mxCert, mxTls } from './smtp-certificates.ts';
import { type MxHosts, mxHosts } from './smtp-mx-hosts.ts';

let hosts: MxHosts;

beforeEach(async () => {
  hosts = await mxHosts();
});

afterEach(async () => {
  await hosts.close();
});

const ad = { authenticated: true };
const selfSigned = { key: testKey, cert: testCert };

/** Computes the data of a TLSA record for a certificate. */
function tlsaValue(pem: string, selector: number, matchingType: number): Buffer {
  const certificate = new X509Certificate(pem);
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
  const selected = selector === 0 ? certificate.raw : spki;
  if (matchingType === 0) return selected;
  return createHash(matchingType === 1 ? 'sha256' : 'sha512')
    .update(selected)
    .digest();
}

function record(usage: number, selector: number, matchingType: number, pem: string) {
  return { usage, selector, matchingType, certificate: tlsaValue(pem, selector, matchingType) };
}

/** Starts mx1.test with these TLSA records, everything signed. */
async function startSigned(
  records: ReturnType<typeof record>[],
  options: SmtpSinkOptions = {},
  { name = 'mx1.test', mx = true, a = true, tlsa = true } = {},
) {
  const [sink] = await hosts.start(1, options);
  if (!sink) throw new Error('no sink');
  const { server } = hosts;
  server.set('example.test', 'MX', [{ exchange: name, preference: 1 }], { authenticated: mx });
  server.set(name, 'A', ['127.0.0.1'], { authenticated: a });
  server.set(`_${sink.port}._tcp.${name}`, 'TLSA', records, { authenticated: tlsa });
  return sink;
}

const selectors = [0, 1];
const matchingTypes = [0, 1, 2];
const shapes = selectors.flatMap((selector) =>
  matchingTypes.map((type) => [selector, type] as const),
);

describe('a server with a TLSA record', () => {
  it.each(shapes)('that is 3 %i %i of its certificate gets the mail', async (selector, type) => {
    const sink = await startSigned([record(3, selector, type, testCert)], { tls: selfSigned });
    const outcome = await hosts.deliver();
    expect(outcome).toMatchObject({ kind: 'sent', trace: { tls: expect.stringMatching(/^TLS/) } });
    expect(outcome.trace.transcript).toContain('proven by DANE');
    expect(sink.received).toBe(1);
  });

  it.each(shapes)('that is 2 %i %i of its authority gets the mail', async (selector, type) => {
    const sink = await startSigned([record(2, selector, type, authorityCert)]);
    expect(await hosts.deliver()).toMatchObject({ kind: 'sent' });
    expect(sink.received).toBe(1);
  });

  it('that stands among mismatches gets the mail', async () => {
    await startSigned([
      record(3, 1, 1, authorityCert),
      record(1, 0, 0, mxCert),
      record(3, 1, 1, mxCert),
    ]);
    expect(await hosts.deliver()).toMatchObject({ kind: 'sent' });
  });

  const mismatches: [string, ReturnType<typeof record>[], SmtpSinkOptions, string?][] = [
    ['names another certificate', [record(3, 1, 1, mxCert)], { tls: selfSigned }],
    ['names an authority that signed no certificate here', [record(2, 0, 1, testCert)], {}],
    ['has usage 2 and names the certificate itself', [record(2, 0, 1, mxCert)], {}],
    [
      'names an authority missing from the chain',
      [record(2, 0, 1, authorityCert)],
      { tls: { ...mxTls, cert: mxCert } },
    ],
    [
      'names an authority, for a certificate of another name',
      [record(2, 0, 1, authorityCert)],
      {},
      'mx7.test',
    ],
    [
      'names an authority that did not sign the certificate',
      [record(2, 0, 1, authorityCert)],
      { tls: forgedTls },
    ],
    [
      'names an authority, for a certificate signed by one of its leaves',
      [record(2, 0, 1, authorityCert)],
      { tls: lentTls },
    ],
    ['matches where STARTTLS is not offered', [record(3, 1, 1, mxCert)], { tls: false }],
  ];

  it.each(mismatches)('that %s gets no mail, not even in plaintext', async (...given) => {
    const [, records, options, name = 'mx1.test'] = given;
    const sink = await startSigned(records, options, { name });
    expect(await hosts.deliver()).toMatchObject({
      kind: 'deferred',
      errorCode: 'policy',
      reply: { enhancedCode: '4.7.5', verb: 'STARTTLS' },
    });
    expect(sink.commands.some(({ line }) => line.startsWith('MAIL'))).toBe(false);
    expect(sink.connections.total).toBe(1);
  });

  it('that names its authority gets no mail with an expired certificate', async () => {
    const sink = await startSigned([record(2, 0, 1, authorityCert)]);
    hosts.clock.set(Date.UTC(2121, 0));
    expect(await hosts.deliver()).toMatchObject({ kind: 'deferred', errorCode: 'policy' });
    expect(sink.received).toBe(0);
  });

  it('that names its certificate gets the mail under any date', async () => {
    const sink = await startSigned([record(3, 0, 1, mxCert)]);
    hosts.clock.set(Date.UTC(2121, 0));
    expect(await hosts.deliver()).toMatchObject({ kind: 'sent' });
    expect(sink.received).toBe(1);
  });

  it.each([
    ['usage 0', { ...record(3, 1, 1, testCert), usage: 0 }],
    ['usage 1', { ...record(3, 1, 1, testCert), usage: 1 }],
    ['an unknown selector', { ...record(3, 1, 1, testCert), selector: 2 }],
    ['an unknown matching type', { ...record(3, 1, 1, testCert), matchingType: 3 }],
    ['a hash of a wrong length', { ...record(3, 1, 1, testCert), certificate: Buffer.alloc(31) }],
  ])('that is unusable (%s) must offer TLS, proven or not', async (_name, unusable) => {
    const sink = await startSigned([unusable], { tls: selfSigned });
    expect(await hosts.deliver()).toMatchObject({
      kind: 'sent',
      trace: { tls: expect.any(String) },
    });
    sink.on({ verb: 'EHLO' }, ['250 mx1.test']);
    await hosts.clock.advance(20_000);
    expect(await hosts.deliver()).toMatchObject({ kind: 'deferred', errorCode: 'policy' });
    expect(sink.received).toBe(1);
  });
});

describe('TLSA records', () => {
  it.each([
    ['are unauthenticated', { tlsa: false }],
    ['belong to a host with an unauthenticated address', { a: false }],
    ['belong to a host named by an unauthenticated MX answer', { mx: false }],
  ])('that %s have no effect', async (_name, signed) => {
    const sink = await startSigned([record(3, 1, 1, mxCert)], { tls: false }, signed);
    expect(await hosts.deliver()).toMatchObject({ kind: 'sent', trace: { tls: null } });
    const asked = hosts.server.queries.some(({ type }) => type === 'TLSA');
    expect([sink.received, asked]).toEqual([1, 'tlsa' in signed]);
  });

  it.each(['servfail', 'refused', 'malformed'] as const)(
    'after a failed look-up (%s) exclude the host',
    async (fault) => {
      const sink = await startSigned([]);
      hosts.server.fault(`_${sink.port}._tcp.mx1.test`, fault);
      expect(await hosts.deliver()).toMatchObject({
        kind: 'deferred',
        errorCode: 'policy',
        reply: { enhancedCode: '4.7.5' },
      });
      expect(sink.connections.total).toBe(0);
    },
  );

  it('after a failed look-up for one host leave the next one to be tried', async () => {
    const [first, second] = await hosts.start(2);
    const { server } = hosts;
    const exchanges = ['mx1.test', 'mx2.test'];
    server.set(
      'example.test',
      'MX',
      exchanges.map((exchange, preference) => ({ exchange, preference })),
      ad,
    );
    server.set('mx1.test', 'A', ['127.0.0.1'], ad);
    server.fault(`_${first?.port}._tcp.mx1.test`, 'servfail');
    expect(await hosts.deliver()).toMatchObject({ kind: 'sent', trace: { host: 'mx2.test' } });
    expect([first?.connections.total, second?.received]).toEqual([0, 1]);
  });

  it('apply to the domain itself without an MX', async () => {
    const [sink] = await hosts.start(1, { tls: selfSigned });
    hosts.server.set('bare.test', 'A', ['127.0.0.1'], ad);
    hosts.server.set(`_${sink?.port}._tcp.bare.test`, 'TLSA', [record(3, 1, 1, mxCert)], ad);
    expect(await hosts.deliver({ domain: 'bare.test' })).toMatchObject({ errorCode: 'policy' });
    expect(sink?.received).toBe(0);
  });

  it('are looked up at the end of the host’s CNAMEs first', async () => {
    const sink = await startSigned(
      [record(3, 1, 1, mxCert)],
      { tls: selfSigned },
      { name: 'a.test' },
    );
    hosts.server.set('alias.test', 'CNAME', ['a.test'], ad);
    hosts.server.set('example.test', 'MX', [{ exchange: 'alias.test', preference: 1 }], ad);
    expect(await hosts.deliver()).toMatchObject({ errorCode: 'policy' });
    hosts.server.set(`_${sink.port}._tcp.a.test`, 'TLSA', [record(3, 1, 1, testCert)], ad);
    await hosts.clock.advance(301_000);
    expect(await hosts.deliver()).toMatchObject({ kind: 'sent', trace: { host: 'alias.test' } });
    // The client asks the server for the name that holds its records (RFC 7672 8.1).
    expect(sink.messages.map(({ serverName }) => serverName)).toEqual(['a.test']);
  });

  it('take precedence over MTA-STS, with or without a policy', async () => {
    const { server, policyHost } = hosts;
    await startSigned([record(3, 1, 1, testCert)], { tls: selfSigned });
    server.set('_mta-sts.example.test', 'TXT', ['v=STSv1; id=1']);
    server.set('mta-sts.example.test', 'A', ['127.0.0.1']);
    policyHost.answer('version: STSv1\nmode: enforce\nmx: mx9.test\nmax_age: 86400\n');
    expect(await hosts.deliver()).toMatchObject({ kind: 'sent' });
  });

  it('take effect after a change at the next session, without reuse of an old one', async () => {
    const sink = await startSigned([record(3, 1, 1, mxCert)]);
    await hosts.deliver();
    await hosts.deliver();
    expect(sink.connections.total).toBe(1);
    hosts.server.set(`_${sink.port}._tcp.mx1.test`, 'TLSA', [record(3, 1, 1, testCert)], ad);
    await hosts.clock.advance(301_000);
    expect(await hosts.deliver()).toMatchObject({ kind: 'deferred', errorCode: 'policy' });
  });
});
