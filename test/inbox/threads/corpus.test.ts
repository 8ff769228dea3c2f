// The corpus of exchanges makes the expected threads, in every order of arrival.
// Slow: forty exchanges arrive in many orders.
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { baseSubject } from '../../../src/mail/mime/headers/subject.ts';
import { stores, type TestStore } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { corpus } from './corpus.ts';
import { countsOf, takeMail, threadAll } from './mails.ts';

const seed = Number(process.env.SEED ?? 19);
const mails = corpus.flatMap(({ name, mails: all }) =>
  all.map((mail, n) => ({ ...mail, key: `${name} ${n}`, tree: `${name} ${mail.tree}` })),
);

/** TEST_RUNS=50 is a soak. */
const soaked = Number(process.env.TEST_RUNS ?? 0);
const numRuns: Record<TestStore, number> = { sqlite: soaked || 4, postgres: soaked || 2 };

/** The keys of the mails of each thread, sorted. */
function grouped(pairs: readonly { group: string; key: string }[]): string[][] {
  const groups = Map.groupBy(pairs, ({ group }) => group);
  const keys = [...groups.values()].map((all) => all.map(({ key }) => key).sort());
  return keys.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
}

const expected = grouped(mails.map(({ tree, key }) => ({ group: tree, key })));

describe.each(stores)('forty exchanges, on %s', (store) => {
  const test = eachApp({ store });
  let boxes = 0;

  /** Receives these mails in a new mailbox; returns its threads. */
  async function threadsOf(order: readonly (typeof mails)[number][]): Promise<string[][]> {
    boxes += 1;
    const address = `box${boxes}@sandbox.test`;
    await createMailbox(test.app, test.caller, { slug: `box${boxes}`, address });
    const keyOf = new Map<string, string>();
    for (const mail of order) {
      const [id = ''] = await takeMail(test.app, { ...mail, rcpt: [address] });
      keyOf.set(id, mail.key);
    }
    await threadAll(test.app);
    const { rows } = await sql<{ id: string; thread: string }>`
      select message_id as id, thread_id as thread from thread_messages`.execute(test.app.store.db);
    const own = rows.filter(({ id }) => keyOf.has(id));
    return grouped(own.map(({ id, thread }) => ({ group: thread, key: keyOf.get(id) ?? '' })));
  }

  it('make the expected threads', async () => {
    expect(corpus).toHaveLength(40);
    expect(await threadsOf(mails)).toEqual(expected);
    expect(await threadsOf(mails.toReversed())).toEqual(expected);
    const { said, counted } = await countsOf(test.app);
    expect(said).toEqual(counted);
  });

  it(`make the same threads in any order of arrival (seed ${seed})`, {
    timeout: 240_000,
  }, async () => {
    const order = fc.shuffledSubarray(mails, { minLength: mails.length });
    await fc.assert(
      fc.asyncProperty(order, async (shuffled) => {
        expect(await threadsOf(shuffled)).toEqual(expected);
      }),
      { seed, numRuns: numRuns[store], endOnFailure: true },
    );
    const { said, counted } = await countsOf(test.app);
    expect(said).toEqual(counted);
  });
});

describe('the subject of a conversation', () => {
  it.each([
    ['Re: Plan', 'plan'],
    ['RE[2]: Plan', 'plan'],
    ['Aw (3) : WG: Plan', 'plan'],
    ['回复：会议', '会议'],
    ['Отв: Встреча', 'встреча'],
    ['[svc-users] Re: [svc-users]  Big   plan (fwd)', 'big plan'],
    ['Re: [Fwd: x', '[fwd: x'],
    ['[only a name]', '[only a name]'],
    ['Result: 7', 'result: 7'],
    ['Reading', 'reading'],
    ['Re: ', ''],
    ['', ''],
    [null, ''],
  ])('of %j is %j', (subject, base) => {
    expect(baseSubject(subject)).toBe(base);
  });

  it('is found fast in a long one', () => {
    const started = startWork();
    baseSubject('Re: '.repeat(100_000));
    baseSubject(`${'['.repeat(50_000)}x`);
    expect(workedMs(started)).toBeLessThan(200);
  });
});
