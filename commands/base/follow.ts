// Following a message until its work has ended (`messages send --wait`): woken by every commit to
// the store, the daemon's included.
import type { App } from '../../src/app.ts';
import type { Message } from '../../src/messages/schema.ts';
import { sleep } from '../../src/runtime/clock.ts';

export interface FollowOptions {
  /** Longest wait in milliseconds; none: for ever. */
  timeoutMs: number | undefined;
  /** Called with the message as first read, and whenever its status is another. */
  onStatus(message: Message): void;
}

/** Where the sender's part is over; what may follow (a late bounce, an opening) can take weeks. */
export const settledStatuses: readonly string[] = [
  'sent',
  'delivered',
  'read',
  'failed',
  'bounced',
  'complained',
];

/** Reads the message until it is settled or the time is over; returns it as last seen. */
export async function followMessage(
  app: App,
  read: () => Promise<Message>,
  { timeoutMs, onStatus }: FollowOptions,
): Promise<Message> {
  const startedAt = app.clock.now();
  let changed = new AbortController();
  const unsubscribe = app.store.onChange(() => changed.abort());
  // Clock timers do not keep a process alive, and here nothing else would.
  const alive = setInterval(() => {}, 60_000);
  try {
    let seen = '';
    for (;;) {
      changed = new AbortController();
      const message = await read();
      if (message.status !== seen) onStatus(message);
      seen = message.status;
      const left = (timeoutMs ?? Number.POSITIVE_INFINITY) - (app.clock.now() - startedAt);
      if (settledStatuses.includes(message.status) || left <= 0) return message;
      await sleep(app.clock, left, changed.signal);
    }
  } finally {
    clearInterval(alive);
    unsubscribe();
  }
}
