// Lease of a tracking host: only a single process checks a host at a time. A result is stored only
// while the lease is held, so a host that was disabled meanwhile stays disabled.
import type { App } from '../../../core/app.ts';
import { holdRootKey } from '../../../core/root-keys/root-keys.ts';
import { keepLease, leaseDelayMs } from '../../../platform/store/changes/lease.ts';
import type { Db } from '../../../platform/store/db.ts';
import { keyContext } from './certificates/key-context.ts';
import {
  type HostPatch,
  hostChanges,
  type Lease,
  renewHost,
  type TrackingHostRow,
  updateHost,
} from './queries.ts';
import { checkHost } from './turn.ts';

/** Time limit of a check with all look-ups and requests. */
const turnMs = 90_000;
const leaseMs = 60_000;

/** The lease ended, or a concurrent process has it. */
class LostLease extends Error {}

/**
 * Creates a lease until a minute from now. A lease of a different process counts as ended if it
 * ends before `now` of the lease. After the clock was set forward, `now` is earlier than the clock,
 * so that running leases stay valid.
 */
export function leaseOf(app: App, holder: string): Lease {
  const now = app.clock.now();
  return { holder, now: now - leaseDelayMs(app, leaseMs), until: now + leaseMs };
}

const servedBy = ['status', 'certificate', 'certificate_expires_at'] as const;

/** Encrypts the keys in a result again if the root key changed during the check. */
async function renewKeys(
  app: App,
  trx: Db,
  row: TrackingHostRow,
  change: HostPatch,
): Promise<HostPatch> {
  const { order_key, certificate_key } = change;
  if (!order_key && !certificate_key) return change;
  const renew = await holdRootKey(app, trx);
  const context = keyContext(row);
  return {
    ...change,
    ...(order_key && { order_key: renew(order_key, context) }),
    ...(certificate_key && { certificate_key: renew(certificate_key, context) }),
  };
}

/** Stores a result, and releases the lease unless `isHeld`. @throws LostLease */
async function keep(
  app: App,
  row: TrackingHostRow,
  holder: string,
  change: HostPatch,
  isHeld: boolean,
): Promise<TrackingHostRow> {
  const changes = servedBy.some((name) => name in change && change[name] !== row[name]);
  const kept = await app.store.write(async (trx) => {
    const patch = {
      ...(await renewKeys(app, trx, row, change)),
      ...(changes && { updated_at: app.clock.now() }),
      ...(!isHeld && { claimed_by: null, claimed_until: null }),
    };
    const stored = await updateHost(trx, row.id, patch, holder);
    if (stored && changes) hostChanges.note(trx);
    return stored;
  });
  if (!kept) throw new LostLease();
  return kept;
}

interface TakeTurnOptions {
  holder: string;
  mayOrder: boolean;
  /** Ends the check when this process shuts down. */
  signal?: AbortSignal;
}

/**
 * Checks a host that `holder` has leased, then releases the lease. Returns the new row, or
 * undefined if the lease was lost.
 */
export async function runTurn(
  app: App,
  row: TrackingHostRow,
  { holder, mayOrder, signal }: TakeTurnOptions,
): Promise<TrackingHostRow | undefined> {
  const time = new AbortController();
  const cancel = app.clock.after(turnMs, () => time.abort());
  const endLease = keepLease(app, {
    leaseMs,
    renew: (until) => app.store.write((trx) => renewHost(trx, row.id, holder, until), 'quiet'),
    trouble: `the lease of the tracking host ${row.hostname} was not renewed`,
  });
  const ends = signal ? AbortSignal.any([time.signal, signal]) : time.signal;
  try {
    const change = await checkHost(app, row, {
      mayOrder,
      signal: ends,
      keep: async (some) => void (await keep(app, row, holder, some, true)),
    });
    // Discards the result at a shutdown: the next check starts from the same state.
    const found = signal?.aborted ? {} : change;
    const after = await keep(app, row, holder, found, false);
    if (after.status !== row.status) {
      const { hostname, status: from } = row;
      const { status: to, reason_code: reason } = after;
      app.log.info({ hostname, from, to, reason }, 'a tracking host changed');
    }
    return after;
  } catch (error) {
    if (error instanceof LostLease) return undefined;
    throw error;
  } finally {
    cancel();
    endLease();
  }
}
