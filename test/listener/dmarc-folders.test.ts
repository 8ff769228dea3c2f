// The folder of a mail received by SMTP, by its DMARC verdict. A real listener, a real DNS server,
// and the mailbox over HTTP.
import { sealMessage } from 'mailauth';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/core/config/config.ts';
import { dkimRecordValue, generateDkimKey } from '../../src/mail/mime/dkim/dkim-key.ts';
import { getEmailProjection } from '../../src/outbound/messages/lists/email-projection.ts';
import { inbox, threadAll, threadsOver } from '../inbox/threads/mails.ts';
import { stores } from '../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../support/delivery.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { passingTime } from '../support/virtual-clock.ts';
import { deliver, inbound, type SmtpService, smtpService } from './smtp-service.ts';

const sender = 'bank@strict.example';
const mail = `From: Bank <${sender}>\r\nSubject: pay\r\n\r\nnow\r\n`;

describe.each(stores)('the folder of a mail by DMARC, on %s', (store) => {
  let dns: DnsServer;
  let service: SmtpService;
  let api: HttpApi;
  beforeEach(async () => {
    dns = await startDnsServer({ 'strict.example': { TXT: ['v=spf1 -all'] } });
  });
  afterEach(async () => {
    await api.close();
    await service.close();
    await dns.close();
  });

  async function start(policy: string, smtp: ConfigInput['smtp'] = {}): Promise<void> {
    dns.set('_dmarc.strict.example', 'TXT', [`v=DMARC1; p=${policy}`]);
    const inbound = { trustedNetworks: [], ...smtp.inbound };
    const config = { dns: { servers: [dns.address] }, smtp: { inbound } };
    service = await smtpService({ store, config });
    api = httpApi(service);
  }

  /** Delivers the mail; returns the reply to its last dot. */
  async function deliverMail(raw = mail): Promise<string> {
    const answer = deliver(await service.session(), inbox, raw, sender);
    return passingTime(service.clock, answer, 50);
  }

  /** Counts the mails by folder. */
  async function folders(): Promise<Record<string, number>> {
    await threadAll(service.app);
    const threads = await threadsOver(service.app, api);
    const found: Record<string, number> = {};
    for (const folder of ['inbox', 'spam', 'trash', 'archive']) {
      const { items } = await threads.list(`?folder=${folder}`);
      const count = items.reduce((sum, { messageCount }) => sum + messageCount, 0);
      if (count > 0) found[folder] = count;
    }
    return found;
  }

  it('is spam after a failure under quarantine', async () => {
    await start('quarantine');
    expect(await deliverMail()).toMatch(/^250 /);
    expect(await folders()).toEqual({ spam: 1 });
  });

  it('does not exist after a failure under reject: the mail gets 550 5.7.1', async () => {
    await start('reject');
    expect(await deliverMail()).toMatch(/^550 5\.7\.1 /);
    expect(await folders()).toEqual({});
  });

  it('is spam after a failure under reject while it is not enforced', async () => {
    await start('reject', { inbound: { enforceDmarc: false } });
    expect(await deliverMail()).toMatch(/^250 /);
    expect(await folders()).toEqual({ spam: 1 });
  });

  it('is spam when the check stays open under reject, after two deferrals', async () => {
    dns.set('strict.example', 'TXT', ['v=spf1 include:silent.example -all']);
    dns.fault('silent.example', 'timeout');
    await start('reject');
    expect(await deliverMail()).toMatch(/^451 4\.7\.1 /);
    expect(await deliverMail()).toMatch(/^451 4\.7\.1 /);
    expect(await folders()).toEqual({});
    expect(await deliverMail()).toMatch(/^250 /);
    expect(await folders()).toEqual({ spam: 1 });
  });

  it('is inbox when the check stays open under quarantine', async () => {
    dns.set('strict.example', 'TXT', ['v=spf1 include:silent.example -all']);
    dns.fault('silent.example', 'timeout');
    await start('quarantine');
    expect(await deliverMail()).toMatch(/^250 /);
    expect(await folders()).toEqual({ inbox: 1 });
  });

  it('is inbox after a pass, and after a failure without a policy', async () => {
    await start('none');
    expect(await deliverMail()).toMatch(/^250 /);
    dns.set('strict.example', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
    dns.set('_dmarc.strict.example', 'TXT', ['v=DMARC1; p=reject']);
    // The old answers are cached for an hour at most.
    await service.clock.advance(3_601_000);
    expect(await deliverMail()).toMatch(/^250 /);
    expect(await folders()).toEqual({ inbox: 2 });
  });

  it.each([
    ['lists.example', /^250 /, { inbox: 1 }],
    ['stranger.example', /^550 5\.7\.1 /, {}],
  ])('is decided under reject by trust in the sealer %s', async (trusted, reply, found) => {
    const { privateKeyPem, publicKey } = await generateDkimKey('ed25519-sha256');
    const record = dkimRecordValue('ed25519-sha256', publicKey);
    dns.set('s1._domainkey.lists.example', 'TXT', [record]);
    const seal = await sealMessage(mail, {
      signingDomain: 'lists.example',
      selector: 's1',
      algorithm: 'ed25519-sha256',
      privateKey: privateKeyPem,
      authResults: 'lists.example; dmarc=pass header.from=strict.example',
      cv: 'none',
    });
    await start('reject', { inbound: { trustedSealers: [trusted] } });
    expect(await deliverMail(`${seal}${mail}`)).toMatch(reply);
    expect(await folders()).toEqual(found);
    const [stored] = await inbound(service.app, service.caller);
    if (!stored) return;
    const { arcVerdict, dmarcVerdict, authenticationResults } = await getEmailProjection(
      service.app,
      service.caller,
      stored.id,
      {},
    );
    expect([dmarcVerdict, arcVerdict]).toEqual(['fail', 'pass']);
    expect(authenticationResults).toMatch(/; arc=pass .*; dmarc=fail /);
  });

  it('is inbox for a trusted gateway, without a DNS query', async () => {
    await start('reject', { inbound: { trustedNetworks: ['127.0.0.1'] } });
    expect(await deliverMail()).toMatch(/^250 /);
    expect(await folders()).toEqual({ inbox: 1 });
    expect(dns.queries).toEqual([]);
  });

  it('is inbox for our own mail, without a DNS query', async () => {
    await start('reject');
    const { app, caller, clock } = service;
    const pipeline: RunningPipeline = await startPipeline(app, { localPort: service.port });
    try {
      await send(app, caller, [inbox]);
      await expect
        .poll(async () => {
          await clock.advance(100);
          return Object.keys(await folders());
        })
        .toEqual(['inbox']);
    } finally {
      await pipeline.close();
    }
    expect(dns.queries).toEqual([]);
  });
});
