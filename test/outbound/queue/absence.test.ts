// Domains that do not exist in DNS, through the service in direct mode under a virtual clock.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { listBlocks } from '../../../src/people/blocks/blocks.ts';
import { type FaultWorld, startFaultWorld } from '../../faults/fault-world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const absences: [string, (world: FaultWorld) => void, string][] = [
  ['domain', () => {}, '5.1.2'],
  [
    'mail host',
    ({ dns }) => dns.set('gone.test', 'MX', [{ exchange: 'mx.gone.test', preference: 1 }]),
    '5.4.4',
  ],
];

describe.each(absences)('an absent %s', (_what, prepare, enhancedCode) => {
  let world: FaultWorld;
  beforeEach(async () => {
    world = await startFaultWorld({ retry: { scheduleMinutes: [1, 5, 15, 30, 60] } });
    prepare(world);
  });
  afterEach(() => world.close());

  const blocked = async () =>
    (await listBlocks(world.service.app, world.service.caller, { page: 1, limit: 10 })).items;

  it('defers the mail for an hour, then bounces it', async () => {
    const id = await world.send('ada@gone.test');
    await world.pass(hourMs - minuteMs);
    const [waiting] = await world.deliveries(id);
    expect(waiting).toMatchObject({ status: 'processing', errorCode: 'invalid-domain' });
    expect(waiting?.attemptCount).toBeGreaterThan(3);
    expect(await blocked()).toEqual([]);
    await world.pass(6 * minuteMs);
    const [ended] = await world.deliveries(id);
    expect(ended).toMatchObject({ status: 'bounced', errorCode: 'invalid-domain' });
    expect(ended?.attempts.at(-1)).toMatchObject({ enhancedCode, verb: 'dns' });
  });

  it('is explained as a wait meanwhile', async () => {
    const id = await world.send('ada@gone.test');
    await world.pass(minuteMs / 2);
    const { app, caller } = world.service;
    const [recipient] = (await explainMessage(app, caller, id)).recipients;
    expect(recipient?.happened).toContain('counts once it has stood for an hour');
    expect(recipient?.next).toContain('Attempt 2 follows');
  });

  it('that comes back gets the mail', async () => {
    const id = await world.send('ada@gone.test');
    await world.pass(30 * minuteMs);
    world.dns.set('gone.test', 'MX', [{ exchange: 'mx.good.test', preference: 1 }]);
    await world.pass(hourMs);
    expect(await world.deliveries(id)).toMatchObject([{ status: 'delivered' }]);
    expect(world.copies('ada@gone.test')).toHaveLength(1);
    expect(await blocked()).toEqual([]);
  });
});

it('a private address is explained as our own refusal, with the key that allows it', async () => {
  const world = await startFaultWorld({ direct: { port: 25 } });
  try {
    world.dns.set('lan.test', 'MX', [{ exchange: 'mx.lan.test', preference: 1 }]);
    world.dns.set('mx.lan.test', 'A', ['192.168.0.7']);
    const id = await world.send('ada@lan.test');
    await world.pass(minuteMs);
    const { app, caller } = world.service;
    const [recipient] = (await explainMessage(app, caller, id)).recipients;
    expect(recipient?.happened).toBe(
      'It was not sent: its server has a private address, to which the service itself delivers no mail.',
    );
    expect(recipient?.next).toContain('delivery.direct.allowPrivateAddresses');
    const [delivery] = await world.deliveries(id);
    expect(delivery?.errorMessage).toContain('delivery.direct.allowPrivateAddresses is false');
  } finally {
    await world.close();
  }
});
