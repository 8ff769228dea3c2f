// What DMARC says of a mail that comes by SMTP, and in which folder it lies then. A real listener, a real DNS server,
// and what a mailbox shows over HTTP.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/config/config.ts';
import { type RunningPipeline, send, startPipeline } from '../support/delivery.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { stores } from '../support/test-app.ts';
import { passingTime } from '../support/virtual-clock.ts';
import { inbox, threadAll, threadsOver } from '../threads/mails.ts';
import { deliver, type SmtpService, smtpService } from './smtp-service.ts';

const sender = 'bank@strict.example';
const mail = `From: Bank <${sender}>\r\nSubject: pay\r\n\r\nnow\r\n`;

describe.each(stores)('a mail by SMTP, on %s', (store) => {
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

  /** The reply to its last dot. */
  async function come(): Promise<string> {
    const answer = deliver(await service.session(), inbox, mail, sender);
    return passingTime(service.clock, answer, 50);
  }

  /** How many mails lie in each folder, where there are any. */
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

  it('that fails lies in spam where its domain asks for quarantine', async () => {
    await start('quarantine');
    expect(await come()).toMatch(/^250 /);
    expect(await folders()).toEqual({ spam: 1 });
  });

  it('that fails is refused with 550 5.7.1 where its domain asks for reject: there is no thread', async () => {
    await start('reject');
    expect(await come()).toMatch(/^550 5\.7\.1 /);
    expect(await folders()).toEqual({});
  });

  it('that fails lies in spam where reject is not enforced', async () => {
    await start('reject', { inbound: { enforceDmarc: false } });
    expect(await come()).toMatch(/^250 /);
    expect(await folders()).toEqual({ spam: 1 });
  });

  it('that cannot be checked under reject is put off twice, then lies in spam', async () => {
    dns.set('strict.example', 'TXT', ['v=spf1 include:silent.example -all']);
    dns.fault('silent.example', 'timeout');
    await start('reject');
    expect(await come()).toMatch(/^451 4\.7\.1 /);
    expect(await come()).toMatch(/^451 4\.7\.1 /);
    expect(await folders()).toEqual({});
    expect(await come()).toMatch(/^250 /);
    expect(await folders()).toEqual({ spam: 1 });
  });

  it('that cannot be checked under quarantine lies in inbox', async () => {
    dns.set('strict.example', 'TXT', ['v=spf1 include:silent.example -all']);
    dns.fault('silent.example', 'timeout');
    await start('quarantine');
    expect(await come()).toMatch(/^250 /);
    expect(await folders()).toEqual({ inbox: 1 });
  });

  it('that passes lies in inbox whatever is asked for, and one that fails where nothing is', async () => {
    await start('none');
    expect(await come()).toMatch(/^250 /);
    dns.set('strict.example', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
    dns.set('_dmarc.strict.example', 'TXT', ['v=DMARC1; p=reject']);
    // What was asked is known for an hour at most.
    await service.clock.advance(3_601_000);
    expect(await come()).toMatch(/^250 /);
    expect(await folders()).toEqual({ inbox: 2 });
  });

  it('of a gateway that is trusted lies in inbox, and nobody is asked', async () => {
    await start('reject', { inbound: { trustedNetworks: ['127.0.0.1'] } });
    expect(await come()).toMatch(/^250 /);
    expect(await folders()).toEqual({ inbox: 1 });
    expect(dns.queries).toEqual([]);
  });

  it('of our own lies in inbox, and nobody is asked', async () => {
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
