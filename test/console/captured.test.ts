// Pages of the console say of captured mail that it is captured, as commands and explanations do.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { send, startPipeline } from '../support/delivery.ts';
import { consoleWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await consoleWorld();
});
afterAll(() => world.close());

const states = (body: string) =>
  [...body.matchAll(/class="pill \w+" title="([\w-]+)"/g)].map(([, word]) => word);

it('a captured mail is captured in the list and on its page, and a simulated one is delivered', async () => {
  const { app, caller } = world.test;
  const ids = [
    (await send(app, caller, 'ada@example.com')).id,
    (await send(app, caller, 'delivered@simulator.test')).id,
  ];
  const pipeline = await startPipeline(app);
  await pipeline.idle();
  await pipeline.close();
  const operator = await world.operator();
  const list = await operator.get('/console/messages');
  expect(states(list.body)).toEqual(['delivered', 'captured']);
  const [captured, simulated] = await Promise.all(
    ids.map(async (id) => (await operator.get(`/console/messages/${id}`)).body),
  );
  // The outcome of the attempt follows.
  expect(captured).toContain('It stayed on this machine: here mail is captured');
  expect(captured).toContain('It was captured: it did not leave this machine.');
  // The outcome of the attempt.
  expect(states(captured ?? '')).toEqual(['sent']);
  expect(simulated).toContain('It arrived at simulator.test');
  expect(states(simulated ?? '')).toEqual(['sent']);
});
