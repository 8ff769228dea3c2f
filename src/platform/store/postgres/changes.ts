// Notifies processes on the same PostgreSQL of each other's commits. NOTIFY runs after the commit,
// on a separate connection: in the transaction it would lock the whole cluster until the commit,
// and serialize the commits of all daemons. Polling makes up for lost notifications.
//
//   connection | event                                   | then
//   -----------+-----------------------------------------+-------------------------------------
//   none       | the first listener, or the first commit | opening
//   opening    | the connection fails                    | none; opening after 1 s
//   opening    | it listens                              | open; waiting notifications are sent
//   open       | it breaks, or gives no answer in 5 s    | none; opening after 1 s
import pg from 'pg';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { atMostEach, reportEachMs } from '../rows/at-most-each.ts';

const channel = 'svc_changes';
/** Least time between notifications, because NOTIFY wakes every listening process. */
const notifyEachMs = 50;
const reopenAfterMs = 1_000;
/**
 * Time between two checks of the connection. A server that vanished is noticed after twice this
 * time.
 */
const aliveEachMs = 5_000;
/** Time after a change during which listeners are called often. */
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
  /** The attempt to open the connection, while it runs. */
  #opening: Promise<unknown> | null = null;
  #running: Promise<void> | null = null;
  /** Whether other processes were not yet notified of a commit. */
  #isUntold = false;
  #isResting = false;
  /** The last query on the connection. Queries run in sequence. */
  #asked: Promise<unknown> = Promise.resolve();
  #signAt = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  #cancelLook: (() => void) | null = null;

  constructor(settings: pg.ClientConfig, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#tell = atMostEach(clock, reportEachMs, () => {
      for (const listener of this.#listeners) listener();
    });
  }

  /** Reports a commit of this process: notifies listeners here at once, other processes soon. */
  committed(): void {
    this.#isUntold = true;
    this.#open();
    this.#notify();
    this.#heard();
  }

  /**
   * Calls `listener` after commits, and also without a known commit: every 250 ms for a while after
   * a change, else every 5 s. Returns a function that ends the calls.
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

  /**
   * Closes the connection after other processes were notified of the last commit. Does not wait for
   * a server that does not answer.
   */
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

  /** Makes the connection listen; returns false if it fails. */
  async #listen(client: pg.Client): Promise<boolean> {
    const own = () => (client as { processID?: number }).processID;
    client.on('notification', ({ processId }) => {
      if (processId !== own()) this.#heard();
    });
    try {
      await client.connect();
      // A notification stores no data, so the commit need not wait for the disk.
      await client.query(`set synchronous_commit = off; listen ${channel}`);
    } catch {
      return false;
    }
    this.#client = client;
    this.#notify();
    // Commits may have been missed before the connection listened, so the listeners are called.
    this.#heard();
    return true;
  }

  /** Closes a connection that no longer answers. Returns a function that stops the checks. */
  #watch(client: pg.Client): () => void {
    const ask = async () => {
      const patience = sleep(this.#clock, aliveEachMs).then(() => false);
      const isAlive = await Promise.race([this.#ask(client, 'select 1'), patience]);
      if (isAlive) cancel = askLater();
      // `end` does not wait for the server while a query is open.
      else await client.end();
    };
    const askLater = () => this.#clock.after(aliveEachMs, () => void ask());
    let cancel = askLater();
    return () => cancel();
  }

  /** Runs a query after the earlier queries; returns false if it fails. */
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
      // The connection is broken, so the next connection must send the notification.
      if (!isTold) this.#isUntold = true;
    });
  }

  /** Records a change and calls the listeners. */
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
