// SPF, DKIM and DMARC of a mail before its acceptance. The address of the client is a parameter,
// because every real one here is loopback. DNS is a real server.
import { createPrivateKey } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/core/config/config.ts';
import { receive } from '../../src/inbox/receiving/receive.ts';
import { type Addressee, resolveAddressee } from '../../src/inbox/receiving/resolve.ts';
import { compose } from '../../src/mail/mime/composer.ts';
import { dkimRecordValue, generateDkimKey } from '../../src/mail/mime/dkim/dkim-key.ts';
import { signatureFields, signNow } from '../../src/mail/mime/dkim/sign.ts';
import { getEmailProjection } from '../../src/outbound/messages/lists/email-projection.ts';
import { messageBytes, plainInput } from '../mail/mime/compose-corpus.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { passingTime } from '../support/virtual-clock.ts';
import { inbound } from './smtp-service.ts';

const publicAddress = '8.8.4.4';
const forged = Buffer.from('From: Bank <bank@strict.example>\r\nSubject: pay\r\n\r\nnow\r\n');

let dns: DnsServer;
let test: TestApp;
/** Loads mailauth before virtual time starts. */
beforeAll(() => Promise.all([import('mailauth'), import('mailauth/lib/spf/syntax.js')]));
beforeEach(async () => {
  dns = await startDnsServer();
  dns.set('_dmarc.strict.example', 'TXT', ['v=DMARC1; p=reject; adkim=s; aspf=s']);
  dns.set('strict.example', 'TXT', ['v=spf1 -all']);
});
afterEach(async () => {
  await test.close();
  await dns.close();
});

async function start(config: ConfigInput = {}): Promise<void> {
  test = await testApp({ config: { ...config, dns: { servers: [dns.address] } } });
}

async function receiveFrom(remoteAddress: string, raw: Buffer, mailFrom = 'bank@strict.example') {
  const { app } = test;
  const inbox = (await resolveAddressee(app, 'inbox@sandbox.test')) as Addressee;
  return receive(
    app,
    {
      mailFrom,
      addressees: [inbox],
      remoteAddress,
      helo: 'mail.strict.example',
      tls: false,
      protocol: 'ESMTP',
      id: 'session.1',
    },
    raw,
  );
}

async function verdicts() {
  const [message] = await inbound(test.app, test.caller);
  const projection = await getEmailProjection(test.app, test.caller, message?.id ?? '', {});
  const { spfVerdict, dkimVerdict, dmarcVerdict } = projection;
  return { spfVerdict, dkimVerdict, dmarcVerdict };
}

describe('a mail that fails DMARC under a policy of reject', () => {
  it('is refused with 550 5.7.1 and not stored', async () => {
    await start();
    expect(await receiveFrom(publicAddress, forged)).toMatchObject({
      kind: 'refused',
      code: 550,
      enhancedCode: '5.7.1',
    });
    expect(await inbound(test.app, test.caller)).toEqual([]);
  });

  it.each([
    ['a second author', 'From: <x@forger.example>\r\n'],
    ['a header beyond its bound', 'X: y\r\n'.repeat(50_000)],
  ])('is refused behind %s too', async (_, lines) => {
    await start();
    const first = 'From: Bank <bank@strict.example>\r\n';
    const raw = Buffer.from(`${first}${lines}Subject: pay\r\n\r\nnow\r\n`);
    expect(await receiveFrom(publicAddress, raw)).toMatchObject({ kind: 'refused', code: 550 });
    expect(await inbound(test.app, test.caller)).toEqual([]);
  });

  it('is stored with its verdicts while smtp.inbound.enforceDmarc is off', async () => {
    await start({ smtp: { inbound: { enforceDmarc: false } } });
    expect(await receiveFrom(publicAddress, forged)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toEqual({
      spfVerdict: 'fail',
      dkimVerdict: 'none',
      dmarcVerdict: 'fail',
    });
  });

  it('is stored under a policy of quarantine', async () => {
    dns.set('_dmarc.strict.example', 'TXT', ['v=DMARC1; p=quarantine']);
    await start();
    expect(await receiveFrom(publicAddress, forged)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toMatchObject({ dmarcVerdict: 'fail' });
  });
});

describe('a mail signed by its domain', () => {
  it('passes DMARC by DKIM though SPF fails', async () => {
    const { privateKeyPem, publicKey } = await generateDkimKey('ed25519-sha256');
    const record = dkimRecordValue('ed25519-sha256', publicKey);
    dns.set('s1._domainkey.strict.example', 'TXT', [record]);
    await start();
    const key = {
      domain: 'strict.example',
      selector: 's1',
      algorithm: 'ed25519-sha256',
      privateKey: createPrivateKey(privateKeyPem),
    } as const;
    const from = { email: 'bank@strict.example', name: null };
    const composed = await compose({ ...plainInput, from });
    const timestampSeconds = Math.floor(test.app.clock.now() / 1000);
    const header = await signatureFields(composed, [key], timestampSeconds, signNow);
    const raw = messageBytes(composed, header);
    expect(await receiveFrom(publicAddress, raw)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toEqual({
      spfVerdict: 'fail',
      dkimVerdict: 'pass',
      dmarcVerdict: 'pass',
    });
  });
});

describe('a mail with an open DMARC check', () => {
  /** Receives as `receiveFrom` does, while time passes. */
  const receive = (remoteAddress: string, raw = forged, mailFrom?: string) =>
    passingTime(test.clock, receiveFrom(remoteAddress, raw, mailFrom), 50);
  const later = { kind: 'refused', code: 451, enhancedCode: '4.7.1', domain: 'strict.example' };

  beforeEach(() => {
    dns.set('strict.example', 'TXT', ['v=spf1 include:silent.example -all']);
    dns.fault('silent.example', 'timeout');
  });

  it('is deferred twice within an hour under reject, then accepted', async () => {
    await start();
    expect(await receive(publicAddress)).toMatchObject(later);
    expect(await receive(publicAddress)).toMatchObject(later);
    expect(await inbound(test.app, test.caller)).toEqual([]);
    expect(await receive(publicAddress)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toEqual({
      spfVerdict: 'temperror',
      dkimVerdict: 'none',
      dmarcVerdict: 'temperror',
    });
    await test.clock.advance(3_600_000);
    expect(await receive(publicAddress)).toMatchObject(later);
  });

  it('is counted by client and domain', async () => {
    await start();
    for (const _ of [1, 2]) await receive('2001:db8:1:2::1');
    expect(await receive('2001:db8:1:2::9')).toMatchObject({ kind: 'stored' });
    expect(await receive('2001:db8:1:3::1')).toMatchObject(later);
    dns.set('other.example', 'TXT', ['v=spf1 include:silent.example -all']);
    dns.set('_dmarc.other.example', 'TXT', ['v=DMARC1; p=reject']);
    const other = Buffer.from(forged.toString().replace('strict.example', 'other.example'));
    const answer = await receive('2001:db8:1:2::1', other, 'bank@other.example');
    expect(answer).toMatchObject({ ...later, domain: 'other.example' });
  });

  it('is refused for good when only the SPF of another domain is open', async () => {
    dns.set('forger.example', 'TXT', ['v=spf1 include:silent.example -all']);
    await start();
    const answer = await receive(publicAddress, forged, 'x@forger.example');
    expect(answer).toMatchObject({ kind: 'refused', code: 550, enhancedCode: '5.7.1' });
  });

  it('is refused for good once SPF can be read', async () => {
    await start();
    expect(await receive(publicAddress)).toMatchObject(later);
    dns.fault('silent.example', undefined);
    dns.set('silent.example', 'TXT', ['v=spf1 -all']);
    expect(await receive(publicAddress)).toMatchObject({ kind: 'refused', code: 550 });
  });

  it.each<[string, ConfigInput, string[]]>([
    ['smtp.inbound.enforceDmarc is off', { smtp: { inbound: { enforceDmarc: false } } }, []],
    ['the policy is quarantine', {}, ['v=DMARC1; p=quarantine']],
    ['the policy is none', {}, ['v=DMARC1; p=none']],
    ['the policy is being tested', {}, ['v=DMARC1; p=reject; t=y']],
  ])('is accepted where %s', async (_, config, policy) => {
    if (policy.length > 0) dns.set('_dmarc.strict.example', 'TXT', policy);
    await start(config);
    expect(await receive(publicAddress)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toMatchObject({ dmarcVerdict: 'temperror' });
  });

  it.each(['timeout', 'servfail', 'refused', 'malformed'] as const)(
    'is accepted when the policy cannot be read (%s)',
    async (fault) => {
      dns.fault('_dmarc.strict.example', fault);
      await start();
      expect(await receive(publicAddress)).toMatchObject({ kind: 'stored' });
      expect(await verdicts()).toMatchObject({ dmarcVerdict: 'temperror' });
    },
  );
});

describe('the checks', () => {
  it('end at silent DNS after one look-up, without a refusal', async () => {
    await start();
    dns.fault('_dmarc.strict.example', 'timeout');
    dns.fault('strict.example', 'timeout');
    const result = receiveFrom(publicAddress, forged);
    // Virtual time passes from the first query on; the rest takes real time.
    await expect.poll(() => dns.queries.length).toBeGreaterThan(1);
    await test.clock.advance(1_500);
    expect(await result).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toMatchObject({ dmarcVerdict: 'temperror' });
  });

  const own = ['127.0.0.1', '::1', '10.1.2.3', '192.168.1.1', 'fd00::1'];

  it.each(own)('include clients of this machine or network: %s', async (address) => {
    await start();
    expect(await receiveFrom(address, forged)).toMatchObject({ kind: 'refused', code: 550 });
  });

  it.each(own)('leave out a gateway of smtp.inbound.trustedNetworks: %s', async (address) => {
    const trustedNetworks = ['127.0.0.0/8', '::1', '10.1.0.0/16', '192.168.1.1', 'fd00::/8'];
    await start({ smtp: { inbound: { trustedNetworks } } });
    expect(await receiveFrom(address, forged)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toEqual({ spfVerdict: null, dkimVerdict: null, dmarcVerdict: null });
    expect(dns.queries).toEqual([]);
    expect(await receiveFrom('10.2.0.1', forged)).toMatchObject({ kind: 'refused', code: 550 });
  });
});
