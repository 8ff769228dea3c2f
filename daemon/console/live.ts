// `GET /console/live`: tells an open page that something that its session may read has changed, as server-sent events
// without data. The page then loads itself again.
//
//   stream | by                                                    | then
//   -------+-------------------------------------------------------+-----------------------------------------
//   open   | events that the session may read                      | `change`, twice a second at most
//   open   | 1 s                                                   | the session is looked at again
//   open   | 15 s                                                  | a comment
//   open   | signed out, or the key reaches other mailboxes        | ended
//   open   | 64 KB wait for a reader that does not take it         | cut
//   open   | a new stream while 100 are open: the largest holder's | ended
import type { FastifyReply } from 'fastify';
import type { Session } from '../../src/access/sessions/sessions.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { followLog } from '../../src/history/events/follow.ts';
import { isShown } from '../../src/history/events/shown-data.ts';
import { eventReachOf } from '../../src/identity/mailboxes/bound-keys.ts';
import { sleep } from '../../src/platform/runtime/clock.ts';
import { SharedPool } from '../../src/platform/runtime/shared-pool.ts';
import { beginServerSent } from '../http/server-sent.ts';

const mostStreams = 100;
const checkMs = 1_000;
const heartbeatMs = 15_000;
const leastPauseMs = 500;
const mostBacklog = 65_536;

/** The live streams of one process. */
export class LiveStreams {
  readonly #app: App;
  readonly #pool = new SharedPool(mostStreams);
  readonly #open = new Set<AbortController>();

  constructor(app: App) {
    this.#app = app;
  }

  /**
   * Answers with a stream; `again` looks at the session again. Returns false if the organization has too many.
   */
  async answer(
    reply: FastifyReply,
    { caller }: Session,
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
    try {
      const asked = { reach: eventReachOf(this.#app, caller) };
      const log = await followLog(this.#app, caller.organizationId, asked, ending.signal);
      beginServerSent(reply);
      void this.#watch(reply, caller, ending, again);
      await this.#tell(reply, caller, log, ending.signal).finally(() => raw.end());
    } finally {
      this.#open.delete(ending);
      place.leave();
    }
    return true;
  }

  /** Ends all streams. */
  close(): void {
    for (const ending of this.#open) ending.abort();
  }

  async #tell(
    { raw }: FastifyReply,
    { permissions }: Caller,
    log: AsyncGenerator<{ type: string }>,
    signal: AbortSignal,
  ): Promise<void> {
    let isDue = false;
    let isPausing = false;
    const send = () => {
      isDue = false;
      isPausing = true;
      if (raw.writableLength > mostBacklog) raw.destroy();
      else raw.write('event: change\ndata:\n\n');
      this.#app.clock.after(leastPauseMs, () => {
        isPausing = false;
        if (isDue && !signal.aborted) send();
      });
    };
    for await (const { type } of log) {
      if (!isShown(type, permissions)) continue;
      isDue = true;
      if (!isPausing) send();
    }
  }

  async #watch(
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

function isSame(now: Caller, before: Caller): boolean {
  return (
    JSON.stringify([now.constraints, now.permissions]) ===
    JSON.stringify([before.constraints, before.permissions])
  );
}
