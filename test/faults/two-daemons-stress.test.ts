// Everything that locks many rows, by two services over one PostgreSQL at once: no transaction is
// refused because of another, and no row tells a lie afterwards. STRESS_SECONDS=60 for a real run,
// STRESS_SEED to repeat one.
import { afterEach, expect, test } from 'vitest';
import { type StressWorld, startStressWorld } from './stress-world.ts';

const seconds = Number(process.env.STRESS_SECONDS ?? 4);
const seed = Number(process.env.STRESS_SEED ?? Date.now() % 1_000_000);
const clients = 60;

let world: StressWorld;
afterEach(() => world.close());

test(
  'sends, settles, deletions, late outcomes, cancels and block imports of two daemons: no 503',
  async () => {
    world = await startStressWorld(seed);
    await world.run(clients, seconds * 1_000);
    const told = `seed ${seed}: ${JSON.stringify(Object.fromEntries([...world.counts].sort()))}`;
    if (process.env.STRESS_SECONDS) process.stdout.write(`${told}\n`);
    expect(world.capacityErrors(), told).toBe(0);
    expect(await world.violations(), told).toEqual([]);
    // A run that is repeated hides one: in this order of locks there are none.
    expect(await world.deadlocks(), told).toBe(0);
    expect(world.counts.get('send'), told).toBeGreaterThan(20);
  },
  seconds * 1_000 + 120_000,
);
