// Turns of runs whose contacts take long: a turn ends between two contacts and keeps its progress,
// so that other runs continue and the daemon stops.
import { describe, expect, it, vi } from 'vitest';
import { campaignLoop } from '../../../src/campaigns/walk/loop.ts';
import type { App } from '../../../src/core/app.ts';
import type { Clock } from '../../../src/platform/runtime/clock.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import {
  ledgerOf,
  makeCampaign,
  makeContacts,
  makeOrganization,
  makeRun,
  messagesOf,
  readRun,
  whileWalking,
} from './fixtures.ts';

/** Time of a turn, by which these tests find its timer. */
const turnMs = 500;
/** Mail that a worker fills for each contact. */
const email = { subject: 'News', text: 'Hello {{ contact.email }}' };

/** Returns an App whose turns call `onTurn` with the function that ends them. */
function withTurns(app: App, onTurn: (end: () => void) => void): App {
  const after: Clock['after'] = (ms, run) => {
    if (ms !== turnMs) return app.clock.after(ms, run);
    onTurn(run);
    return () => {};
  };
  const clock = { now: () => app.clock.now(), elapsed: () => app.clock.elapsed(), after };
  return { ...app, clock };
}

describe.each(stores)('the end of a turn, on %s', (store) => {
  const test = eachApp({ store });

  const run = async (contacts: number) => {
    const { app, operator } = test;
    const ids = await makeContacts(app, operator, contacts);
    const made = await makeRun(app, operator, await makeCampaign(app, operator, { email }));
    return { ids, made };
  };
  const read = (made: Awaited<ReturnType<typeof run>>['made']) =>
    readRun(test.app, test.operator, made);

  it('keeps the contacts before it, and the next turn takes the others', async () => {
    const { ids, made } = await run(5);
    let turns = 0;
    const app = withTurns(test.app, (end) => {
      turns += 1;
      end();
    });
    await whileWalking(app, (loop) => loop.idle());
    expect(await read(made)).toMatchObject({ status: 'completed', dispatchedCount: 5 });
    // The first turn starts the run; the last one finds its end.
    expect(turns).toBe(1 + ids.length);
    expect((await ledgerOf(app, made.id)).map(({ contact_id }) => contact_id)).toEqual(ids);
    expect(await messagesOf(app, made.id)).toBe(5);
  });

  it('leaves the rest of a page to another daemon', async () => {
    const { ids, made } = await run(6);
    let turns = 0;
    const ended = Promise.withResolvers<void>();
    const loop = campaignLoop(
      withTurns(test.app, (end) => {
        turns += 1;
        end();
        if (turns === 4) loop.stop().then(ended.resolve, ended.reject);
      }),
    );
    await loop.start();
    await ended.promise;
    const half = await read(made);
    expect(half).toMatchObject({ status: 'running', dispatchedCount: 2, lastContactId: ids[1] });
    await whileWalking(await test.another(), (other) => other.idle());
    expect(await read(made)).toMatchObject({ status: 'completed', dispatchedCount: 6 });
    expect(await messagesOf(test.app, made.id)).toBe(6);
  });

  it('lets the run of another organization continue', async () => {
    const { made } = await run(40);
    const other = await makeOrganization(test.app);
    await makeContacts(test.app, other, 3);
    const small = await makeRun(test.app, other, await makeCampaign(test.app, other, { email }));
    let before = 0;
    const app = withTurns(test.app, (end) => end());
    await whileWalking(app, async (loop) => {
      for (;;) {
        const now = await readRun(test.app, other, small);
        if (now.status === 'completed') break;
        before = (await read(made)).dispatchedCount;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await loop.idle();
    });
    expect(before).toBeLessThanOrEqual(6);
    expect(await read(made)).toMatchObject({ status: 'completed', dispatchedCount: 40 });
  });

  it('lets runs of other organizations continue while one waits for its own reads', async () => {
    const { made } = await run(3);
    const { app } = test;
    const { organizationId } = test.operator;
    const other = await makeOrganization(app);
    await makeContacts(app, other, 3);
    const small = await makeRun(app, other, await makeCampaign(app, other, { email }));
    const held = Promise.withResolvers<void>();
    const waits = Promise.withResolvers<void>();
    const aside: App['store']['aside'] = async (id, read) => {
      if (id === organizationId) {
        waits.resolve();
        await held.promise;
      }
      return app.store.aside(id, read);
    };
    const store = { ...app.store, aside };
    await whileWalking({ ...app, store }, async (loop) => {
      await waits.promise;
      await test.clock.advance(turnMs);
      await vi.waitFor(async () =>
        expect(await readRun(app, other, small)).toMatchObject({ status: 'completed' }),
      );
      expect(await read(made)).toMatchObject({ status: 'scheduled' });
      held.resolve();
      await loop.idle();
    });
    expect(await read(made)).toMatchObject({ status: 'completed', dispatchedCount: 3 });
  });
});
