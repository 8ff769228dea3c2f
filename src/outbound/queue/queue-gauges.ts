// Queue figures for alerts (`GET /metrics`): number of waiting deliveries and age of the oldest, by
// reason and by kind of lane. The daemon measures them on a separate schedule, never for a request.
// Several daemons of the same store show the same figures.
import type { App } from '../../core/app.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type PageStart, selectWaitingFrom, type WaitingRow } from '../deliveries/depth-queries.ts';
import type { QueueHalf } from '../deliveries/queue-queries.ts';
import { waitReasons } from '../deliveries/status.ts';

const measureEachMs = 10_000;
/**
 * Rest after a measurement, as a multiple of the time that the store took: measurements take at
 * most 1 % of the time.
 */
const restPerSpent = 100;
/** Most entries counted in each half of the queue: ready now, and due later. */
const mostCounted = 100_000;
/**
 * Most entries of a read. A read takes SQLite's single connection 2 ms, or 15 ms if the rows are
 * scattered.
 */
const page = 1_000;
const breathMs = 1;
/** Most kinds of lanes with a separate figure: the largest kinds. The rest is summed as `other`. */
const mostKinds = 20;
const otherKinds = 'other';

/** Wait reasons, and kinds of deliveries without a reason: ready now, or due later. */
const reasons = ['ready', 'scheduled', 'time', ...waitReasons] as const;
type Reason = (typeof reasons)[number];

/** Number of deliveries, and the time since which the oldest of them waits (ms since 1970). */
interface Depth {
  count: number;
  since: number;
}

type Depths<Label extends string = string> = Map<Label, Depth>;

/** Starts to measure. Returns a function that stops it and waits for a measurement under way. */
export function startQueueGauges(app: App, most = mostCounted): () => Promise<void> {
  let isStopped = false;
  let cancel = () => {};
  const measure = async () => {
    let spentMs = 0;
    try {
      const depths = await measureQueue(app, most, () => isStopped);
      if (!isStopped) show(app, depths);
      spentMs = depths.spentMs;
    } catch (error) {
      app.log.warn({ err: error }, 'the queue was not measured for /metrics: trying again');
    }
    if (isStopped) return;
    const restMs = Math.max(measureEachMs, restPerSpent * spentMs);
    cancel = app.clock.after(restMs, () => {
      running = measure();
    });
  };
  let running = measure();
  return async () => {
    isStopped = true;
    cancel();
    await running;
  };
}

interface QueueDepths {
  byReason: Depths<Reason>;
  byKind: Depths;
  /** Time that the store took. */
  spentMs: number;
}

async function measureQueue(
  { store, clock }: App,
  most: number,
  isStopped: () => boolean,
): Promise<QueueDepths> {
  const byReason: QueueDepths['byReason'] = new Map();
  const byKind: QueueDepths['byKind'] = new Map();
  let spentMs = 0;
  for (const half of ['ready', 'due'] as const) {
    let start: PageStart | null = null;
    for (let left = most; left > 0 && !isStopped(); left -= page) {
      const limit = Math.min(page, left);
      const askedAt = clock.elapsed();
      const rows: WaitingRow[] = await selectWaitingFrom(store.db, half, start, limit);
      spentMs += clock.elapsed() - askedAt;
      for (const row of rows) {
        const since = waitsSince(row);
        add(byReason, reasonOf(row, half), since);
        if (row.lane !== null) add(byKind, kindOf(row.lane), since);
      }
      if (rows.length < limit) break;
      start = after(rows, start);
      await breathe(clock);
    }
  }
  return { byReason, byKind, spentMs };
}

/**
 * Returns the start of the next page. Many rows may share the same time, so rows already read are
 * skipped by number.
 */
function after(rows: readonly WaitingRow[], before: PageStart | null): PageStart {
  const at = rows.at(-1)?.at ?? 0;
  const same = rows.length - rows.findIndex((row) => row.at === at);
  const isAllSame = same === rows.length && before?.at === at;
  return { at, skip: isAllSame ? before.skip + same : same };
}

function breathe(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.after(breathMs, resolve));
}

function reasonOf({ wait_reason, status }: WaitingRow, half: QueueHalf): Reason {
  if (half === 'ready') return 'ready';
  if (wait_reason !== null) return wait_reason;
  return status === 'scheduled' ? 'scheduled' : 'time';
}

/** Returns the start of the wait in ms since 1970. A scheduled delivery waits from its time on. */
function waitsSince({ status, wait_reason, due_at, since }: WaitingRow): number {
  return status === 'scheduled' && wait_reason === null ? (due_at ?? since) : since;
}

/**
 * Returns the first word of a lane: the provider, `mx`, `relay`, or the kind of a stop (stops.ts).
 */
function kindOf(lane: string): string {
  return lane.split(' ', 1)[0] ?? '';
}

function add<Label extends string>(depths: Depths<Label>, label: Label, since: number): void {
  const depth = depths.get(label);
  if (!depth) {
    depths.set(label, { count: 1, since });
    return;
  }
  depth.count++;
  depth.since = Math.min(depth.since, since);
}

function show({ metrics, clock }: App, { byReason, byKind }: QueueDepths): void {
  const now = clock.now();
  const age = (depth: Depth | undefined) => (depth ? Math.max(0, now - depth.since) / 1000 : 0);
  for (const reason of reasons) {
    const depth = byReason.get(reason);
    metrics.queueWaiting.set({ reason }, depth?.count ?? 0);
    metrics.queueOldest.set({ reason }, age(depth));
  }
  metrics.laneWaiting.reset();
  metrics.laneOldest.reset();
  for (const [lane, depth] of largest(byKind)) {
    metrics.laneWaiting.set({ lane }, depth.count);
    metrics.laneOldest.set({ lane }, age(depth));
  }
}

/** Bounds the number of labels: keeps the largest kinds and sums the rest. */
function largest(depths: Depths): Depths {
  const sorted = [...depths].sort(([, a], [, b]) => b.count - a.count);
  const shown: Depths = new Map(sorted.slice(0, mostKinds));
  const rest = sorted.slice(mostKinds).map(([, depth]) => depth);
  if (rest.length === 0) return shown;
  return shown.set(otherKinds, {
    count: rest.reduce((sum, { count }) => sum + count, 0),
    since: Math.min(...rest.map(({ since }) => since)),
  });
}
