// SPF, DKIM and DMARC of a mail before it is taken (contract 8). The client's address is given, not
// dialled from: on this machine every real one is loopback. Names are asked from a real DNS server.
import { createPrivateKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/config.ts';
import { dkimRecordValue, generateDkimKey } from '../../src/domains/dkim-key.ts';
import { type Destination, resolveDestination } from '../../src/inbound/destination.ts';
import { receive } from '../../src/inbound/receive.ts';
import { getEmailProjection } from '../../src/messages/email-projection.ts';
import { compose } from '../../src/outbound/compose/compose.ts';
import { signatureFields } from '../../src/outbound/compose/sign.ts';
import { signNow } from '../../src/outbound/compose/sign-text.ts';
import { messageBytes, plainInput } from '../outbound/compose-corpus.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { inbound } from './smtp-service.ts';

const publicAddress = '8.8.4.4';
const forged = Buffer.from('From: Bank <bank@strict.example>\r\nSubject: pay\r\n\r\nnow\r\n');

let dns: DnsServer;
let test: TestApp;
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

async function receiveFrom(remoteAddress: string, raw: Buffer) {
  const { app } = test;
  const inbox = (await resolveDestination(app, 'inbox@sandbox.test')) as Destination;
  return receive(
    app,
    {
      mailFrom: 'bank@strict.example',
      destinations: [inbox],
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

describe('a mail that fails DMARC of a domain that asks for reject', () => {
  it('is refused with 550 5.7.1, and nothing is kept', async () => {
    await start();
    expect(await receiveFrom(publicAddress, forged)).toMatchObject({
      kind: 'refused',
      code: 550,
      enhancedCode: '5.7.1',
    });
    expect(await inbound(test.app, test.caller)).toEqual([]);
  });

  it('is kept with its verdicts where smtp.inbound.enforceDmarc is off', async () => {
    await start({ smtp: { inbound: { enforceDmarc: false } } });
    expect(await receiveFrom(publicAddress, forged)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toEqual({
      spfVerdict: 'fail',
      dkimVerdict: 'none',
      dmarcVerdict: 'fail',
    });
  });

  it('is kept where the domain asks for quarantine only', async () => {
    dns.set('_dmarc.strict.example', 'TXT', ['v=DMARC1; p=quarantine']);
    await start();
    expect(await receiveFrom(publicAddress, forged)).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toMatchObject({ dmarcVerdict: 'fail' });
  });
});

describe('a mail that is signed by its domain', () => {
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

describe('the checks', () => {
  it('take five seconds at most: DNS that is silent refuses nothing', async () => {
    await start();
    dns.fault('_dmarc.strict.example', 'timeout');
    dns.fault('strict.example', 'timeout');
    const result = receiveFrom(publicAddress, forged);
    // Virtual time passes from the first question on; what is real besides takes the time it takes.
    await expect.poll(() => dns.queries.length).toBeGreaterThan(0);
    for (let passedMs = 0; passedMs < 5_500; passedMs += 500) await test.clock.advance(500);
    expect(await result).toMatchObject({ kind: 'stored' });
    expect(await verdicts()).toMatchObject({ dmarcVerdict: 'temperror' });
  });

  it.each(['127.0.0.1', '::1', '10.1.2.3', '192.168.1.1', 'fd00::1'])(
    'are left out for a client of this machine or network: %s',
    async (address) => {
      await start();
      expect(await receiveFrom(address, forged)).toMatchObject({ kind: 'stored' });
      expect(await verdicts()).toEqual({ spfVerdict: null, dkimVerdict: null, dmarcVerdict: null });
      expect(dns.queries).toEqual([]);
    },
  );
});
