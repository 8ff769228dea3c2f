// The number of sends in one commit that counts as a burst, by the number of daemons that divide
// it.
import { expect, it } from 'vitest';
import { portionsOf } from '../../../src/access/admission/portions.ts';
import { intakeOf } from '../../../src/outbound/queue/intake.ts';
import { eachApp } from '../../support/each-app.ts';

const test = eachApp({ store: 'sqlite' });

it.each([
  { daemons: 1, few: 15, many: 16 },
  { daemons: 2, few: 7, many: 8 },
  { daemons: 4, few: 3, many: 4 },
  { daemons: 9, few: 3, many: 4 },
])('$many sends are a burst for one of $daemons daemons, $few are not', async (row) => {
  const { app, clock } = test;
  const portions = portionsOf(app);
  portions.begin();
  for (let seconds = 0; seconds < 7; seconds++) {
    portions.see({ count: row.daemons, rank: 0 }, clock.elapsed());
    await clock.advance(1_000);
  }
  const intake = intakeOf(app);
  intake.took(row.few);
  expect(intake.isPressing()).toBe(false);
  intake.took(row.many);
  expect(intake.isPressing()).toBe(true);
  await clock.advance(50);
  expect(intake.isPressing()).toBe(false);
});
