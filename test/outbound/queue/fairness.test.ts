// The whole pipeline under one tenant's backlog: the single message of another does not wait behind
// it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { loadProviders } from '../../../src/mail/smtp/load-providers.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { claimMessages } from '../../../src/outbound/queue/claiming/claim.ts';
import { Lanes } from '../../../src/outbound/queue/lanes/lanes.ts';
import { Shares } from '../../../src/outbound/queue/lanes/shares.ts';
import { stores } from '../../support/command.ts';
import {
  burstOverMs,
  firstDelivery,
  type RunningPipeline,
  send,
  startPipeline,
} from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

describe.each(stores)('fair turns on %s', (store) => {
  let sink: SmtpSink;
  let service: TestApp;
  let pipeline: RunningPipeline;

  beforeEach(async () => {
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    service = await testApp({ store, config: { delivery: { mode: 'relay', relay } } });
  });
  afterEach(async () => {
    await pipeline.close();
    await service.close();
    await sink.close();
  });

  it('let one message of another organization leave among the first of a backlog of 600', async () => {
    const { app, caller } = service;
    const { id } = await createOrganization(app, { name: 'small', plan: 'self-hosted' });
    const small = operatorOf(id);
    const domain = await addDomain(app, small, { domain: 'small.example', dkim: 'ed25519' });
    await verifyDomain(app, small, domain.id, { force: true });
    await Promise.all(
      Array.from({ length: 600 }, (_, i) => send(app, caller, `user${i}@example.com`)),
    );
    const single = await send(app, small, 'one@example.com', {
      from: { email: 'a@small.example' },
    });
    await service.clock.advance(burstOverMs);
    pipeline = await startPipeline(app);
    await sink.waitFor(601, 15_000);
    await pipeline.idle();
    const place = sink.messages.findIndex(({ recipients }) => recipients[0] === 'one@example.com');
    // Behind the deliveries of the same claim at most, not behind the backlog.
    expect(place).toBeLessThan(200);
    expect((await getMessage(app, small, single.id)).status).toBe('sent');
  });

  it('give a latecomer the next room of a lane ahead of the backlog in it', async () => {
    const { app, caller } = service;
    const { id } = await createOrganization(app, { name: 'small', plan: 'self-hosted' });
    const small = operatorOf(id);
    const domain = await addDomain(app, small, { domain: 'small.example', dkim: 'ed25519' });
    await verifyDomain(app, small, domain.id, { force: true });
    const lanes = new Lanes(app.clock, app.random, loadProviders(null, 10));
    const choice = { lanes, shares: new Shares(app.clock), laneOf: () => 'relay', soleLane: null };
    const claim = async (limit: number) => {
      const options = { worker: 'wrk_test', leaseMs: 60_000, limit };
      const { messages } = await claimMessages(app, choice, options);
      return messages.flatMap(({ deliveries }) => deliveries);
    };
    await Promise.all(Array.from({ length: 80 }, (_, i) => send(app, caller, `u${i}@a.example`)));
    const first = await claim(100);
    expect(first).toHaveLength(8);
    await send(app, small, 'one@example.com', { from: { email: 'a@small.example' } });
    const claimed: string[] = [];
    for (const pair of [first.slice(0, 2), first.slice(2, 4)]) {
      for (const row of pair) lanes.ended('relay', row.id, 'taken');
      claimed.push(...(await claim(4)).map(({ email }) => email));
    }
    expect(claimed).toHaveLength(8);
    expect(claimed).toContain('one@example.com');
    pipeline = await startPipeline(app);
  });

  it('record a reason and a time for mail that waits in a full lane, then send it', async () => {
    const { app, caller } = service;
    sink.on({ verb: 'RCPT', times: 3 }, '421 4.7.28 rate limit exceeded, slow down');
    pipeline = await startPipeline(app);
    for (const name of ['first', 'other', 'third']) {
      await send(app, caller, `${name}@example.com`);
      await pipeline.idle();
    }
    const { id } = await send(app, caller, 'second@example.com');
    await pipeline.idle();
    const waiting = await firstDelivery(app, caller, id);
    expect(waiting).toMatchObject({
      attemptCount: 0,
      scheduling: { waitReason: 'provider-unavailable' },
    });
    expect(Date.parse(waiting.scheduling?.dueAt ?? '')).toBeGreaterThan(service.clock.now());
    expect(sink.received).toBe(0);
    await service.clock.advance(1_200);
    await sink.waitFor(1);
    await pipeline.idle();
    expect(sink.messages[0]?.recipients).toEqual(['second@example.com']);
    expect((await getMessage(app, caller, id)).status).toBe('sent');
  });
});
