// Everything that locks many rows, by two services over one PostgreSQL at once: no transaction is
// refused because of another, and the rows are consistent afterwards. STRESS_SECONDS=60 for a real
// run, STRESS_SEED to repeat one. Slow: sixty clients work for four seconds, and then everything is
// checked.
import { afterEach, expect, it } from 'vitest';
import { type StressWorld, startStressWorld } from './stress-world.ts';

const seconds = Number(process.env.STRESS_SECONDS ?? 4);
const seed = Number(process.env.STRESS_SEED ?? Date.now() % 1_000_000);
const clients = 60;

let world: StressWorld;
afterEach(() => world.close());

it(
  'two daemons that send, settle, delete, report, cancel and import at once cause no 503',
  async () => {
    world = await startStressWorld(seed);
    await world.run(clients, seconds * 1_000);
    const context = `seed ${seed}: ${JSON.stringify(Object.fromEntries([...world.counts].sort()))}`;
    if (process.env.STRESS_SECONDS) process.stdout.write(`${context}\n`);
    expect(world.capacityErrors(), context).toBe(0);
    expect(await world.violations(), context).toEqual([]);
    // A repeated transaction hides a deadlock; this order of locks has none.
    expect(await world.deadlocks(), context).toBe(0);
    expect(world.counts.get('send'), context).toBeGreaterThan(20);
  },
  seconds * 1_000 + 120_000,
);
