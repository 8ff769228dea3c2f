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
  [...body.matchAll(/class="pill \w+" title="([^"]*)"/g)].map(([, word]) => word);

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
  expect(states(captured ?? '')).toEqual(['captured', 'captured', 'sent']);
  expect(captured).toContain('1 recipient: 1 captured.');
  expect(states(simulated ?? '')).toEqual(['delivered', 'delivered', 'sent']);
  expect(simulated).toContain('1 recipient: 1 delivered.');
});
