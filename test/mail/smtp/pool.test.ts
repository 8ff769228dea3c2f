import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SmtpPool } from '../../../src/mail/smtp/pool.ts';
import type { DestinationLimits, Lease, PoolOptions } from '../../../src/mail/smtp/pool-request.ts';
import { openSession } from '../../../src/mail/smtp/session/open.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { mailOf, until } from './smtp-session-dialogue.ts';

let sink: SmtpSink;
let clock: VirtualClock;
let pool: SmtpPool;

beforeEach(async () => {
  sink = await startSmtpSink({ tls: false });
  clock = virtualClock();
  poolOf({});
});

afterEach(async () => {
  await sink.close();
});

let limits: DestinationLimits;

function poolOf(options: Partial<PoolOptions>, destination: Partial<DestinationLimits> = {}) {
  limits = { connections: 5, messagesPerConnection: 100, ...destination };
  pool = new SmtpPool({ clock, maxConnections: 10, ...options });
}

const peer = { host: 'sink.test', address: '127.0.0.1' };

async function openSink() {
  const opening = await openSession({
    ...peer,
    port: sink.port,
    helloName: 'client.test',
    tls: 'none',
    verifyCertificate: false,
    allowClearAuth: false,
    clock,
    connector: connect,
  });
  return { opening, peer };
}

async function acquire(
  destination = 'destination',
  keys = ['host'],
  isFresh = false,
  organizationId = 'org_a',
): Promise<Lease> {
  const lease = await pool.acquire({
    destination,
    organizationId,
    limits,
    keys,
    isFresh,
    open: openSink,
  });
  if (lease && 'session' in lease) return lease;
  throw new Error('no session');
}

/** Checks that `promise` is still open after sockets had their chance. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isOpen = true;
  void promise.finally(() => {
    isOpen = false;
  });
  await clock.advance(0);
  return isOpen;
}

describe('a released session', () => {
  it('carries the next message of its destination and key', async () => {
    const first = await acquire();
    expect(first.isReused).toBe(false);
    first.release();
    const second = await acquire();
    expect(second).toMatchObject({ isReused: true, session: first.session, peer });
    second.release();
    const other = await acquire('destination', ['other host']);
    const elsewhere = await acquire('other destination');
    const fresh = await acquire('destination', ['host'], true);
    expect([other, elsewhere, fresh].map(({ isReused }) => isReused)).toEqual([
      false,
      false,
      false,
    ]);
    expect(sink.connections.total).toBe(4);
  });

  it('serves any of its keys', async () => {
    (await acquire('destination', ['two'])).release();
    expect((await acquire('destination', ['one', 'two'])).isReused).toBe(true);
  });

  it('is closed by QUIT after 10 idle seconds', async () => {
    (await acquire()).release();
    await clock.advance(9_999);
    expect(pool.connections).toBe(1);
    await clock.advance(1);
    expect(pool.connections).toBe(0);
    await until(() => sink.connections.now === 0);
    expect(sink.commands.at(-1)?.line).toBe('QUIT');
  });

  it('is closed after 100 messages', async () => {
    poolOf({}, { messagesPerConnection: 3 });
    for (let count = 0; count < 7; count += 1) {
      const lease = await acquire();
      await lease.session.deliver(mailOf());
      lease.release();
    }
    expect(sink.connections.total).toBe(3);
  });

  it('is forgotten when the server hangs up', async () => {
    (await acquire()).release();
    await sink.close();
    await until(() => pool.connections === 0);
    expect(clock.nextTimerAt()).toBeUndefined();
  });

  it('is closed when broken, and released only once', async () => {
    const lease = await acquire();
    lease.session.abort('broken');
    lease.release();
    lease.release();
    expect(pool.connections).toBe(0);
  });
});

describe('a session that waits for its last answer', () => {
  const singleConnection = () => poolOf({}, { connections: 1 });

  it('is lent to the next caller, and stays in use until both have released it', async () => {
    singleConnection();
    const first = await acquire();
    const waiting = acquire();
    const last = acquire();
    first.lendOn();
    const second = await waiting;
    expect(second).toMatchObject({ isReused: true, session: first.session });
    first.release();
    expect(await isPending(last)).toBe(true);
    second.release();
    expect((await last).session).toBe(first.session);
    expect(sink.connections.total).toBe(1);
  });

  it('is lent to one caller at a time', async () => {
    singleConnection();
    const first = await acquire();
    const order = [1, 2].map(async (number) => ({ number, lease: await acquire() }));
    first.lendOn();
    expect(await order[0]).toMatchObject({ number: 1 });
    expect(await isPending(order[1] ?? Promise.resolve())).toBe(true);
  });

  it.each([
    ['no caller waits', { keys: null, isFresh: false, limits: {} }],
    ['the next caller wants another host', { keys: ['other'], isFresh: false, limits: {} }],
    ['the next caller found its last session dead', { keys: ['host'], isFresh: true, limits: {} }],
    [
      'it has carried enough messages',
      { keys: ['host'], isFresh: false, limits: { messagesPerConnection: 1 } },
    ],
  ])('is not lent where %s', async (_name, { keys, isFresh, limits: changed }) => {
    poolOf({}, { connections: 1, ...changed });
    const first = await acquire();
    await first.session.deliver(mailOf());
    const waiting = keys ? acquire('destination', keys, isFresh) : null;
    first.lendOn();
    if (waiting !== null) expect(await isPending(waiting)).toBe(true);
    first.release();
    expect((await (waiting ?? acquire())).isReused).toBe(waiting === null);
  });

  it('is closed when it breaks, and its holders get a new one', async () => {
    singleConnection();
    const first = await acquire();
    const waiting = acquire();
    first.lendOn();
    const second = await waiting;
    first.session.abort('broken');
    first.release();
    expect(pool.connections).toBe(1);
    second.release();
    expect(pool.connections).toBe(0);
    expect((await acquire()).isReused).toBe(false);
  });
});

describe('the limits', () => {
  it('of a destination follow the latest request: lower ones close sessions', async () => {
    poolOf({}, { connections: 3 });
    const held = [await acquire(), await acquire(), await acquire()];
    limits = { connections: 1, messagesPerConnection: 100 };
    const waiting = acquire();
    expect(await isPending(waiting)).toBe(true);
    held[0]?.release();
    held[1]?.release();
    expect(pool.connections).toBe(1);
    expect(await isPending(waiting)).toBe(true);
    held[2]?.release();
    expect(await waiting).toMatchObject({ isReused: true, session: held[2]?.session });
  });

  it('of a destination let waiting callers in when raised', async () => {
    poolOf({}, { connections: 1 });
    await acquire();
    const waiting = [acquire(), acquire()];
    expect(await isPending(Promise.race(waiting))).toBe(true);
    limits = { connections: 4, messagesPerConnection: 100 };
    await Promise.all([...waiting, acquire()]);
    expect(pool.connections).toBe(4);
  });

  it('of open destinations change without a request: idle sessions close at once', async () => {
    poolOf({}, { connections: 4 });
    const held = [await acquire(), await acquire(), await acquire(), await acquire()];
    const other = await acquire('other');
    held[0]?.release();
    held[1]?.release();
    expect(pool.connections).toBe(5);
    pool.changeLimits((name) => (name === 'destination' ? 1 : undefined));
    expect(pool.connections).toBe(3);
    // A session counts until the server has closed it.
    expect(pool.surplus()).toEqual({ destination: 3 });
    await expect.poll(() => pool.surplus()).toEqual({ destination: 1 });
    held[2]?.release();
    await expect.poll(() => pool.surplus()).toEqual({});
    pool.changeLimits(() => 0);
    expect(pool.surplus()).toEqual({ destination: 1, other: 1 });
    held[3]?.release();
    other.release();
    expect(pool.connections).toBe(0);
    limits = { connections: 0, messagesPerConnection: 100 };
    const waiting = acquire();
    expect(await isPending(waiting)).toBe(true);
    pool.changeLimits(() => 1);
    expect(await waiting).toMatchObject({ isReused: false });
  });

  it('of a destination queue callers, first come first served', async () => {
    poolOf({}, { connections: 2 });
    const held = [await acquire(), await acquire()];
    const order: string[] = [];
    const waiting = ['a', 'b', 'c'].map(async (name) => {
      const lease = await acquire();
      order.push(name);
      lease.release();
    });
    expect(await isPending(Promise.race(waiting))).toBe(true);
    expect((await acquire('other destination')).isReused).toBe(false);
    held[0]?.release();
    await Promise.all(waiting);
    expect(order).toEqual(['a', 'b', 'c']);
    expect(sink.connections.total).toBe(3);
  });

  it('in all close an idle session of another destination', async () => {
    poolOf({ maxConnections: 2 });
    (await acquire('one')).release();
    (await acquire('two')).release();
    await acquire('three');
    expect(pool.connections).toBe(2);
    expect((await acquire('two')).isReused).toBe(true);
  });

  it('in all queue callers across lanes, first come first served', async () => {
    poolOf({ maxConnections: 1 });
    const held = await acquire('one');
    const order: string[] = [];
    const waiting = ['two', 'one', 'three'].map(async (destination) => {
      const lease = await acquire(destination);
      order.push(destination);
      lease.release();
    });
    held.release();
    await Promise.all(waiting);
    expect(order).toEqual(['one', 'two', 'three']);
    expect(sink.connections.peak).toBeLessThanOrEqual(2);
    expect(pool.connections).toBe(1);
  });

  it('in all skip a destination at its own limit', async () => {
    poolOf({ maxConnections: 2 }, { connections: 1 });
    const full = await acquire('full');
    const other = await acquire('other');
    const behind = acquire('full');
    const third = acquire('third');
    other.release();
    (await third).release();
    expect(await isPending(behind)).toBe(true);
    full.release();
    expect((await behind).isReused).toBe(true);
  });

  it('pass a slot on when opening fails', async () => {
    poolOf({ maxConnections: 1 });
    const failing = pool.acquire({
      organizationId: 'org_a',
      destination: 'one',
      limits,
      keys: ['host'],
      isFresh: false,
      open: async () => ({ failure: true }),
    });
    const waiting = acquire('two');
    expect(await failing).toEqual({ failure: true });
    (await waiting).release();
    expect(pool.connections).toBe(1);
  });

  it('pass a slot on when opening throws', async () => {
    poolOf({ maxConnections: 1 });
    const failing = pool.acquire({
      organizationId: 'org_a',
      destination: 'one',
      limits,
      keys: ['host'],
      isFresh: false,
      open: () => Promise.reject(new Error('a bug')),
    });
    const waiting = acquire('two');
    await expect(failing).rejects.toThrow('a bug');
    (await waiting).release();
  });

  it('apply to a destination with sessions to other hosts', async () => {
    poolOf({}, { connections: 1 });
    (await acquire('destination', ['one'])).release();
    const lease = await acquire('destination', ['two']);
    expect(lease.isReused).toBe(false);
    expect(pool.connections).toBe(1);
    const waiting = acquire('destination', ['one']);
    lease.release();
    expect((await waiting).isReused).toBe(false);
    expect(pool.connections).toBe(1);
  });

  it('hold for 500 messages of five lanes, 60 at a time', async () => {
    poolOf({ maxConnections: 6 }, { connections: 2 });
    let left = 500;
    let most = 0;
    const work = async () => {
      while (left > 0) {
        left -= 1;
        const lease = await acquire(`destination ${left % 5}`, ['host'], false, `org_${left % 3}`);
        most = Math.max(most, pool.connections);
        await lease.session.deliver(mailOf());
        lease.release();
      }
    };
    await Promise.all(Array.from({ length: 60 }, work));
    expect(sink.received).toBe(500);
    expect(most).toBe(6);
    await pool.close();
    expect(pool.connections).toBe(0);
  });
});

describe('the shares of organizations', () => {
  const of = (organizationId: string, destination: string) =>
    acquire(destination, ['host'], false, organizationId);

  it('leave places to newcomers and shrink with them', async () => {
    poolOf({ maxConnections: 8 });
    const held = [1, 2, 3, 4, 5, 6].map((number) => of('org_a', `destination ${number}`));
    await Promise.all(held);
    const more = of('org_a', 'destination 7');
    expect(await isPending(more)).toBe(true);
    const other = await of('org_b', 'destination 8');
    expect(other.isReused).toBe(false);
    (await held[0])?.release();
    expect(await isPending(more)).toBe(true);
    for (const lease of held.slice(1, 4)) (await lease).release();
    (await more).release();
    expect(pool.isPressed).toBe(false);
  });

  it('are pressed by callers without a place, not by those at the limit of a destination', async () => {
    poolOf({ maxConnections: 4 }, { connections: 1 });
    const [first] = [
      await of('org_a', 'one'),
      await of('org_a', 'two'),
      await of('org_a', 'three'),
    ];
    const behind = of('org_a', 'one');
    expect(await isPending(behind)).toBe(true);
    expect(pool.isPressed).toBe(false);
    const pressing = of('org_a', 'four');
    expect(await isPending(pressing)).toBe(true);
    expect(pool.isPressed).toBe(true);
    first?.release();
    (await behind).release();
    await pressing;
    expect(pool.isPressed).toBe(false);
  });

  it('count a session once, for its latest holder', async () => {
    poolOf({ maxConnections: 4 }, { connections: 1 });
    const first = await of('org_a', 'destination');
    const next = of('org_b', 'destination');
    first.lendOn();
    const second = await next;
    const others = [await of('org_a', 'x'), await of('org_a', 'y')];
    expect(pool.connections).toBe(3);
    first.release();
    second.release();
    for (const lease of others) lease.release();
    const all = ['x', 'y', 'z'].map((destination) => of('org_c', destination));
    for (const lease of all) (await lease).release();
  });

  it('serve a caller with a dead session first', async () => {
    poolOf({}, { connections: 1 });
    const held = await acquire();
    const order: string[] = [];
    const waiting = [false, false, true].map(async (isFresh, index) => {
      const lease = await acquire('destination', ['host'], isFresh);
      order.push(`${index}`);
      lease.release();
    });
    expect(await isPending(Promise.race(waiting))).toBe(true);
    held.release();
    await Promise.all(waiting);
    expect(order).toEqual(['2', '0', '1']);
  });

  it('end a wait at its deadline without a trace', async () => {
    poolOf({}, { connections: 1 });
    const held = await acquire();
    const request = {
      destination: 'destination',
      organizationId: 'org_b',
      limits,
      keys: ['host'],
      isFresh: false,
    };
    const late = pool.acquire({ ...request, longestWaitMs: 30_000, open: openSink });
    await clock.advance(29_999);
    expect(await isPending(late)).toBe(true);
    await clock.advance(1);
    expect(await late).toEqual({ isLate: true });
    held.release();
    expect((await acquire()).isReused).toBe(true);
  });

  it('ignore the deadline of a wait that was served in time', async () => {
    poolOf({ maxConnections: 1 });
    const held = await acquire();
    const rest = { organizationId: 'org_a', limits, keys: ['host'], isFresh: false };
    const request = { ...rest, destination: 'destination', open: openSink };
    const answered = pool.acquire({ ...request, longestWaitMs: 30_000 });
    held.release();
    const lease = await answered;
    if (!lease || !('session' in lease)) throw new Error('no session');
    await clock.advance(30_000);
    const next = acquire('another');
    expect(await isPending(next)).toBe(true);
    lease.release();
    expect((await next).isReused).toBe(false);
  });
});

describe('closing the pool', () => {
  it('quits idle sessions, waits for busy ones and refuses new callers', async () => {
    poolOf({}, { connections: 2 });
    const busy = await acquire();
    (await acquire()).release();
    const other = await acquire();
    const waiting = pool.acquire({
      organizationId: 'org_a',
      destination: 'destination',
      limits,
      keys: ['host'],
      isFresh: false,
      open: openSink,
    });
    other.release();
    const granted = await waiting;
    const closing = pool.close();
    const late = pool.acquire({
      organizationId: 'org_a',
      destination: 'destination',
      limits,
      keys: ['host'],
      isFresh: false,
      open: openSink,
    });
    expect(await late).toBeNull();
    expect(await isPending(closing)).toBe(true);
    if (granted && 'session' in granted) granted.release();
    expect(await isPending(closing)).toBe(true);
    busy.release();
    await closing;
    await until(() => sink.connections.now === 0);
    expect(sink.commands.filter(({ line }) => line === 'QUIT')).toHaveLength(2);
  });

  it('refuses waiting callers', async () => {
    poolOf({ maxConnections: 1 });
    const busy = await acquire();
    const waiting = pool.acquire({
      organizationId: 'org_a',
      destination: 'two',
      limits,
      keys: ['host'],
      isFresh: false,
      open: openSink,
    });
    const closing = pool.close();
    expect(await waiting).toBeNull();
    busy.release();
    await closing;
  });

  it('can cut busy sessions', async () => {
    const busy = await acquire();
    sink.on({ verb: 'dot' }, { hang: true });
    const delivering = busy.session.deliver(mailOf());
    const closing = pool.close();
    pool.abort();
    expect((await delivering)[0]?.kind).toBe('fault');
    busy.release();
    await closing;
  });
});
