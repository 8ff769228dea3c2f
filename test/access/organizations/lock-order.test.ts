// Concurrent changes of organizations on PostgreSQL: in any order, none becomes the victim of a
// deadlock (which would be a 503).
import { afterEach, beforeEach, expect, it } from 'vitest';
import { reviewOnboarding } from '../../../src/access/organizations/onboarding.ts';
import {
  createOrganization,
  getOrganization,
  pauseOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { App } from '../../../src/core/app.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import { markWarned } from '../../../src/identity/reputation/health-queries.ts';
import { resumeSending } from '../../../src/outbound/queue/desk/resume.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { heldWrite } from '../../outbound/messages/fixtures.ts';
import { type EmptyTestApp, emptyTestApp } from '../../support/test-app.ts';

let test: EmptyTestApp;
/** Ids in ascending order. */
let ids: string[];
beforeEach(async () => {
  test = await emptyTestApp({ store: 'postgres' });
  ids = [];
  for (const name of ['a', 'b', 'c']) {
    ids.push((await createOrganization(test.app, { name, plan: 'free' })).id);
  }
});
afterEach(() => test.close());

/** Returns outcomes that pause each of these organizations. */
function badMailOf(organizationIds: readonly string[]) {
  return organizationIds.map((organizationId) => ({
    organizationId,
    sender: null,
    fromDomain: 'example.com',
    counts: { attempted: 100, hard_bounced: 50 },
  }));
}

const statusOf = async (name: string) => (await getOrganization(test.app, name)).sendingStatus;

it('a settlement that pauses two organizations does not block a plan change of the second', async () => {
  const [a = '', b = ''] = ids;
  const another = await test.another();
  // Stops the settlement between its two pauses.
  const held = await heldWrite(another, (trx) => markWarned(trx, b, 1));
  const settled = test.app.store.write((trx) => countHealth(test.app, trx, badMailOf([b, a])));
  // This would never end if it waited for the settlement.
  await updateOrganization(another, 'b', { plan: 'growth' });
  await held.commit();
  await settled;
  expect([await statusOf('a'), await statusOf('b')]).toEqual(['paused', 'paused']);
  expect((await getOrganization(test.app, 'b')).plan).toBe('growth');
});

it('random orders of pauses and changes end without a 503', async () => {
  const seed = 20_260_105;
  const random = seededRandom(seed);
  const below = (end: number) => Math.floor(random.float() * end);
  const pick = <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0];
  const apps = [test.app, await test.another()] as const;
  const byHand = [
    (id: string) => updateOrganization(pick(apps), id, { plan: pick(['free', 'scale', 'growth']) }),
    (id: string) => updateOrganization(pick(apps), id, { name: `name ${below(1_000_000)}` }),
    (id: string) => pauseOrganization(pick(apps), id, {}),
    (id: string) => reviewOnboarding(pick(apps), id, { verdict: pick(['approved', 'rejected']) }),
  ] as const;
  const settle = (app: App) =>
    app.store.write((trx) =>
      countHealth(app, trx, badMailOf(ids.toSorted(() => random.float() - 0.5))),
    );
  const tags = new Set<string>();
  let pauses = 0;
  for (let round = 0; round < 20; round++) {
    const changes = Array.from({ length: 8 }, (_, index) => {
      const id = ids[index % ids.length] ?? '';
      return index === 3 ? settle(pick(apps)) : pick(byHand)(id);
    });
    for (const change of await Promise.allSettled(changes)) {
      if (change.status === 'rejected') tags.add(String(change.reason._tag ?? change.reason));
    }
    for (const id of ids) {
      if ((await getOrganization(test.app, id)).sendingStatus !== 'paused') continue;
      pauses++;
      await resumeSending(test.app, id, { note: 'a look' });
      await test.clock.advance(1_000);
    }
  }
  tags.delete('ConflictError');
  expect([...tags], `seed ${seed}`).toEqual([]);
  expect(pauses).toBeGreaterThan(20);
});
