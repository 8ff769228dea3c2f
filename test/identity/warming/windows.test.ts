// Windows under trouble: the store fails between close and open, no daemon runs for days, the clock
// is set, two daemons work at once, the domain is deleted.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { deleteDomain } from '../../../src/identity/domains/domains.ts';
import {
  cancelWarming,
  getWarming,
  pauseWarming,
  resumeWarming,
  startWarming,
} from '../../../src/identity/warming/warming.ts';
import { moveWindows } from '../../../src/identity/warming/windows.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import {
  dayMs,
  decided,
  hourMs,
  inShort,
  outcomes,
  provenDomain,
  ramp,
  sendTo,
  warm,
  warmingEvents,
} from './fixtures.ts';

describe.each(stores)('the windows of a plan on %s', (store) => {
  const test = eachApp({ store });
  let domainId: string;
  let start: number;
  beforeEach(async () => {
    domainId = await provenDomain(test.app, test.operator);
    start = test.clock.now();
    await startWarming(test.app, test.operator, domainId, ramp);
  });

  const show = (app: App = test.app) => getWarming(app, test.operator, domainId);
  const run = (text: string) => test.app.store.write((trx) => sql.raw(text).execute(trx), 'now');
  async function times() {
    const { batches } = await show();
    return batches.map(({ startsAt, endsAt }) => [startsAt, endsAt]);
  }
  const day = (from: number) => [isoTime(from), isoTime(from + dayMs)];

  it('stay until the open one is over', async () => {
    expect(await moveWindows(test.app)).toBe(0);
    await test.clock.advance(dayMs - 1);
    expect(await moveWindows(test.app)).toBe(0);
    expect(inShort(await show())).toEqual(['1 open 100 0', '2 scheduled 200 0']);
    await test.clock.advance(1);
    expect(await moveWindows(test.app)).toBe(1);
    expect(inShort(await show())).toEqual(['1 closed 100 0', '2 open 200 0', '3 scheduled 400 0']);
    expect(await moveWindows(test.app)).toBe(0);
  });

  it('end at the target without a further one, and the plan is completed', async () => {
    for (let i = 0; i < 4; i++) {
      await test.clock.advance(dayMs);
      await moveWindows(test.app);
    }
    expect(inShort(await show())).toEqual([
      '1 closed 100 0',
      '2 closed 200 0',
      '3 closed 400 0',
      '4 closed 500 0',
    ]);
    expect((await show()).plan).toMatchObject({
      status: 'completed',
      completedAt: isoTime(start + 4 * dayMs),
    });
    expect(await warmingEvents(test.app)).toMatchObject([
      { type: 'warming.completed', data: { status: 'completed', domain: { domain: warm } } },
    ]);
    await test.clock.advance(10 * dayMs);
    expect(await moveWindows(test.app)).toBe(0);
  });

  it('after a crash between close and open are both unchanged, and move at the next run', async () => {
    await test.clock.advance(dayMs);
    const before = await show();
    // The close can be written, the opening of the next one cannot.
    await run('create unique index no_second on warming_decisions (plan_id, kind)');
    expect(await moveWindows(test.app)).toBe(0);
    expect(await show()).toEqual(before);
    await run('drop index no_second');
    expect(await moveWindows(await test.another())).toBe(1);
    expect(decided(await show())).toEqual([
      'plan-created svc',
      'window-opened svc',
      'window-closed system',
      'window-opened system',
    ]);
  });

  it('of a failing plan do not stop those of another', async () => {
    const other = await provenDomain(test.app, test.operator, 'other.example');
    await startWarming(test.app, test.operator, other, ramp);
    await test.clock.advance(dayMs);
    const { plan } = await show();
    const second = `create unique index no_second on warming_decisions (kind, plan_id)
      where plan_id = '${plan.id}'`;
    await run(second);
    expect(await moveWindows(test.app)).toBe(1);
    await run('drop index no_second');
    expect(inShort(await show())[0]).toBe('1 open 100 0');
    expect(inShort(await getWarming(test.app, test.operator, other))[0]).toBe('1 closed 100 0');
  });

  it('are moved once by two concurrent daemons', async () => {
    const other = await test.another();
    for (let i = 0; i < 3; i++) {
      await test.clock.advance(dayMs);
      const moved = await Promise.all([moveWindows(test.app), moveWindows(other)]);
      expect(moved.toSorted()).toEqual([0, 1]);
    }
    expect(inShort(await show(other))).toEqual([
      '1 closed 100 0',
      '2 closed 200 0',
      '3 closed 400 0',
      '4 open 500 0',
    ]);
    expect(decided(await show()).filter((one) => one.startsWith('window-opened'))).toHaveLength(4);
  });

  it('follow one another without a gap after a late run', async () => {
    await test.clock.advance(dayMs + 59 * 60_000);
    await moveWindows(test.app);
    expect(await times()).toEqual([day(start), day(start + dayMs), day(start + 2 * dayMs)]);
  });

  it('grow once after ten days without a daemon, from the time of the next run', async () => {
    await test.clock.advance(10 * dayMs);
    expect(await moveWindows(test.app)).toBe(1);
    expect(inShort(await show())).toEqual(['1 closed 100 0', '2 open 200 0', '3 scheduled 400 0']);
    expect((await times())[1]).toEqual(day(start + 10 * dayMs));
    expect(await moveWindows(test.app)).toBe(0);
  });

  it('are judged by their own mail, also days later', async () => {
    await test.clock.advance(hourMs);
    await outcomes(test.app, test.operator, { attempted: 100, hard_bounced: 5 });
    await test.clock.advance(10 * dayMs);
    await moveWindows(test.app);
    const { plan, evidence } = await show();
    expect(plan).toMatchObject({
      status: 'held',
      holdReason: '5% of the last 100 messages bounced (limit 3%).',
    });
    expect(evidence.verdict).toBe('insufficient-evidence');
  });

  it('start again when the clock was set back before their start', async () => {
    await sendTo(test.app, test.operator, 7);
    const back = start - 3 * dayMs;
    test.clock.set(back);
    expect(await moveWindows(test.app)).toBe(1);
    expect(inShort(await show())).toEqual(['1 open 100 7', '2 scheduled 200 0']);
    expect(await times()).toEqual([day(back), day(back + dayMs)]);
    expect(await moveWindows(test.app)).toBe(0);
    await test.clock.advance(dayMs);
    expect(await moveWindows(test.app)).toBe(1);
    expect(inShort(await show())[1]).toBe('2 open 200 0');
  });

  it('keep their counts when the clock is set back within them', async () => {
    await test.clock.advance(20 * hourMs);
    test.clock.set(start - 4_000);
    expect(await moveWindows(test.app)).toBe(0);
    expect(await times()).toEqual([day(start), day(start + dayMs)]);
  });

  it('keep the bounces counted before the clock was set back', async () => {
    await test.clock.advance(2 * hourMs);
    await outcomes(test.app, test.operator, { attempted: 100, hard_bounced: 5 });
    test.clock.set(start - 30 * dayMs);
    await moveWindows(test.app);
    const { sent, bounced, verdict, hourly } = (await show()).evidence;
    expect([sent, bounced, verdict]).toEqual([100, 5, 'unhealthy']);
    expect(hourly.at(-1)).toEqual({ sent: 100, bounced: 5, complained: 0 });
  });

  it('close once too often when the clock is set forward by mistake', async () => {
    test.clock.set(start + 5 * dayMs);
    expect(await moveWindows(test.app)).toBe(1);
    test.clock.set(start);
    expect(await moveWindows(test.app)).toBe(1);
    expect(inShort(await show())).toEqual(['1 closed 100 0', '2 open 200 0', '3 scheduled 400 0']);
    expect((await times())[1]).toEqual(day(start));
  });

  it('pause with the plan: the open one ends, and the next opens at the resume', async () => {
    await test.clock.advance(hourMs);
    await pauseWarming(test.app, test.operator, domainId, {});
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
    expect((await show()).plan.status).toBe('paused');
    expect(inShort(await show())).toEqual(['1 closed 100 0', '2 scheduled 200 0']);
    await test.clock.advance(5 * dayMs);
    expect(await moveWindows(test.app)).toBe(0);
    const now = test.clock.now();
    const resumed = await resumeWarming(test.app, test.operator, domainId, {});
    expect(inShort(resumed)).toEqual(['1 closed 100 0', '2 open 200 0', '3 scheduled 400 0']);
    expect((await times())[1]).toEqual(day(now));
  });

  it('continue when the plan is paused and resumed within one', async () => {
    await pauseWarming(test.app, test.operator, domainId, {});
    await test.clock.advance(hourMs);
    const resumed = await resumeWarming(test.app, test.operator, domainId, {});
    expect(inShort(resumed)).toEqual(['1 open 100 0', '2 scheduled 200 0']);
    expect(await times()).toEqual([day(start), day(start + dayMs)]);
  });

  it('hold a paused plan too when one closes unsafe', async () => {
    await pauseWarming(test.app, test.operator, domainId, {});
    await outcomes(test.app, test.operator, { attempted: 100, hard_bounced: 5 });
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
    const { plan } = await show();
    expect([plan.status, plan.pausedAt]).toEqual(['held', null]);
    expect(inShort(await show())).toEqual(['1 closed 100 0', '2 cancelled 200 0']);
  });

  it('repeat the unsafe one after a hold, judged by later mail', async () => {
    await outcomes(test.app, test.operator, { attempted: 100, complained: 2 });
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
    const resumed = await resumeWarming(test.app, test.operator, domainId, { note: 'It is over' });
    expect(inShort(resumed)).toEqual([
      '1 closed 100 0',
      '2 cancelled 200 0',
      '3 open 100 0',
      '4 scheduled 200 0',
    ]);
    expect(resumed.evidence).toMatchObject({ sent: 0, verdict: 'insufficient-evidence' });
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
    expect(inShort(await show()).slice(2)).toEqual([
      '3 closed 100 0',
      '4 open 200 0',
      '5 scheduled 400 0',
    ]);
  });

  it('end with the plan and are deleted with the domain', async () => {
    await test.clock.advance(hourMs);
    const cancelled = await cancelWarming(test.app, test.operator, domainId, {});
    expect(inShort(cancelled)).toEqual(['1 cancelled 100 0', '2 cancelled 200 0']);
    expect(cancelled.batches[0]?.cancelledAt).toBe(isoTime(start + hourMs));
    await startWarming(test.app, test.operator, domainId, ramp);
    await deleteDomain(test.app, test.operator, domainId);
    await test.clock.advance(2 * dayMs);
    expect(await moveWindows(test.app)).toBe(0);
    await expect(show()).rejects.toThrow(`domain ${domainId} was not found`);
  });
});
