// Two daemons over one PostgreSQL, stopped at the moments at which they could spoil each other's
// work: a lease in use, the ends of siblings, a manual pause during settlements.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  getOrganization,
  pauseOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { App } from '../../../src/core/app.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import { markWarned } from '../../../src/identity/reputation/health-queries.ts';
import type { Outcome } from '../../../src/mail/smtp/outcome.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { type ClaimedMessage, claimMessages } from '../../../src/outbound/queue/claiming/claim.ts';
import { createPipeline, type Pipeline } from '../../../src/outbound/queue/loop.ts';
import { type Settlement, settleAll } from '../../../src/outbound/queue/settling/settle.ts';
import { noLimits, send, timeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { heldWrite, someoneWaits } from '../messages/fixtures.ts';

let service: TestApp;
let app: App;
let other: App;
beforeEach(async () => {
  service = await testApp({ store: 'postgres' });
  app = service.app;
  other = await service.another();
});
afterEach(() => service.close());

function outcomeOf(kind: 'sent' | 'bounced'): Outcome {
  const { clock } = app;
  const trace = { host: null, address: null, tls: null, startedAt: clock.now(), durationMs: 1 };
  const told = { trace: { ...trace, transcript: '' } };
  const words = kind === 'sent' ? ([250, '2.0.0', 'OK'] as const) : ([550, '5.1.1', 'no'] as const);
  const [code, enhancedCode, text] = words;
  const reply = { code, enhancedCode, text, verb: 'RCPT' };
  return kind === 'sent'
    ? { kind, reply, ...told }
    : { kind, errorCode: 'invalid-recipient', reply, ...told };
}

function settlementsOf(claimed: ClaimedMessage, kind: 'sent' | 'bounced'): Settlement[] {
  const { message, deliveries } = claimed;
  return deliveries.map((delivery) => ({
    delivery,
    fromEmail: message.from_email,
    outcome: outcomeOf(kind),
    routeKind: 'direct',
    sentIsDelivered: true,
    aftermath: null,
    isSole: message.delivery_count === 1,
  }));
}

/** Returns the remaining lease of the only delivery in ms. */
async function leaseLeftMs(): Promise<number> {
  const query = sql<{ due: number }>`select due_at as due from deliveries`;
  return Number((await query.execute(app.store.db)).rows[0]?.due) - service.clock.now();
}

it('a lease outlives an attempt of 90 s beside a second daemon, and one copy is sent', async () => {
  const begun: string[] = [];
  const held = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  const pipelines: Pipeline[] = [];
  for (const [worker, daemon] of Object.entries({ wrk_a: app, wrk_b: other })) {
    const pipeline = createPipeline(daemon, {
      worker,
      choice: noLimits(daemon),
      async attempt(claimed, settle) {
        begun.push(worker);
        if (begun.length > 1) again.resolve();
        await held.promise;
        await settle(settlementsOf(claimed, 'sent'));
      },
    });
    await pipeline.start();
    pipelines.push(pipeline);
  }
  const { id } = await send(app, service.caller, 'ada@example.com');
  await expect.poll(() => begun.length).toBe(1);
  const idleOne = pipelines[begun[0] === 'wrk_a' ? 1 : 0];
  for (let second = 0; second < 90; second += 5) {
    await service.clock.advance(5_000);
    // The other daemon has polled and found nothing due.
    await Promise.race([idleOne?.idle(), again.promise]);
    expect([second, begun.length]).toEqual([second, 1]);
    // Renewed long before its end: the holder need not be faster than the other daemon.
    await expect.poll(leaseLeftMs).toBeGreaterThan(30_000);
  }
  held.resolve();
  await expect
    .poll(async () => (await getMessage(app, service.caller, id)).status)
    .toBe('delivered');
  for (const pipeline of pipelines) await pipeline.idle();
  expect(begun).toHaveLength(1);
  expect((await timeline(app, service.caller, id)).slice(-2)).toEqual([
    'sent:sent',
    'delivered:delivered',
  ]);
  for (const pipeline of pipelines) await pipeline.stop(0);
});

it('sibling deliveries settled by two daemons at once give the message the status of both', async () => {
  const { id } = await send(app, service.caller, ['ada@example.com', 'bob@example.com']);
  const claimBy = async (daemon: App, worker: string) => {
    const options = { worker, leaseMs: 60_000, limit: 1 };
    const [claimed] = (await claimMessages(daemon, noLimits(daemon), options)).messages;
    if (!claimed) throw new Error(`${worker} got nothing`);
    return claimed;
  };
  const one = await claimBy(app, 'wrk_a');
  const two = await claimBy(other, 'wrk_b');
  expect([one.deliveries.length, two.deliveries.length]).toEqual([1, 1]);
  const first = await heldWrite(app, (trx) =>
    settleAll(app, trx, 'wrk_a', settlementsOf(one, 'bounced')),
  );
  const second = other.store.write((trx) =>
    settleAll(other, trx, 'wrk_b', settlementsOf(two, 'sent')),
  );
  await someoneWaits(app, 'messages');
  await first.commit();
  await second;
  const message = await getMessage(app, service.caller, id);
  expect(message.recipients.map(({ status }) => status).sort()).toEqual(['bounced', 'delivered']);
  // The worst end; each daemon alone would have seen its own end and a message still under way.
  expect(message.status).toBe('bounced');
});

it('a manual pause during two pausing settlements is recorded once, with its reason', async () => {
  const { organizationId } = service.caller;
  const bad = [
    {
      organizationId,
      sender: null,
      fromDomain: 'sandbox.test',
      counts: { attempted: 200, hard_bounced: 100 },
    },
  ];
  // Stops both settlements before they pause.
  const third = await service.another();
  const held = await heldWrite(third, (trx) => markWarned(trx, organizationId, 1));
  const settled = [app, other].map((daemon) =>
    daemon.store.write((trx) => countHealth(daemon, trx, bad)),
  );
  await someoneWaits(app, 'health_reviews');
  await pauseOrganization(third, organizationId, { note: 'asked for by its owner' });
  await held.commit();
  await Promise.all(settled);
  expect(await getOrganization(app, organizationId)).toMatchObject({
    sendingStatus: 'paused',
    pauseReason: 'asked for by its owner',
  });
  const { items } = await listAudit(app, service.operator, { limit: 100 });
  expect(items.filter(({ action }) => action === 'organization.paused')).toMatchObject([
    { actor: { type: 'operator' }, details: { reason: 'asked for by its owner' } },
  ]);
});
