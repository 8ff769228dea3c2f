// Schedules checks of tracking hosts: checks a few due hosts at once, and sleeps until the next
// host is due. Several daemons share the hosts. A lease in each row (lease.ts) lets only a single
// daemon check a host.
import type { App } from '../../../core/app.ts';
import { createDueLoop, usualRestMs } from '../../../platform/store/changes/due-loop.ts';
import { leaseOf, runTurn } from './lease.ts';
import {
  claimDueHost,
  findNextDue,
  selectDueHosts,
  type TrackingHostRow,
  updateHost,
} from './queries.ts';

const mostAtOnce = 5;
const serviceError = 'the check met an error of the service, which its log has: trying again';

export interface TrackingHostLoop {
  start(): void;
  /** Aborts look-ups and requests, and waits until running checks have released their leases. */
  stop(): Promise<void>;
}

/** Creates the loop of a daemon that checks tracking hosts and orders their certificates. */
export function createTrackingHostLoop(app: App): TrackingHostLoop {
  const holder = app.newId('worker');
  const closing = new AbortController();
  const { signal } = closing;

  const take = async (row: TrackingHostRow) => {
    try {
      await runTurn(app, row, { holder, mayOrder: true, signal });
    } catch (error) {
      // Does not release the lease, so that no daemon retries before the lease ends.
      const verification_errors = JSON.stringify([serviceError]);
      await app.store.write((trx) => updateHost(trx, row.id, { verification_errors }, holder));
      app.log.error(
        { err: error, hostname: row.hostname },
        'a check of a tracking host failed: trying again later',
      );
    }
  };

  const loop = createDueLoop(app, {
    name: 'tracking hosts',
    restMs: usualRestMs,
    async step() {
      const lease = leaseOf(app, holder);
      const due = await selectDueHosts(app.store.db, lease.now, mostAtOnce);
      if (due.length === 0) {
        const dueAt = (await findNextDue(app.store.db, lease.now)) ?? Infinity;
        return dueAt + app.clock.now() - lease.now;
      }
      // Sorts by id, the order in which every daemon locks hosts.
      const sorted = due.toSorted((a, b) => (a < b ? -1 : 1));
      const taken = await app.store.write(async (trx) => {
        const rows: TrackingHostRow[] = [];
        for (const id of sorted) {
          const row = await claimDueHost(trx, id, lease);
          if (row) rows.push(row);
        }
        return rows;
      });
      await Promise.all(taken.map(take));
      return 0;
    },
    trouble: 'tracking hosts cannot be checked now: trying again',
  });

  return {
    start: () => loop.start(),
    async stop() {
      closing.abort();
      await loop.stop();
    },
  };
}
