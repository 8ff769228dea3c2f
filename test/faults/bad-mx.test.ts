// A mail host that misbehaves at every step. All cases run at once through one service, each with a
// domain and an MX of its own: first against the bad server, then, once it is healed, to the end.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SinkReply } from '../support/smtp-sink-script.ts';
import {
  type Delivery,
  type FaultWorld,
  firstAttemptsMs,
  startFaultWorld,
  waitedMs,
} from './fault-world.ts';

const verbs = ['connect', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'dot'] as const;
type Verb = (typeof verbs)[number];

interface Fault {
  name: string;
  verb: Verb;
  reply: SinkReply;
  /** Expected result of the first attempt. */
  first: { status: string; errorCode: string | null; code?: number; verb?: string };
  /** The message may have been accepted: no other host may get it in the same attempt. */
  mayBeTaken: boolean;
  /** The server has accepted it without telling us: one more copy in the end. */
  isTaken?: boolean;
}

const megabytes10 = 10_000_000;

/** Faults that cost the session; at the dot it is unknown whether the message was accepted. */
const breaks: [string, SinkReply, string][] = [
  ['hangs', { hang: true }, 'connection'],
  ['closes the connection', { drop: true }, 'connection'],
  ['resets the connection', { reset: true }, 'connection'],
  [
    'drips a byte every 20 s',
    { dripMsPerByte: 20_000, text: `250-${'x'.repeat(70)}\r\n250 x\r\n` },
    'connection',
  ],
  ['floods 10 MB of lines without an end', { flood: megabytes10 }, 'protocol'],
  ['sends one line of 10 MB', { raw: Buffer.alloc(megabytes10, 'x') }, 'protocol'],
  ['sends NUL', { raw: 'x\0k\r\n' }, 'protocol'],
  ['answers 999', '999 what', 'protocol'],
];

const faults: Fault[] = [
  ...breaks.flatMap(([name, reply, errorCode]) =>
    verbs.map((verb): Fault => {
      const first = { status: 'processing', errorCode, verb };
      return { name: `${name} at ${verb}`, verb, reply, first, mayBeTaken: verb === 'dot' };
    }),
  ),
  ...verbs.map((verb): Fault => {
    const first = { status: 'processing', errorCode: expect.any(String), code: 421, verb };
    return {
      name: `answers 421 at ${verb}`,
      verb,
      reply: '421 4.3.2 busy',
      first,
      mayBeTaken: false,
    };
  }),
  ...verbs.slice(1).map((verb): Fault => {
    const first = { status: 'processing', errorCode: 'protocol', verb };
    const isTaken = verb === 'dot';
    return {
      name: `answers 220 at ${verb}`,
      verb,
      reply: '220 hm',
      first,
      mayBeTaken: isTaken,
      isTaken,
    };
  }),
];

/** Refusals of this message or recipient: another host would answer the same. */
const refusals: Fault[] = (['MAIL', 'RCPT', 'DATA', 'dot'] as const).flatMap((verb) =>
  [451, 550].map((code): Fault => {
    const status = code === 451 ? 'processing' : 'bounced';
    const errorCode: string = expect.any(String);
    return {
      name: `answers ${code} at ${verb}`,
      verb,
      reply: `${code} ${code === 451 ? '4.3.0 later' : '5.7.1 no'}`,
      first: { status, errorCode, code, verb },
      mayBeTaken: true,
    };
  }),
);

/** Refusals of the whole session: another host may accept it. */
const turnedAway: Fault[] = (
  [
    [451, 'connect'],
    [554, 'connect'],
    [451, 'EHLO'],
  ] as const
).map(([code, verb]) => ({
  name: `answers ${code} at ${verb}`,
  verb,
  reply: `${code} ${Math.floor(code / 100)}.3.2 no`,
  first: { status: 'processing', errorCode: expect.any(String), code, verb },
  mayBeTaken: false,
}));

/** A 250 that cannot be trusted. */
const unbelievable: Fault[] = [
  ['accepts the message, and its 250 is cut off', '250 2.0.0 que', 'connection'],
  ['accepts the message, and answers 250 and 550', '250 ok\r\n550 no\r\n', 'protocol'],
  ['accepts the message, and sends NUL after 250', '250 o\0k\r\n', 'protocol'],
].map(([name = '', reply = '', errorCode = '']) => ({
  name,
  verb: 'dot',
  reply: { raw: reply },
  first: { status: 'processing', errorCode, verb: 'dot' },
  mayBeTaken: true,
  isTaken: true,
}));

const all = [...faults, ...refusals, ...turnedAway, ...unbelievable].map((fault, index) => ({
  ...fault,
  domain: `case${index}.test`,
  withNext: `next${index}.test`,
}));

let world: FaultWorld;
let firstAttempts: Map<string, Delivery>;
let ends: Map<string, Delivery>;
let mostOpen = 0;

beforeAll(async () => {
  world = await startFaultWorld();
  const healing: (() => void)[] = [];
  for (const { verb, reply, domain, withNext } of all) {
    const mx = await world.startMx(`mx.${domain}`);
    healing.push(mx.on({ verb: verb }, reply));
    world.dns.set(domain, 'MX', [{ exchange: `mx.${domain}`, preference: 1 }]);
    world.dns.set(withNext, 'MX', [
      { exchange: `mx.${domain}`, preference: 1 },
      { exchange: 'mx.good.test', preference: 2 },
    ]);
  }
  const domains = all.flatMap(({ domain, withNext }) => [domain, withNext]);
  const ids = await world.sendToDomains([...domains, 'good.test']);
  await world.until(() => world.sockets.length >= ids.size);
  await world.pass(firstAttemptsMs);
  mostOpen = world.sockets.length;
  firstAttempts = await world.firstDeliveries(ids);
  for (const heal of healing) heal();
  await world.passUntilOver(ids.values());
  ends = await world.firstDeliveries(ids);
});

afterAll(() => world.close());

describe('an MX that', () => {
  it.each(all)('$name is reported by the first attempt in bounded time', ({ domain, first }) => {
    const delivery = firstAttempts.get(domain);
    const { status, errorCode, code, verb } = first;
    expect(delivery).toMatchObject({ status, errorCode, attemptCount: 1 });
    const [attempt] = delivery?.attempts ?? [];
    expect(attempt).toMatchObject({ verb, ...(code !== undefined && { code }) });
    expect(attempt?.durationMs).toBeLessThanOrEqual(20 * 60_000);
  });

  it.each(all)(
    '$name loses nothing, repeats only when needed, and causes a bounce only by a refusal',
    (given) => {
      const { domain, first, isTaken } = given;
      const copies = world.copies(`ada@${domain}`);
      if (first.status === 'bounced') {
        expect([ends.get(domain)?.status, copies.length]).toEqual(['bounced', 0]);
        return;
      }
      expect(ends.get(domain)).toMatchObject({ status: 'delivered', attemptCount: 2 });
      expect(copies).toHaveLength(isTaken ? 2 : 1);
      const messageIds = copies.map(({ raw }) => /^Message-ID: .*$/m.exec(raw.toString())?.[0]);
      expect(new Set(messageIds).size).toBe(1);
    },
  );

  it.each(all)('$name leaves to the next MX only mail that it cannot have accepted', (given) => {
    const { withNext, first, mayBeTaken } = given;
    const delivery = firstAttempts.get(withNext);
    if (mayBeTaken) {
      expect(delivery).toMatchObject({
        status: first.status,
        attempts: [{ host: expect.stringMatching(/^mx\.case/) }],
      });
      return;
    }
    expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ host: 'mx.good.test' }] });
    expect(world.copies(`ada@${withNext}`)).toHaveLength(1);
  });
});

describe('beside misbehaving servers', () => {
  it('mail for other domains is delivered at once', () => {
    const delivery = firstAttempts.get('good.test');
    expect(delivery?.status).toBe('delivered');
    expect(waitedMs(delivery)).toBeLessThan(1_000);
  });

  it('no connection reads more than 256 KB', () => {
    for (const socket of world.sockets) expect(socket.bytesRead).toBeLessThan(262_144);
  });

  it('every connection is closed after its use', () => {
    expect(mostOpen).toBeGreaterThan(all.length);
    expect(world.sockets.filter((socket) => !socket.destroyed)).toEqual([]);
  });
});
