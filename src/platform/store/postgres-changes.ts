// How processes on one PostgreSQL hear of each other's commits: NOTIFY over a connection of its own,
// after the commit. Inside the transaction it would hold a lock on the whole cluster until the commit,
// so that all commits of all daemons would be serialized. Polling makes up for lost notifications.
//
// | connection | by                                        | then                                   |
// |------------|-------------------------------------------|----------------------------------------|
// | none       | the first listener, or the first commit   | opening                                |
// | opening    | no connection comes about                 | none; opening after 1 s                |
// | opening    | it listens                                | open; waiting notifications are sent   |
// | open       | it breaks, or gives no answer in 5 s      | none; opening after 1 s                |
import pg from 'pg';
import { type Clock, sleep } from '../runtime/clock.ts';
import { atMostEach, tellEachMs } from './at-most-each.ts';

const channel = 'svc_changes';
/** At most 20 notifications a second: NOTIFY wakes every process that listens. */
const notifyEachMs = 50;
const reopenAfterMs = 1_000;
/** A server that is gone without a word is noticed after twice this. */
const aliveEachMs = 5_000;
/** For so long after a sign of change something goes on: then listeners look often. */
const busyMs = 5_000;
const busyLookMs = 250;
const idleLookMs = 5_000;

export class ChangeChannel {
  readonly #settings: pg.ClientConfig;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  readonly #tell: () => void;
  readonly #closing = new AbortController();
  #client: pg.Client | null = null;
  /** The connection that is being opened. */
  #opening: Promise<unknown> | null = null;
  #running: Promise<void> | null = null;
  /** There was a commit that others were not told of. */
  #isUntold = false;
  #isResting = false;
  /** The last question of the connection: one after the other. */
  #asked: Promise<unknown> = Promise.resolve();
  #signAt = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  #cancelLook: (() => void) | null = null;

  constructor(settings: pg.ClientConfig, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#tell = atMostEach(clock, tellEachMs, () => {
      for (const listener of this.#listeners) listener();
    });
  }

  /** A transaction of this process was committed: its listeners hear at once, others soon. */
  committed(): void {
    this.#isUntold = true;
    this.#open();
    this.#notify();
    this.#heard();
  }

  /**
   * Calls `listener` after commits, and at least each 250 ms while something goes on, each 5 s else.
   * Returns the end of it.
   */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#open();
    if (!this.#cancelLook) this.#lookAfter(idleLookMs);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopLooking();
    };
  }

  /** Resolves when others were told of the last commit; where the server is gone, without that. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopLooking();
    if (this.#isUntold && !this.#client) await this.#opening;
    this.#isResting = false;
    this.#notify();
    await this.#asked;
    this.#closing.abort();
    await this.#client?.end();
    await this.#running;
  }

  #open(): void {
    if (!this.#closing.signal.aborted) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const client = new pg.Client(this.#settings);
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      client.on('error', () => {});
      this.#opening = this.#listen(client);
      if (await this.#opening) {
        const cancelWatch = this.#watch(client);
        if (signal.aborted) await client.end();
        await ended;
        cancelWatch();
        this.#client = null;
      } else {
        await client.end();
      }
      await sleep(this.#clock, reopenAfterMs, signal);
    }
  }

  /** False where no connection comes about. */
  async #listen(client: pg.Client): Promise<boolean> {
    const own = () => (client as { processID?: number }).processID;
    client.on('notification', ({ processId }) => {
      if (processId !== own()) this.#heard();
    });
    try {
      await client.connect();
      // A notification commits nothing that a power failure could take.
      await client.query(`set synchronous_commit = off; listen ${channel}`);
    } catch {
      return false;
    }
    this.#client = client;
    this.#notify();
    // Commits may have happened while nobody listened.
    this.#heard();
    return true;
  }

  /** Ends a connection that gives no answer any more; returns the end of this. */
  #watch(client: pg.Client): () => void {
    const ask = async () => {
      const patience = sleep(this.#clock, aliveEachMs).then(() => false);
      const isAlive = await Promise.race([this.#ask(client, 'select 1'), patience]);
      if (isAlive) cancel = askLater();
      // With a question open this does not wait for the other side.
      else await client.end();
    };
    const askLater = () => this.#clock.after(aliveEachMs, () => void ask());
    let cancel = askLater();
    return () => cancel();
  }

  /** False where no answer comes any more. */
  #ask(client: pg.Client, text: string): Promise<boolean> {
    const answer = this.#asked
      .then(() => client.query(text))
      .then(
        () => true,
        () => false,
      );
    this.#asked = answer;
    return answer;
  }

  #notify(): void {
    const client = this.#client;
    if (!client || !this.#isUntold || this.#isResting) return;
    this.#isUntold = false;
    this.#isResting = true;
    this.#clock.after(notifyEachMs, () => {
      this.#isResting = false;
      this.#notify();
    });
    void this.#ask(client, `notify ${channel}`).then((isTold) => {
      // The connection is gone: the next one tells.
      if (!isTold) this.#isUntold = true;
    });
  }

  /** A sign that something goes on. */
  #heard(): void {
    this.#signAt = this.#clock.elapsed();
    if (this.#cancelLook && !this.#isBusy) this.#lookAfter(busyLookMs);
    this.#tell();
  }

  #lookAfter(ms: number): void {
    this.#cancelLook?.();
    this.#isBusy = ms === busyLookMs;
    this.#cancelLook = this.#clock.after(ms, () => {
      const isBusy = this.#clock.elapsed() - this.#signAt < busyMs;
      this.#lookAfter(isBusy ? busyLookMs : idleLookMs);
      this.#tell();
    });
  }

  #stopLooking(): void {
    this.#cancelLook?.();
    this.#cancelLook = null;
  }
}
