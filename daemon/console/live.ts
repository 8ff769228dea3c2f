// `GET /console/live`: notifies an open page that something readable by the session has changed, as
// server-sent events without data. The page then loads itself again. A single reader of the log
// serves all pages of an organization.
//
//   stream | by                                                    | then
//   -------+-------------------------------------------------------+-----------------------------------------
//   open   | events that the session may read, about the resource  | `change`, twice a second at most; more
//          |                                                       | seldom beside more than two open pages
//   begun  | such an event since the page was drawn                | `change` at once
//   open   | 1 s                                                   | the session is checked again
//   open   | 15 s                                                  | a comment
//   open   | signed out, or the mailboxes of the key changed       | ended
//   open   | 64 KB wait for a reader that does not take it         | cut
//   open   | a new stream while 100 are open: the largest holder's | ended
import type { FastifyReply } from 'fastify';
import type { Session } from '../../src/access/sessions/sessions.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { followPlaces } from '../../src/history/events/follow.ts';
import { type LogPlace, selectLogPlaces } from '../../src/history/events/log-queries.ts';
import type { Reach } from '../../src/history/events/log-reader.ts';
import { isShown } from '../../src/history/events/shown-data.ts';
import { eventReachOf } from '../../src/identity/mailboxes/bound-keys.ts';
import { sleep } from '../../src/platform/runtime/clock.ts';
import { SharedPool } from '../../src/platform/runtime/fairness/shared-pool.ts';
import { firstIdAt } from '../../src/platform/runtime/ids.ts';
import { beginServerSent } from '../http/paths/server-sent.ts';

const mostStreams = 100;
const checkMs = 1_000;
const heartbeatMs = 15_000;
const leastPauseMs = 500;
/**
 * Pause between two notices of a page, in ms per open page: all open pages together then load four
 * times a second at most. With a constant pause, 20 pages took 13 % of the accept rate.
 */
const pauseOfPageMs = 250;
const mostBacklog = 65_536;
/** Longest time between an event and the commit: a page drawn in between lacks the event. */
const commitMs = 1_000;
const mostLooked = 2_000;
/** The reader rests 50 times as long as it reads: it takes at most a fiftieth of the time. */
const restFactor = 50;

/** Part of the log that a page depends on. */
export interface Shown {
  /** Time when the page was drawn, ms since 1970. */
  since: number;
  /** Id of the only resource that the page shows. */
  about?: string | undefined;
}

/** An open page. It is notified of new events, and ends with the reader. */
interface Watch {
  tell(places: readonly LogPlace[]): void;
  end(): void;
}

/** The live streams of this process. */
export class LiveStreams {
  readonly #app: App;
  readonly #pool = new SharedPool(mostStreams);
  readonly #open = new Set<AbortController>();
  readonly #readers = new Map<string, LogReader>();

  constructor(app: App) {
    this.#app = app;
  }

  /**
   * Answers with a stream; `again` checks the session again. Returns false if the organization may
   * hold no further stream.
   */
  async answer(
    reply: FastifyReply,
    { caller }: Session,
    shown: Shown,
    again: () => Promise<Session | null>,
  ): Promise<boolean> {
    const ending = new AbortController();
    const { raw } = reply;
    const place = this.#pool.enter({
      holder: caller.organizationId,
      pace: () => (raw.writableLength > 0 ? 0 : Number.POSITIVE_INFINITY),
      evict: () => ending.abort(),
    });
    if (!place) return false;
    this.#open.add(ending);
    raw.on('close', () => ending.abort());
    beginServerSent(reply);
    const pauseMs = () => Math.max(leastPauseMs, this.#open.size * pauseOfPageMs);
    const tell = telling(this.#app, reply, caller, { about: shown.about, pauseMs }, ending.signal);
    const watch: Watch = { tell, end: () => ending.abort() };
    const reader = this.#readerOf(caller.organizationId);
    reader.add(watch);
    ending.signal.addEventListener('abort', () => {
      this.#open.delete(ending);
      place.leave();
      reader.remove(watch);
      raw.end();
    });
    // From here on the reader reports all later events.
    await reader.begun;
    tell(await this.#since(caller, shown));
    void this.#check(reply, caller, ending, again);
    return true;
  }

  /** Ends all streams. */
  close(): void {
    for (const ending of this.#open) ending.abort();
  }

  #readerOf(organizationId: string): LogReader {
    const known = this.#readers.get(organizationId);
    if (known) return known;
    const reader = new LogReader(this.#app, organizationId, () => {
      this.#readers.delete(organizationId);
    });
    this.#readers.set(organizationId, reader);
    return reader;
  }

  /** Returns the first events since the page was drawn. */
  #since({ organizationId }: Caller, { since }: Shown): Promise<LogPlace[]> {
    const after = firstIdAt('event', since - commitMs);
    return selectLogPlaces(this.#app.store.db, organizationId, { after }, mostLooked);
  }

  async #check(
    { raw }: FastifyReply,
    before: Caller,
    ending: AbortController,
    again: () => Promise<Session | null>,
  ): Promise<void> {
    const { clock } = this.#app;
    let quietMs = 0;
    for (;;) {
      await sleep(clock, checkMs, ending.signal);
      if (ending.signal.aborted) return;
      const now = await again().catch(() => null);
      if (!now || !isSame(now.caller, before)) return ending.abort();
      quietMs += checkMs;
      if (quietMs < heartbeatMs) continue;
      quietMs = 0;
      raw.write(':\n\n');
    }
  }
}

/** Reader of the log of an organization. It exists while pages are open. */
class LogReader {
  readonly #watches = new Set<Watch>();
  readonly #ending = new AbortController();
  readonly #onEnd: () => void;
  /** Resolves once the reader will miss no later event. */
  readonly begun: Promise<void>;

  constructor(app: App, organizationId: string, onEnd: () => void) {
    this.#onEnd = onEnd;
    const asked = { eachMs: leastPauseMs, restFactor };
    const log = followPlaces(app, organizationId, asked, this.#ending.signal);
    const reading = log.then((places) => this.#read(places));
    this.begun = log.then(
      () => {},
      () => {},
    );
    // The stream ends with the reader. The page then opens a new stream.
    reading
      .catch((error: unknown) => app.log.error({ err: error }, 'pages of the console were cut off'))
      .finally(() => {
        onEnd();
        for (const { end } of this.#watches) end();
      });
  }

  add(watch: Watch): void {
    this.#watches.add(watch);
  }

  /** Removes a page. The reader ends with the last page. */
  remove(watch: Watch): void {
    this.#watches.delete(watch);
    if (this.#watches.size > 0) return;
    this.#onEnd();
    this.#ending.abort();
  }

  async #read(log: AsyncGenerator<LogPlace[]>): Promise<void> {
    for await (const places of log) {
      for (const { tell } of this.#watches) tell(places);
    }
  }
}

/** Returns a function that notifies a page of events that the session may read. */
function telling(
  app: App,
  { raw }: FastifyReply,
  caller: Caller,
  { about, pauseMs }: { about: string | undefined; pauseMs: () => number },
  signal: AbortSignal,
): Watch['tell'] {
  const reach = eventReachOf(app, caller);
  let isDue = false;
  let isPausing = false;
  const send = () => {
    isDue = false;
    isPausing = true;
    if (raw.writableLength > mostBacklog) raw.destroy();
    else raw.write('event: change\ndata:\n\n');
    app.clock.after(pauseMs(), () => {
      isPausing = false;
      if (isDue && !signal.aborted) send();
    });
  };
  return (places) => {
    const shown = places.filter(
      ({ type, subject }) =>
        isShown(type, caller.permissions) && (about === undefined || subject === about),
    );
    if (shown.length === 0) return;
    void reaches(reach, shown).then((isReached) => {
      if (!isReached || signal.aborted) return;
      isDue = true;
      if (!isPausing) send();
    });
  };
}

async function reaches(reach: Reach | undefined, places: readonly LogPlace[]): Promise<boolean> {
  if (!reach) return true;
  const subjects = new Set(places.map(({ subject }) => subject));
  return (await reach([...subjects]).catch(() => new Set())).size > 0;
}

function isSame(now: Caller, before: Caller): boolean {
  return (
    JSON.stringify([now.constraints, now.permissions]) ===
    JSON.stringify([before.constraints, before.permissions])
  );
}
