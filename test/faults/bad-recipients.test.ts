// Servers that answer differently for recipients of one message: each recipient gets its own
// outcome.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SmtpSink } from '../support/smtp-sink.ts';
import type { SinkReply } from '../support/smtp-sink-script.ts';
import { type FaultWorld, firstAttemptsMs, startFaultWorld } from './fault-world.ts';

let world: FaultWorld;
let mx: SmtpSink;

beforeEach(async () => {
  world = await startFaultWorld();
  mx = await world.startMx('mx.some.test');
  world.dns.set('some.test', 'MX', [{ exchange: 'mx.some.test', preference: 1 }]);
});

afterEach(() => world.close());

const some = (...names: string[]) => names.map((name) => `${name}@some.test`);

async function firstAttempts(): Promise<void> {
  await world.until(() => mx.connections.total > 0);
  await world.pass(firstAttemptsMs);
}

async function statuses(messageId: string): Promise<string[]> {
  return (await world.deliveries(messageId)).map(({ status }) => status);
}

it('with half of the recipients refused, the others get the mail once, the deferred ones later', async () => {
  mx.on({ verb: 'RCPT', match: 'gone' }, '550 5.1.1 no such user');
  mx.on({ verb: 'RCPT', match: 'full', times: 2 }, '452 4.2.2 mailbox full');
  const to = some('gone1', 'fine1', 'full1', 'gone2', 'fine2', 'full2');
  const id = await world.send(to);
  await firstAttempts();
  const [gone, fine, full] = ['bounced', 'delivered', 'processing'];
  expect(await statuses(id)).toEqual([gone, fine, full, gone, fine, full]);
  await world.passUntilOver([id]);
  expect(await statuses(id)).toEqual([gone, fine, fine, gone, fine, fine]);
  for (const email of to) {
    expect(world.copies(email)).toHaveLength(email.startsWith('gone') ? 0 : 1);
  }
});

it('with all recipients refused and DATA still answered by 354, all bounce and no message is sent', async () => {
  mx.on({ verb: 'RCPT' }, '550 5.1.1 no such user');
  mx.on({ verb: 'DATA' }, '354 go ahead');
  mx.on({ verb: 'dot' }, '554 5.5.1 no valid recipients');
  const id = await world.send(some('a', 'b'));
  await firstAttempts();
  expect(await statuses(id)).toEqual(['bounced', 'bounced']);
  expect(mx.received).toBe(0);
});

it.each([
  ['452 too many recipients', '452 4.5.3 too many recipients'],
  ['552 too many recipients', '552 5.5.3 too many recipients'],
])('after %s no recipient bounces, and all get the mail in the end', async (_case, line) => {
  mx.on({ verb: 'RCPT', match: 'late', times: 2 }, line);
  const id = await world.send(some('early', 'late1', 'late2'));
  await firstAttempts();
  expect(await statuses(id)).toEqual(['delivered', 'processing', 'processing']);
  await world.passUntilOver([id]);
  expect(await statuses(id)).toEqual(['delivered', 'delivered', 'delivered']);
});

/**
 * Faults, and how often each occurs until only a later attempt helps: a lost connection is retried
 * at once.
 */
const breaks: [string, SinkReply, number][] = [
  ['the connection drops', { drop: true }, 2],
  ['the server answers 421', '421 4.3.2 busy', 1],
  ['the server hangs', { hang: true }, 1],
];

it.each(breaks)(
  'a refusal before %s stands, and the other recipients are retried',
  async (...given) => {
    const [, reply, times] = given;
    mx.on({ verb: 'RCPT', match: 'gone' }, '550 5.1.1 no such user');
    mx.on({ verb: 'RCPT', match: 'bad', times }, reply);
    const id = await world.send(some('gone', 'fine', 'bad', 'other'));
    await firstAttempts();
    expect(await statuses(id)).toEqual(['bounced', 'processing', 'processing', 'processing']);
    await world.passUntilOver([id]);
    expect(await statuses(id)).toEqual(['bounced', 'delivered', 'delivered', 'delivered']);
    for (const email of some('fine', 'bad', 'other')) expect(world.copies(email)).toHaveLength(1);
  },
);

it('a message that breaks its session affects none of the many behind it', async () => {
  mx.on({ verb: 'dot', match: /ada7[37]@/ }, { reset: true });
  mx.on({ verb: 'dot', match: /ada[12]0@/ }, '554 5.7.1 spam');
  const names = Array.from({ length: 100 }, (_, index) => `ada${index}`);
  const ids = await Promise.all(names.map((name) => world.send(some(name))));
  await firstAttempts();
  const ends = (await Promise.all(ids.map(statuses))).map(([status]) => status);
  for (const [index, status] of ends.entries()) {
    const expected = [10, 20].includes(index) ? 'bounced' : 'delivered';
    expect([index, status]).toEqual([index, [73, 77].includes(index) ? 'processing' : expected]);
    expect(world.copies(`ada${index}@some.test`)).toHaveLength(
      expected === status ? Number(status === 'delivered') : 0,
    );
  }
});
