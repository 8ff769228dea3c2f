// Steps of work over turns of the event loop. Each test begins in a turn of its own.
import { globSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  nameTurn,
  operationSince,
  resumeStep,
  sliceTurns,
  turnMs,
} from '../../../src/platform/runtime/fairness/loop-turns.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

/** Works on the event loop for the time of a turn. */
function useTurn(): void {
  const endAt = performance.now() + turnMs + 1;
  while (performance.now() < endAt);
}

/** Counts the turns of the event loop. */
function countTurns() {
  let count = 0;
  let isOver = false;
  const next = () => {
    count += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return {
    get count() {
      return count;
    },
    end() {
      isOver = true;
    },
  };
}

beforeEach(() => pause(5));

describe('sliceTurns', () => {
  it('begins steps at once while the turn has time', () => {
    expect(sliceTurns('a')).toBeUndefined();
    expect(sliceTurns('b', 'org_1')).toBeUndefined();
    expect(sliceTurns()).toBeUndefined();
  });

  it('begins a step in a later turn once this one has used its time', async () => {
    await sliceTurns('a');
    useTurn();
    const turns = countTurns();
    await sliceTurns('b');
    turns.end();
    expect(turns.count).toBeGreaterThan(0);
  });

  it('lets a loop without an end hold the event loop for no longer than two turns', async () => {
    let isOver = false;
    let longest = 0;
    const loop = async () => {
      while (!isOver) {
        await sliceTurns('loop');
        const endAt = performance.now() + 2;
        while (performance.now() < endAt);
      }
    };
    const running = loop();
    for (let turn = 0; turn < 5; turn++) {
      const before = startWork();
      await nextTurn();
      longest = Math.max(longest, workedMs(before));
    }
    isOver = true;
    await running;
    expect(longest).toBeLessThan(2 * turnMs);
  });

  it('gives turns to holders one after the other', async () => {
    await sliceTurns('a');
    useTurn();
    const order: string[] = [];
    const step = async (name: string, holder: string) => {
      await sliceTurns('step', holder);
      order.push(name);
    };
    await Promise.all([step('a1', 'a'), step('a2', 'a'), step('a3', 'a'), step('b1', 'b')]);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('begins waiting steps in one turn while it has time', async () => {
    await sliceTurns('a');
    useTurn();
    const turns = countTurns();
    const seen = Array.from({ length: 50 }, async () => {
      await sliceTurns('step');
      return turns.count;
    });
    const counts = new Set(await Promise.all(seen));
    turns.end();
    expect(counts.size).toBeLessThan(5);
  });

  it('lets a new step wait behind waiting ones', async () => {
    await sliceTurns('a');
    useTurn();
    const first = sliceTurns('b');
    const second = sliceTurns('c');
    expect(second).toBeInstanceOf(Promise);
    await Promise.all([first, second]);
  });
});

describe('resumeStep', () => {
  const holders = ['b', 'c', 'd'];

  /**
   * Waits with steps of three organizations, and continues as many in transactions; returns the
   * order.
   */
  async function orderOf(isInTransaction: boolean): Promise<string[]> {
    await sliceTurns('a');
    useTurn();
    const order: string[] = [];
    const others = holders.map(async (holder) => {
      await sliceTurns('step', holder);
      order.push('other');
    });
    const resumed = holders.map(async () => {
      await resumeStep({ operation: 'write', holder: 'a' }, isInTransaction);
      order.push('resumed');
    });
    await Promise.all([...others, ...resumed]);
    return order;
  }

  it('alternates steps in transactions with waiting ones', async () => {
    const order = await orderOf(true);
    const pairs = [order.slice(0, 2), order.slice(2, 4), order.slice(4)];
    expect(pairs.map((pair) => pair.sort())).toEqual(holders.map(() => ['other', 'resumed']));
  });

  it('continues other steps in the turns of their holder', async () => {
    expect((await orderOf(false)).slice(-2)).toEqual(['resumed', 'resumed']);
  });
});

describe('operationSince', () => {
  it('names the step last begun', async () => {
    const since = performance.now();
    nameTurn('a');
    await sliceTurns('b');
    await sliceTurns();
    expect(operationSince(since)).toBe('b');
  });

  it('names nothing that began earlier', async () => {
    nameTurn('a');
    await pause(2);
    expect(operationSince(performance.now())).toBe('unnamed');
  });

  it('names a step that went on in a later turn', async () => {
    await sliceTurns('a');
    useTurn();
    const since = performance.now();
    await sliceTurns();
    expect(operationSince(since)).toBe('a');
  });
});

/** Files that wait for the event loop for another reason than to give it back. */
const otherWaits = [
  // Gathers what comes in one turn, and waits for the end of all writes.
  'daemon/smtp/connection.ts',
  'src/mail/mime/composer.ts',
  'src/mail/smtp/session/channel.ts',
  'src/outbound/queue/carrier/carrier-thread.ts',
  'src/outbound/queue/carrier/carrier-worker.ts',
  // Lets the answer of the sign-in page go out first.
  'src/outbound/sending/people/sign-in.ts',
  'src/platform/store/group.ts',
  'src/platform/store/sqlite/group-commit.ts',
];

it('no other file gives the event loop back by its own hand', () => {
  const root = new URL('../../../', import.meta.url);
  const files = globSync('{bin,commands,daemon,src}/**/*.{ts,js}', { cwd: root });
  const found = files.filter((file) =>
    /\bsetImmediate\b|scheduler\.yield/.test(readFileSync(new URL(file, root), 'utf8')),
  );
  expect(found.sort()).toEqual(otherWaits);
});
