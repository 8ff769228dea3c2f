// Mail of ours that returns to our own listener skips the DNS checks; foreign mail under a return
// path of ours does not. Real sockets, a pipeline, and a real DNS server.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getEmailProjection } from '../../src/outbound/messages/lists/email-projection.ts';
import { getMessage } from '../../src/outbound/messages/messages.ts';
import { findMessageRow } from '../../src/outbound/messages/queries.ts';
import {
  beginOwnTransaction,
  isOwnTransaction,
} from '../../src/outbound/queue/attempting/own-transactions.ts';
import { readReturnPath } from '../../src/outbound/queue/attempting/return-path.ts';
import { type RunningPipeline, send, startPipeline } from '../support/delivery.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { addMailbox, deliver, inbound, type SmtpService, smtpService } from './smtp-service.ts';

const forged = 'From: Bank <bank@strict.example>\r\nSubject: pay\r\n\r\nnow\r\n';

let dns: DnsServer;
let service: SmtpService;
let pipeline: RunningPipeline;

beforeEach(async () => {
  dns = await startDnsServer({
    '_dmarc.strict.example': { TXT: ['v=DMARC1; p=reject'] },
    'strict.example': { TXT: ['v=spf1 -all'] },
  });
  service = await smtpService({
    config: { dns: { servers: [dns.address] }, smtp: { inbound: { trustedNetworks: [] } } },
  });
  pipeline = await startPipeline(service.app, { localPort: service.port });
});
afterEach(async () => {
  await pipeline.close();
  await service.close();
  await dns.close();
});

/** Sends a mail; returns its copy in the mailbox of the first recipient. */
async function sent(...to: [string, ...string[]]) {
  const { app, caller, clock } = service;
  const { id } = await send(app, caller, to);
  await expect
    .poll(async () => {
      await clock.advance(100);
      return (await getMessage(app, caller, id)).status;
    })
    .toBe('delivered');
  const [message] = await inbound(app, caller);
  const projection = await getEmailProjection(app, caller, message?.id ?? '', {});
  return { messageId: message?.id ?? '', projection };
}

/** Returns the return path of the newest inbound mail. */
async function returnPath(): Promise<string> {
  const [message] = await inbound(service.app, service.caller);
  const row = await findMessageRow(service.app.store.db, message?.id ?? '');
  return JSON.parse(row?.inbound_envelope ?? '{}').mailFrom;
}

describe('our own mail', () => {
  it('is accepted without a DNS query, with several recipients too', async () => {
    const { app, caller } = service;
    await addMailbox(app, caller, 'desk@sandbox.test');
    const { projection } = await sent('inbox@sandbox.test', 'desk@sandbox.test');
    expect(projection).toMatchObject({ dkimVerdict: null, spfVerdict: null, dmarcVerdict: null });
    expect(await returnPath()).toMatch(/^bounce\+/);
    expect(dns.queries).toEqual([]);
  });
});

describe('a return path of ours in foreign hands', () => {
  it('does not exempt the mail from its checks', async () => {
    await sent('inbox@sandbox.test');
    const stolen = await returnPath();
    expect(stolen).toMatch(/^bounce\+/);
    const reply = await deliver(await service.session(), 'inbox@sandbox.test', forged, stolen);
    expect(reply).toMatch(/^550 5\.7\.1 /);
    expect(await inbound(service.app, service.caller)).toHaveLength(1);
  });

  it('does not exempt mail to other recipients while ours is under way', async () => {
    const { app, caller } = service;
    await addMailbox(app, caller, 'desk@sandbox.test');
    await sent('inbox@sandbox.test');
    const stolen = await returnPath();
    const delivery = readReturnPath(app, stolen)?.deliveryId ?? '';
    const ended = Promise.withResolvers<void>();
    beginOwnTransaction(app, delivery, ['inbox@sandbox.test'], ended.promise);
    const dialogue = await service.session();
    const to = ['inbox@sandbox.test', 'desk@sandbox.test'];
    expect(await deliver(dialogue, to, forged, stolen)).toMatch(/^550 5\.7\.1 /);
    expect(await deliver(dialogue, 'inbox@sandbox.test', forged, stolen)).toMatch(/^250 /);
    ended.resolve();
    await ended.promise;
    expect(await deliver(dialogue, 'inbox@sandbox.test', forged, stolen)).toMatch(/^550 5\.7\.1 /);
  });

  it('is not accepted as ours with another token, no token or a null sender', async () => {
    const { app } = service;
    await sent('inbox@sandbox.test');
    const own = await returnPath();
    const forever = new Promise<void>(() => {});
    beginOwnTransaction(
      app,
      readReturnPath(app, own)?.deliveryId ?? '',
      ['inbox@sandbox.test'],
      forever,
    );
    const recipients = ['inbox@sandbox.test'];
    expect(isOwnTransaction(app, own, recipients)).toBe(true);
    for (const other of ['', 'bounce+@sandbox.test', own.replace('bounce+', 'bounce+x')]) {
      expect(isOwnTransaction(app, other, recipients)).toBe(false);
    }
  });
});
