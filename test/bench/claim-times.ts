// The time for which a claim holds the store: runs the product's own claim and rolls it back.
import type { App } from '../../src/core/app.ts';
import { createAttempter } from '../../src/outbound/queue/attempting/attempter.ts';
import { openCarrierHere } from '../../src/outbound/queue/carrier/carrier.ts';
import { claimMessages } from '../../src/outbound/queue/claiming/claim.ts';
import type { Db } from '../../src/platform/store/db.ts';
import { median } from './progress.ts';

/** Accepted messages that open a lane to its widest. */
const takenBefore = 1_000;

class TakenBack extends Error {}

/** The median of `times` claims of up to `limit` deliveries, in ms, without the commit. */
export async function timeClaims(
  app: App,
  { limit, times }: { limit: number; times: number },
): Promise<{ claimMs: number }> {
  const attempter = createAttempter(app, { host: '127.0.0.1', port: 1 }, openCarrierHere);
  const { lanes, laneOf } = attempter.choice;
  const lane = laneOf('user@example.com', { organizationId: 'org_0', email: 'a@example.org' });
  for (let i = 0; lane !== null && i < takenBefore; i++) {
    lanes.begun(lane, `warm ${i}`);
    lanes.ended(lane, `warm ${i}`, 'taken');
  }
  const spans: number[] = [];
  const write = <T>(work: (trx: Db) => Promise<T>): Promise<T> =>
    app.store.write(async (trx) => {
      const started = performance.now();
      await work(trx);
      spans.push(performance.now() - started);
      throw new TakenBack();
    });
  const dry = { ...app, store: { ...app.store, write } };
  for (let i = 0; i < times; i++) {
    await claimMessages(dry, attempter.choice, { worker: 'bench', leaseMs: 60_000, limit }).catch(
      (error: unknown) => {
        if (!(error instanceof TakenBack)) throw error;
      },
    );
  }
  await attempter.close();
  return { claimMs: median(spans) };
}
