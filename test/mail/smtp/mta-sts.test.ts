import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMtaSts, type MtaSts } from '../../../src/mail/smtp/mta-sts.ts';
import type { KeptPolicies } from '../../../src/mail/smtp/mta-sts-fetch.ts';
import type { SmtpSink } from '../../support/smtp-sink.ts';
import { testCert, testKey } from '../../support/test-cert.ts';
import { trustTestAuthority } from './smtp-certificates.ts';
import { type MxHosts, mxHosts } from './smtp-mx-hosts.ts';
import { until } from './smtp-session-dialogue.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

let hosts: MxHosts;
let sts: MtaSts;
const logged: string[] = [];
const log = {
  info: (facts: object) => logged.push(JSON.stringify(facts)),
  warn: (facts: object) => logged.push(JSON.stringify(facts)),
};

beforeAll(trustTestAuthority);

beforeEach(async () => {
  logged.length = 0;
  hosts = await mxHosts();
  const { dns, clock, connector } = hosts;
  sts = createMtaSts({ dns, clock, connector, log });
});

afterEach(async () => {
  sts.close();
  await hosts.close();
});

function policyText(mode: string, mx = ['mx1.test'], maxAgeSeconds = 604_800): string {
  const lines = ['version: STSv1', `mode: ${mode}`, ...mx.map((name) => `mx: ${name}`)];
  return `${[...lines, `max_age: ${maxAgeSeconds}`].join('\r\n')}\r\n`;
}

function publish(id: string, policy: Parameters<MxHosts['policyHost']['answer']>[0]): void {
  hosts.server.set('_mta-sts.example.test', 'TXT', [`v=STSv1; id=${id};`], { ttlSeconds: 60 });
  hosts.server.set('mta-sts.example.test', 'A', ['127.0.0.1']);
  hosts.policyHost.answer(policy);
}

const modeNow = async () => (await sts.policyOf('example.test', true))?.mode ?? null;

describe('the policy of a domain', () => {
  it('is fetched once, stored, and lists its hosts by name or one label of wildcard', async () => {
    publish('1', policyText('enforce', ['mx1.test', '*.Mail.test']));
    const policy = await sts.policyOf('example.test', true);
    const covered = ['mx1.test', 'a.mail.test', 'a.b.mail.test', 'mail.test', 'mx2.test'];
    expect(covered.map((name) => policy?.covers(name))).toEqual([true, true, false, false, false]);
    await hosts.clock.advance(60 * minuteMs);
    expect(await modeNow()).toBe('enforce');
    expect(hosts.policyHost).toMatchObject({ requests: 1, askedHost: 'mta-sts.example.test' });
  });

  it('is passed on for storing in a transferable form, and applies to the first message', async () => {
    const { dns, clock, connector } = hosts;
    const kept: unknown[] = [];
    const policies: KeptPolicies = {
      find: async () => null,
      keep: async (_domain, policy) => void kept.push(structuredClone(policy)),
    };
    sts.close();
    sts = createMtaSts({ dns, clock, connector, log, policies });
    const text = policyText('enforce');
    publish('1', text);
    expect(await modeNow()).toBe('enforce');
    const fetchedAt = clock.now();
    expect(kept).toEqual([{ id: '1', text, fetchedAt, expiresAt: fetchedAt + 604_800_000 }]);
  });

  it('is fetched once for concurrent messages', async () => {
    publish('1', policyText('enforce'));
    const modes = await Promise.all(Array.from({ length: 20 }, modeNow));
    expect(new Set(modes)).toEqual(new Set(['enforce']));
    expect(hosts.policyHost.requests).toBe(1);
  });

  it('is fetched again when the id changes', async () => {
    publish('1', policyText('enforce'));
    await modeNow();
    publish('2', policyText('testing'));
    await hosts.clock.advance(minuteMs);
    expect(await modeNow()).toBe('testing');
    expect(hosts.policyHost.requests).toBe(2);
  });

  it.each([
    ['the policy host fails', () => publish('2', (response) => response.writeHead(500).end())],
    ['the record is gone', () => hosts.server.set('_mta-sts.example.test', 'TXT', ['v=spf1'])],
    ['the DNS fails', () => hosts.server.fault('_mta-sts.example.test', 'servfail')],
    [
      'there are two records',
      () => {
        hosts.server.set('_mta-sts.example.test', 'TXT', ['v=STSv1; id=2', 'v=STSv1; id=3']);
      },
    ],
  ])('stays in force while %s, and until its max_age', async (_name, fail) => {
    publish('1', policyText('enforce', ['mx1.test'], 3_600));
    await modeNow();
    fail();
    await hosts.clock.advance(59 * minuteMs);
    expect(await modeNow()).toBe('enforce');
    await hosts.clock.advance(2 * minuteMs);
    expect(await modeNow()).toBeNull();
  });

  it('is fetched again in the background after half its age', async () => {
    publish('1', policyText('enforce', ['mx1.test'], 3_600));
    await modeNow();
    for (let count = 2; count <= 6; count += 1) {
      await hosts.clock.advance(31 * minuteMs);
      expect(await modeNow()).toBe('enforce');
      await until(() => hosts.policyHost.requests === count);
      await hosts.clock.advance(0);
    }
  });

  it('lasts a year at most and five minutes at least', async () => {
    publish('1', policyText('enforce', ['mx1.test'], 31_557_600));
    await modeNow();
    hosts.server.set('_mta-sts.example.test', 'TXT', []);
    await hosts.clock.advance(365 * dayMs);
    expect(await modeNow()).toBe('enforce');
    await hosts.clock.advance(dayMs);
    expect(await modeNow()).toBeNull();
    publish('2', policyText('enforce', ['mx1.test'], 0));
    await hosts.clock.advance(5 * minuteMs);
    expect(await modeNow()).toBe('enforce');
    expect(await modeNow()).toBe('enforce');
    expect(hosts.policyHost.requests).toBe(2);
  });

  it.each([
    [
      'a redirect to a valid policy',
      302,
      { location: 'https://mta-sts.example.test/other', 'content-type': 'text/plain' },
      policyText('enforce'),
    ],
    ['an error', 404, { 'content-type': 'text/plain' }, policyText('enforce')],
    ['another type', 200, { 'content-type': 'text/html' }, policyText('enforce')],
    [
      'more than 64 KB',
      200,
      { 'content-type': 'text/plain' },
      policyText('enforce').padEnd(70_000),
    ],
    [
      'more than 1,000 lines',
      200,
      { 'content-type': 'text/plain' },
      policyText('enforce', new Array<string>(1_100).fill('a.test')),
    ],
    [
      'no version',
      200,
      { 'content-type': 'text/plain' },
      'mode: enforce\nmx: a.test\nmax_age: 9\n',
    ],
    ['an unknown mode', 200, { 'content-type': 'text/plain' }, policyText('strict')],
    ['no mx', 200, { 'content-type': 'text/plain' }, policyText('enforce', [])],
  ] as const)('does not exist, and is not fetched again at once, after %s', async (...given) => {
    const [, status, headers, body] = given;
    publish('1', (response) => response.writeHead(status, headers).end(body));
    expect(await modeNow()).toBeNull();
    expect(await modeNow()).toBeNull();
    expect(hosts.policyHost.requests).toBe(1);
    expect(logged).toEqual([expect.stringContaining('"why":')]);
    await hosts.clock.advance(6 * minuteMs);
    publish('1', policyText('enforce'));
    expect(await modeNow()).toBe('enforce');
  });

  it('does not exist where the policy host drips for a minute', async () => {
    publish('1', (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('version: STSv1\n');
    });
    const pending = modeNow();
    await until(() => hosts.policyHost.requests === 1);
    await hosts.clock.advance(60_000);
    expect(await pending).toBeNull();
  });

  it('does not exist at a private address, unless those are allowed', async () => {
    publish('1', policyText('enforce'));
    expect(await sts.policyOf('example.test', false)).toBeNull();
    expect(hosts.policyHost.requests).toBe(0);
  });

  it.each(['', 'v=STSv1', 'v=STSv1; id=', 'v=STSv1; id=not/valid', 'V=stsv1; id=1'])(
    'does not exist for the record %j',
    async (record) => {
      publish('1', policyText('enforce'));
      hosts.server.set('_mta-sts.example.test', 'TXT', [record]);
      expect(await modeNow()).toBeNull();
      expect(hosts.policyHost.requests).toBe(0);
    },
  );
});

describe('the certificate of the policy host', () => {
  it.each([
    ['is not signed by a trusted authority', { key: testKey, cert: testCert }, 'example'],
    ['is for another name', undefined, 'other'],
  ])('that %s cancels the policy', async (_name, tls, name) => {
    await hosts.close();
    hosts = await mxHosts(tls);
    const { dns, clock, connector } = hosts;
    sts = createMtaSts({ dns, clock, connector, log });
    publish('1', policyText('enforce'));
    hosts.server.set('_mta-sts.other.test', 'TXT', ['v=STSv1; id=1']);
    hosts.server.set('mta-sts.other.test', 'A', ['127.0.0.1']);
    expect(await sts.policyOf(`${name}.test`, true)).toBeNull();
    expect(hosts.policyHost.requests).toBe(0);
  });
});

describe('the mode enforce', () => {
  it('delivers over TLS with a proven certificate', async () => {
    await hosts.start(1);
    publish('1', policyText('enforce'));
    const outcome = await hosts.deliver();
    expect(outcome).toMatchObject({
      kind: 'sent',
      trace: { tls: expect.stringMatching(/^TLSv1/) },
    });
    expect(outcome.trace.transcript).toContain('certificate proven');
  });

  it('skips unlisted hosts', async () => {
    const [first, second] = await hosts.start(2);
    publish('1', policyText('enforce', ['mx2.test']));
    const outcome = await hosts.deliver();
    expect(outcome).toMatchObject({ kind: 'sent', trace: { host: 'mx2.test' } });
    expect(outcome.trace.transcript).toContain('does not list the MX mx1.test');
    expect([first?.connections.total, second?.received]).toEqual([0, 1]);
  });

  it('defers by policy without a listed host', async () => {
    const [sink] = await hosts.start(1);
    publish('1', policyText('enforce', ['mx9.test']));
    expect(await hosts.deliver()).toMatchObject({
      kind: 'deferred',
      errorCode: 'policy',
      reply: { code: null, enhancedCode: '4.7.5', verb: 'dns' },
    });
    expect(sink?.connections.total).toBe(0);
  });

  // Cases in which the server tries to prevent TLS; it must receive no byte of the message.
  const downgrades: [string, (sink: SmtpSink) => void, object][] = [
    ['STARTTLS is not offered', () => {}, { tls: false }],
    ['STARTTLS is taken out of EHLO', (sink) => sink.on({ verb: 'EHLO' }, ['250 mx1.test']), {}],
    ['STARTTLS is refused', (sink) => sink.on({ verb: 'STARTTLS' }, '454 4.7.0 not now'), {}],
    ['STARTTLS is answered by 421', (sink) => sink.on({ verb: 'STARTTLS' }, '421 4.7.0 no'), {}],
    ['the connection drops', (sink) => sink.on({ verb: 'STARTTLS' }, { drop: true }), {}],
    [
      'the handshake fails',
      (sink) => sink.on({ verb: 'STARTTLS' }, { raw: '220 go\r\nno\r\n' }),
      {},
    ],
    ['EHLO is refused', (sink) => sink.on({ verb: 'EHLO' }, '502 5.5.1 what?'), {}],
    ['the certificate is self-signed', () => {}, { tls: { key: testKey, cert: testCert } }],
  ];

  it.each(downgrades)('tries the next host when %s, never in plaintext', async (...given) => {
    const [, downgrade, options] = given;
    const sinks = await hosts.start(2, options);
    for (const sink of sinks) downgrade(sink);
    publish('1', policyText('enforce', ['mx1.test', 'mx2.test']));
    expect(await hosts.deliver()).toMatchObject({ kind: 'deferred', trace: { host: 'mx2.test' } });
    for (const sink of sinks) {
      expect(sink.connections.total).toBe(1);
      expect(sink.received).toBe(0);
      expect(sink.commands.some(({ line }) => line.startsWith('MAIL'))).toBe(false);
    }
  });

  it('asks for a certificate of the MX’s own name', async () => {
    const [sink] = await hosts.start(1);
    hosts.server.set('example.test', 'MX', [{ exchange: 'mx3.test', preference: 1 }]);
    hosts.server.set('mx3.test', 'A', ['127.0.0.1']);
    publish('1', policyText('enforce', ['mx3.test']));
    const outcome = await hosts.deliver();
    expect(outcome).toMatchObject({ kind: 'deferred', errorCode: 'policy' });
    expect(outcome.reply.text).toMatch(/mx3\.test/);
    expect(sink?.received).toBe(0);
  });

  it('never reuses a session opened without its demands', async () => {
    const [sink] = await hosts.start(1);
    hosts.server.set('other.test', 'MX', [{ exchange: 'mx1.test', preference: 1 }]);
    publish('1', policyText('enforce'));
    await hosts.deliver({ domain: 'other.test' });
    await hosts.deliver();
    await hosts.deliver();
    await hosts.deliver({ domain: 'other.test' });
    expect(sink?.connections.total).toBe(2);
    expect(sink?.messages.map(({ sessionId }) => sessionId)).toEqual([1, 2, 2, 1]);
  });
});

it('mode testing delivers despite a mismatch and notes it in the transcript', async () => {
  const [sink] = await hosts.start(1, { tls: { key: testKey, cert: testCert } });
  publish('1', policyText('testing', ['mx9.test']));
  const outcome = await hosts.deliver();
  expect(outcome.kind).toBe('sent');
  expect(outcome.trace.transcript).toContain('(testing) does not list the MX mx1.test');
  expect(outcome.trace.transcript).toContain('certificate not proven');
  expect(sink?.received).toBe(1);
});

it('mode none demands nothing', async () => {
  await hosts.start(1, { tls: false });
  publish('1', policyText('none', []));
  expect(await hosts.deliver()).toMatchObject({ kind: 'sent', trace: { tls: null } });
});

it('an unavailable policy does not delay mail', async () => {
  await hosts.start(1, { tls: false });
  publish('1', (response) => response.destroy());
  expect(await hosts.deliver()).toMatchObject({ kind: 'sent', trace: { tls: null } });
});
