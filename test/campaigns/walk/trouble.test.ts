// Runs that cannot continue for a fault of the service or of their audience: they say why, and
// others continue.
import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import { standingOf } from '../../../src/campaigns/setup/run-words.ts';
import { stalledRuns } from '../../../src/campaigns/walk/stalled.ts';
import type { App } from '../../../src/core/app.ts';
import { createContactGroup } from '../../../src/people/contacts/groups/groups.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { OverdueError } from '../../../src/platform/store/aside.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import {
  makeCampaign,
  makeContacts,
  makeOrganization,
  makeRun,
  readRun,
  whileWalking,
} from './fixtures.ts';

type Aside = Store['aside'];

/** Returns an App whose reads beside the event loop go through `aside`, and its log lines. */
function withAside(app: App, aside: Aside): { app: App; logged: string[] } {
  const logged: string[] = [];
  const line = (known: object) => logged.push(JSON.stringify(known));
  const log = Object.assign(Object.create(app.log), { warn: line, error: line });
  return { app: { ...app, log, store: { ...app.store, aside } }, logged };
}

describe.each(stores)('a run in trouble, on %s', (store) => {
  const test = eachApp({ store });

  const start = async (contacts: number): Promise<Run> => {
    const { app, operator } = test;
    await makeContacts(app, operator, contacts);
    const group = await createContactGroup(app, operator, {
      name: 'All',
      query: { all: [{ tag: 'all' }] },
    });
    const audience = { groupIds: [group.id] };
    return makeRun(app, operator, await makeCampaign(app, operator, { audience }));
  };
  const read = (run: Run) => readRun(test.app, test.operator, run);

  it.each([
    ['audience', new OverdueError(), 15_000],
    ['capacity', new CapacityError('too many searches', 1), 5_000],
    ['error', new Error('a fault'), 5_000],
  ])('waits for %s, logs it once, and continues later', async (reason, error, pauseMs) => {
    const run = await start(3);
    let isBroken = true;
    const { app, logged } = withAside(test.app, (holder, work) =>
      isBroken ? Promise.reject(error) : test.app.store.aside(holder, work),
    );
    await whileWalking(app, async (loop) => {
      await loop.idle();
      await test.clock.advance(2 * pauseMs);
      await loop.idle();
      const waiting = await read(run);
      expect(waiting).toMatchObject({ waitReason: reason, dispatchedCount: 0 });
      expect(standingOf({ ...waiting }, test.clock.now()).help).not.toBeNull();
      expect(logged.filter((line) => line.includes(run.id))).toHaveLength(1);
      await test.clock.advance(20 * 60_000);
      await loop.idle();
      if (waiting.status === 'running') expect(await stalledRuns(app)).toBe(1);
      isBroken = false;
      await test.clock.advance(pauseMs);
      await loop.idle();
    });
    expect(await read(run)).toMatchObject({
      ...{ status: 'completed', dispatchedCount: 3, waitReason: null },
    });
  });

  it('reads fewer contacts at a time until the reads of its audience are in time', async () => {
    const run = await start(60);
    /** Most contacts of a read in time. */
    const most = 20;
    let overdue = 0;
    const { app } = withAside(test.app, async (holder, work) => {
      const found = await test.app.store.aside(holder, work);
      const ids = Array.isArray(found) ? found : ((found as { ids?: unknown[] } | null)?.ids ?? []);
      if (ids.length <= most) return found;
      overdue += 1;
      throw new OverdueError();
    });
    await whileWalking(app, (loop) => loop.idle());
    expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 60 });
    expect(overdue).toBeGreaterThan(0);
  });

  it('hides no run of another organization behind 120 of its own', async () => {
    const { app, operator } = test;
    await makeContacts(app, operator, 1);
    const campaign = await makeCampaign(app, operator);
    for (let made = 0; made < 120; made++) await makeRun(app, operator, campaign);
    const other = await makeOrganization(app);
    await makeContacts(app, other, 1);
    await test.clock.advance(1_000);
    const small = await makeRun(app, other, await makeCampaign(app, other));
    const order: string[] = [];
    const { write } = app.store;
    const watched: Store['write'] = async (work, durability) => {
      const result = await write(work, durability);
      const { status } = await readRun(app, other, small);
      order.push(status);
      return result;
    };
    const watching = { ...app, store: { ...app.store, write: watched } };
    await whileWalking(watching, (loop) => loop.idle());
    // Writes of both organizations alternate: a lease, the start and the page take a few each.
    expect(order.indexOf('completed')).toBeGreaterThan(0);
    expect(order.indexOf('completed')).toBeLessThan(30);
  });
});
