// Values that take the room of many fills: the worker of templates refuses a part of each page.
import { expect, it } from 'vitest';
import { eachApp } from '../../support/each-app.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

const test = eachApp();

it('a run with 250 KB of values for 300 contacts continues to its end', async () => {
  const { app, operator } = test;
  await makeContacts(app, operator, 300);
  const email = {
    subject: 'News {{ number }}',
    text: 'Hello',
    templateData: { number: 7, rest: 'x'.repeat(250 * 1024) },
  };
  const run = await makeRun(app, operator, await makeCampaign(app, operator, { email }));
  await whileWalking(app, (loop) => loop.idle());
  expect(await readRun(app, operator, run)).toMatchObject({
    status: 'completed',
    dispatchedCount: 300,
    failedCount: 0,
  });
});
