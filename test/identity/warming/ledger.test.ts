// Sixty days of one plan as a readable ledger: the allowance of each window, the accepted mail, its
// outcomes, and the verdict. Healthy traffic, then thin, then unhealthy twice, then recovering.
import { describe, expect, it } from 'vitest';
import type { Warming } from '../../../src/identity/warming/schema.ts';
import { getWarming, resumeWarming, startWarming } from '../../../src/identity/warming/warming.ts';
import { moveWindows } from '../../../src/identity/warming/windows.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { dayMs, outcomes, provenDomain, sendTo, warmingEvents } from './fixtures.ts';

/** Sends of a day, with their bounces and complaints. */
type Traffic = readonly [sends: number, bounced: number, complained: number];

const nothing: Traffic = [0, 0, 0];
const healthy: Traffic = [150, 2, 0];
/** Fewer than the hundred that count as evidence, at a bad rate. */
const thin: Traffic = [40, 4, 2];
const bouncing: Traffic = [150, 5, 0];
const reported: Traffic = [150, 0, 2];
/** Nearly three percent and one complaint: the limits are counts as much as rates. */
const recovering: Traffic = [170, 5, 1];

/** Returns the mail of a day, and the decision of a person at its end. */
function dayOf(day: number): { traffic: Traffic; note?: string } {
  if (day <= 20) return { traffic: healthy };
  if (day <= 28) return { traffic: thin };
  if (day === 29) return { traffic: bouncing };
  if (day === 30) return { traffic: nothing };
  if (day === 31) return { traffic: nothing, note: 'An old list was removed' };
  if (day === 32) return { traffic: reported };
  if (day === 33) return { traffic: nothing, note: 'They asked for it after all' };
  if (day <= 40) return { traffic: recovering };
  return { traffic: healthy };
}

const ledger = `
day  1: window 1 closed, 150 of 100, healthy: 150 sent, 2 bounced, 0 complained, active
day  2: window 2 closed, 150 of 105, healthy: 150 sent, 2 bounced, 0 complained, active
day  3: window 3 closed, 150 of 111, healthy: 150 sent, 2 bounced, 0 complained, active
day  4: window 4 closed, 150 of 117, healthy: 150 sent, 2 bounced, 0 complained, active
day  5: window 5 closed, 150 of 123, healthy: 150 sent, 2 bounced, 0 complained, active
day  6: window 6 closed, 150 of 130, healthy: 150 sent, 2 bounced, 0 complained, active
day  7: window 7 closed, 150 of 137, healthy: 150 sent, 2 bounced, 0 complained, active
day  8: window 8 closed, 150 of 144, healthy: 150 sent, 2 bounced, 0 complained, active
day  9: window 9 closed, 150 of 152, healthy: 150 sent, 2 bounced, 0 complained, active
day 10: window 10 closed, 150 of 160, healthy: 150 sent, 2 bounced, 0 complained, active
day 11: window 11 closed, 150 of 168, healthy: 150 sent, 2 bounced, 0 complained, active
day 12: window 12 closed, 150 of 177, healthy: 150 sent, 2 bounced, 0 complained, active
day 13: window 13 closed, 150 of 186, healthy: 150 sent, 2 bounced, 0 complained, active
day 14: window 14 closed, 150 of 196, healthy: 150 sent, 2 bounced, 0 complained, active
day 15: window 15 closed, 150 of 206, healthy: 150 sent, 2 bounced, 0 complained, active
day 16: window 16 closed, 150 of 217, healthy: 150 sent, 2 bounced, 0 complained, active
day 17: window 17 closed, 150 of 228, healthy: 150 sent, 2 bounced, 0 complained, active
day 18: window 18 closed, 150 of 240, healthy: 150 sent, 2 bounced, 0 complained, active
day 19: window 19 closed, 150 of 252, healthy: 150 sent, 2 bounced, 0 complained, active
day 20: window 20 closed, 150 of 265, healthy: 150 sent, 2 bounced, 0 complained, active
day 21: window 21 closed, 40 of 279, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 22: window 22 closed, 40 of 293, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 23: window 23 closed, 40 of 308, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 24: window 24 closed, 40 of 324, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 25: window 25 closed, 40 of 341, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 26: window 26 closed, 40 of 359, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 27: window 27 closed, 40 of 377, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 28: window 28 closed, 40 of 396, insufficient-evidence: 40 sent, 4 bounced, 2 complained, active
day 29: window 29 closed, 150 of 416, unhealthy: 150 sent, 5 bounced, 0 complained, held
day 30: no window, held
day 31: no window, held
       resumed: An old list was removed
day 32: window 31 closed, 150 of 416, unhealthy: 150 sent, 0 bounced, 2 complained, held
day 33: no window, held
       resumed: They asked for it after all
day 34: window 33 closed, 170 of 416, healthy: 170 sent, 5 bounced, 1 complained, active
day 35: window 34 closed, 170 of 437, healthy: 170 sent, 5 bounced, 1 complained, active
day 36: window 35 closed, 170 of 459, healthy: 170 sent, 5 bounced, 1 complained, active
day 37: window 36 closed, 170 of 482, healthy: 170 sent, 5 bounced, 1 complained, active
day 38: window 37 closed, 170 of 507, healthy: 170 sent, 5 bounced, 1 complained, active
day 39: window 38 closed, 170 of 533, healthy: 170 sent, 5 bounced, 1 complained, active
day 40: window 39 closed, 170 of 560, healthy: 170 sent, 5 bounced, 1 complained, active
day 41: window 40 closed, 150 of 588, healthy: 150 sent, 2 bounced, 0 complained, active
day 42: window 41 closed, 150 of 618, healthy: 150 sent, 2 bounced, 0 complained, active
day 43: window 42 closed, 150 of 649, healthy: 150 sent, 2 bounced, 0 complained, active
day 44: window 43 closed, 150 of 682, healthy: 150 sent, 2 bounced, 0 complained, active
day 45: window 44 closed, 150 of 717, healthy: 150 sent, 2 bounced, 0 complained, active
day 46: window 45 closed, 150 of 753, healthy: 150 sent, 2 bounced, 0 complained, active
day 47: window 46 closed, 150 of 791, healthy: 150 sent, 2 bounced, 0 complained, active
day 48: window 47 closed, 150 of 831, healthy: 150 sent, 2 bounced, 0 complained, active
day 49: window 48 closed, 150 of 873, healthy: 150 sent, 2 bounced, 0 complained, active
day 50: window 49 closed, 150 of 917, healthy: 150 sent, 2 bounced, 0 complained, active
day 51: window 50 closed, 150 of 963, healthy: 150 sent, 2 bounced, 0 complained, active
day 52: window 51 closed, 150 of 1000, healthy: 150 sent, 2 bounced, 0 complained, completed
day 53: no window, completed
day 54: no window, completed
day 55: no window, completed
day 56: no window, completed
day 57: no window, completed
day 58: no window, completed
day 59: no window, completed
day 60: no window, completed
`;

describe.each(stores)('sixty days of warming on %s', (store) => {
  const test = eachApp({ store });

  it('grow after safe windows, stop after unsafe ones, and end at the target', async () => {
    const { app, caller, clock } = test;
    const domainId = await provenDomain(app, test.operator);
    await startWarming(app, caller, domainId, {
      identity: 'new',
      initialDailyRecipients: 100,
      dailyGrowthPercent: 5,
      targetDailyRecipients: 1_000,
    });
    const lines: string[] = [];
    for (let day = 1; day <= 60; day++) {
      const { traffic, note } = dayOf(day);
      const [attempted, hard_bounced, complained] = traffic;
      const before = await getWarming(app, caller, domainId);
      await clock.advance(dayMs / 2);
      if (attempted > 0) await sendTo(app, caller, attempted);
      await outcomes(app, caller, { attempted, hard_bounced, complained });
      await clock.advance(dayMs / 2);
      await moveWindows(app);
      lines.push(lineOf(day, before, await getWarming(app, caller, domainId)));
      if (note === undefined) continue;
      await resumeWarming(app, caller, domainId, { note });
      lines.push(`       resumed: ${note}`);
    }
    expect(`\n${lines.join('\n')}\n`).toBe(ledger);
    expect((await warmingEvents(app)).map(({ type }) => type)).toEqual([
      'warming.held',
      'warming.held',
      'warming.completed',
    ]);
  });
});

/** Writes day, window, allowance, accepted count, verdict, and the state of the plan. */
function lineOf(day: number, before: Warming, after: Warming): string {
  const open = before.batches.find(({ state }) => state === 'open');
  const closed = after.batches.find(({ id }) => id === open?.id);
  const told = after.decisions.findLast(
    ({ kind, batchId }) => kind === 'window-closed' && batchId === open?.id,
  );
  const name = `day ${String(day).padStart(2)}`;
  if (!closed) return `${name}: no window, ${after.plan.status}`;
  const { sequence, state, allowanceRecipients, acceptedRecipients } = closed;
  const window = `window ${sequence} ${state}, ${acceptedRecipients} of ${allowanceRecipients}`;
  return `${name}: ${window}, ${told?.note}, ${after.plan.status}`;
}
