// Servers that keep a client waiting: one organization's mail to them delays no other mail, and one
// such server holds few resources.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import type { Caller } from '../../src/core/api/route.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { getMessage } from '../../src/outbound/messages/messages.ts';
import { anotherOrganization } from '../outbound/queue/entries.ts';
import { burstOverMs, send } from '../support/delivery.ts';
import type { SinkReply, SinkVerb } from '../support/smtp-sink-script.ts';
import { type FaultWorld, startFaultWorld, waitedMs } from './fault-world.ts';

const minuteMs = 60_000;
const domains = 100;
const recipientsEach = 50;

/** Ways to keep a client waiting, none of them silent for long at every step. */
const traps: readonly (readonly [SinkVerb, SinkReply])[] = [
  ['connect', { hang: true }],
  ['connect', { dripMsPerByte: 5_000, text: `220-${'x'.repeat(200)}\r\n220 x\r\n` }],
  ['EHLO', { dripMsPerByte: 5_000, text: `250-${'x'.repeat(200)}\r\n250 x\r\n` }],
  ['RCPT', { dripMsPerByte: 5_000, text: '250 ok....\r\n' }],
];

let world: FaultWorld;
let small: Caller;
let tarpits: string[];

beforeEach(async () => {
  world = await startFaultWorld({ maxConnections: 100, retry: { scheduleMinutes: [1] } });
  const { app } = world.service;
  const { id } = await createOrganization(app, { name: 'small', plan: 'self-hosted' });
  small = operatorOf(id);
  const domain = await addDomain(app, small, { domain: 'small.example', dkim: 'ed25519' });
  await verifyDomain(app, small, domain.id, { force: true });
  tarpits = [];
  for (let index = 0; index < domains; index++) {
    const name = `tarpit${index}.test`;
    const mx = await world.startMx(`mx.${name}`);
    const [verb, reply] = traps[index % traps.length] ?? ['connect', { hang: true }];
    mx.on({ verb }, reply);
    world.dns.set(name, 'MX', [{ exchange: `mx.${name}`, preference: 1 }]);
    tarpits.push(name);
  }
});

afterEach(() => world.close());

/** Sends `messages` messages, each to 50 recipients at 50 of the tarpits. */
async function sendToTarpits(messages: number): Promise<void> {
  for (let number = 0; number < messages; number++) {
    const half = (number % 2) * recipientsEach;
    const to = tarpits.slice(half, half + recipientsEach).map((name) => `ada${number}@${name}`);
    await world.send(to);
  }
  await world.service.clock.advance(burstOverMs);
}

const openConnections = () => world.sockets.filter(({ destroyed }) => !destroyed).length;

async function inFlight(): Promise<number> {
  return (await world.service.app.metrics.inFlight.get()).values[0]?.value ?? 0;
}

/**
 * Measures the wait of another organization's mail from its acceptance, in ms; it has less than
 * `within`.
 */
async function otherWaits(within: number): Promise<number> {
  const { app } = world.service;
  const from = { email: 'a@small.example' };
  const { id } = await send(app, small, 'bob@good.test', { from });
  await world.pass(within - 1);
  const delivery = async () => (await getMessage(app, small, id)).deliveries[0];
  // The clock stands still: a busy machine may take its time to deliver.
  await expect.poll(async () => (await delivery())?.status).toBe('delivered');
  return waitedMs(await delivery());
}

it('100 tarpits of one organization delay other mail by less than a second, also at their retries', async () => {
  await sendToTarpits(10);
  await world.until(() => openConnections() >= 70);
  await world.pass(1_000);
  expect(await inFlight()).toBeGreaterThanOrEqual(280);
  const waits: number[] = [];
  for (let round = 0; round < 6; round++) {
    waits.push(await otherWaits(1_000));
    expect(openConnections()).toBeLessThanOrEqual(80);
    await world.pass(minuteMs / 2 + 1_000);
  }
  expect(Math.max(...waits)).toBeLessThan(1_000);
  // The retries ran meanwhile: the tarpits hold as many connections as they may again.
  expect(world.sockets.length).toBeGreaterThan(2 * recipientsEach * 5);
  expect(openConnections()).toBeGreaterThanOrEqual(60);
});

it('several organizations with tarpits leave places to the next', async () => {
  const { app } = world.service;
  const hogs: Caller[] = [];
  for (const name of ['hog1', 'hog2', 'hog3', 'hog4', 'hog5'])
    hogs.push(await anotherOrganization(app, name));
  for (const [index, hog] of hogs.entries()) {
    const to = tarpits.map((name) => `ada@${name}`);
    for (const half of [to.slice(0, recipientsEach), to.slice(recipientsEach)]) {
      for (let number = 0; number < 5; number++) {
        await send(app, hog, half, { from: { email: `hi@hog${index + 1}.test` } });
      }
    }
    await world.pass(1_000);
  }
  expect(await otherWaits(1_000)).toBeLessThan(1_000);
});
