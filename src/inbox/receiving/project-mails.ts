// Reads, parses and stores leased mails (projector.ts schedules it). Small mails share the read,
// the parse worker and the transaction. While some results are stored, the next mails are parsed.
import type { App } from '../../core/app.ts';
import { readBlob } from '../../core/blobs/blobs.ts';
import { findSmallBlobs } from '../../core/blobs/queries.ts';
import { parseHeaderOnly } from '../../mail/parse/read-header.ts';
import {
  finishProjection,
  foundRowOf,
  mostTries,
  parseMessage,
  parseOptionsOf,
  type Reading,
} from '../../outbound/messages/contents/projection.ts';
import {
  findParsed,
  type TakenProjection,
} from '../../outbound/messages/contents/projection-queries.ts';
import { findMessageRows, type MessageRow } from '../../outbound/messages/queries.ts';
import { CapacityError } from '../../platform/errors.ts';

/** Most mails that are read together. Results are stored once there are as many. */
const together = 32;
/** Most bytes of a mail that is parsed with further mails. A larger mail is alone in memory. */
const smallBytes = 32 * 1024;
/** Characters of results above which they are stored at once, to bound memory. */
const keptTogether = 1024 * 1024;

/** Limits after which a run stops. */
export interface Bounds {
  /** Called before more work begins; true stops the run. */
  isOver(): boolean;
  /** Aborts when the run must no longer wait for started work. */
  over: AbortSignal;
}

/** Outcome of a mail. `row` is null if an earlier try has stored the result. */
type Outcome =
  | { kind: 'found'; row: Reading | null }
  /** The mail is tried again once the lease ends. */
  | { kind: 'again' }
  /** The parser or the store had no room, through no fault of the mail. */
  | { kind: 'no room'; reason: CapacityError };

/** A leased mail with the data read so far. */
interface Leased {
  id: string;
  tries: number;
  /** Whether an earlier try has stored the result. */
  isParsed: boolean;
  message: MessageRow | undefined;
  /** Bytes of a small mail; undefined for a larger mail, which is read when it is parsed. */
  raw: Buffer | undefined;
}

/**
 * Parses leased mails and stores the results. Returns the ids of mails that were not begun or not
 * stored for a reason outside of the mail.
 */
export async function projectMails(
  app: App,
  taken: readonly TakenProjection[],
  bounds: Bounds,
): Promise<string[]> {
  const sorted = taken.toSorted((a, b) => (a.message_id < b.message_id ? -1 : 1));
  const left = new Set(sorted.map(({ message_id }) => message_id));
  const gathered = new Gathered(app);
  try {
    for await (const bundle of bundlesOf(app, sorted)) {
      if (bounds.isOver()) break;
      const outcomes = await unlessOver(bounds.over, projectAll(app, bundle));
      if (!outcomes) break;
      await gathered.addAll(bundle, outcomes, left);
      const noRoom = outcomes.find((one) => one.kind === 'no room');
      if (noRoom) throw noRoom.reason;
      gathered.keepBehind();
    }
  } catch (error) {
    if (!(error instanceof CapacityError)) throw error;
    const text = 'received mail waits to be parsed: there is no room for it now';
    app.log.warn({ err: error, waiting: left.size }, text);
  } finally {
    await gathered.keep();
  }
  return [...left, ...gathered.refused];
}

/**
 * Returns the outcome of `work`, or undefined once the signal aborts. Removes the listener: the
 * signal exists as long as the daemon, and a `Promise.race` with it would hold the outcome, with
 * all texts of the mails, for as long.
 */
async function unlessOver<T>(over: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const left = Promise.withResolvers<undefined>();
  const leave = () => left.resolve(undefined);
  over.addEventListener('abort', leave, { once: true });
  if (over.aborted) leave();
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    over.removeEventListener('abort', leave);
  }
}

/**
 * Yields mails that are parsed together, in order: consecutive small mails, or a single larger
 * mail.
 */
async function* bundlesOf(
  app: App,
  taken: readonly TakenProjection[],
): AsyncGenerator<readonly Leased[]> {
  for (let first = 0; first < taken.length; first += together) {
    let small: Leased[] = [];
    for (const one of await readGroup(app, taken.slice(first, first + together))) {
      if (!isLarge(one)) {
        small.push(one);
        continue;
      }
      if (small.length > 0) yield small;
      small = [];
      yield [one];
    }
    if (small.length > 0) yield small;
  }
}

function isLarge({ isParsed, message, raw }: Leased): boolean {
  return !isParsed && raw === undefined && Boolean(message?.raw_blob_id);
}

async function readGroup(
  { store: { db } }: App,
  group: readonly TakenProjection[],
): Promise<Leased[]> {
  const ids = group.map(({ message_id }) => message_id);
  const parsed = await findParsed(db, ids);
  const rows = await findMessageRows(
    db,
    ids.filter((id) => !parsed.has(id)),
  );
  const messages = new Map(rows.map((row) => [row.id, row]));
  const blobIds = rows.flatMap(({ raw_blob_id }) => raw_blob_id ?? []);
  const small = await findSmallBlobs(db, blobIds, smallBytes);
  return group.map(({ message_id: id, tries }) => {
    const message = messages.get(id);
    const raw = small.get(message?.raw_blob_id ?? '');
    return { id, tries, isParsed: parsed.has(id), message, raw };
  });
}

const notStarted = () =>
  new CapacityError('the parse worker did not start', 1, { reason: 'capacity-parser' });

function projectAll(app: App, bundle: readonly Leased[]): Promise<Outcome[]> {
  return Promise.all(bundle.map((one) => projectOne(app, one)));
}

async function projectOne(app: App, leased: Leased): Promise<Outcome> {
  const { id, tries, isParsed, message, raw } = leased;
  try {
    if (isParsed) return { kind: 'found', row: null };
    if (!message) return { kind: 'again' };
    if (tries > mostTries) return { kind: 'found', row: await headerOf(app, message) };
    const { row, cutShort } = await parseMessage(app, message, raw);
    if (cutShort === 'before') return { kind: 'no room', reason: notStarted() };
    if (cutShort === 'within' && tries < mostTries) return { kind: 'again' };
    return { kind: 'found', row };
  } catch (error) {
    if (error instanceof CapacityError) return { kind: 'no room', reason: error };
    const text = 'a received mail could not be parsed: trying again';
    app.log.error({ err: error, messageId: id, tries }, text);
    return { kind: 'again' };
  }
}

/**
 * Returns a result from the header alone, for a mail with too many tries: parsing never ended, not
 * even with an error.
 */
async function headerOf(app: App, message: MessageRow): Promise<Reading> {
  const raw = message.raw_blob_id ? await readBlob(app, message.raw_blob_id) : undefined;
  const why = 'parsing did not end: only the header was read';
  const known = raw ?? Buffer.alloc(0);
  return foundRowOf(parseHeaderOnly(known, parseOptionsOf(message), 'parser-failed', why));
}

/** Gathers results, and stores them in groups. */
class Gathered {
  /** Ids of results that the store refused for lack of space. */
  readonly refused: string[] = [];
  readonly #app: App;
  #found: { id: string; row: Reading | null }[] = [];
  #characters = 0;
  #keeping: Promise<unknown> = Promise.resolve();

  constructor(app: App) {
    this.#app = app;
  }

  /** Adds the results of these mails, and removes finished mails from `left`. */
  async addAll(
    bundle: readonly Leased[],
    outcomes: readonly Outcome[],
    left: Set<string>,
  ): Promise<void> {
    for (const [index, outcome] of outcomes.entries()) {
      const id = bundle[index]?.id ?? '';
      if (outcome.kind !== 'no room') left.delete(id);
      if (outcome.kind === 'found') await this.#add(id, outcome.row);
    }
  }

  async #add(id: string, row: Reading | null): Promise<void> {
    this.#found.push({ id, row });
    for (const text of [row?.html, row?.text, row?.new_content, row?.quoted_content]) {
      this.#characters += text?.length ?? 0;
    }
    if (this.#characters > keptTogether) await this.keep();
  }

  /** Starts to store the results once there are enough. Meanwhile more mails are parsed. */
  keepBehind(): void {
    if (this.#found.length < together) return;
    void this.keep();
  }

  /** Resolves when all gathered results are stored or refused. */
  async keep(): Promise<void> {
    const found = this.#found;
    this.#found = [];
    this.#characters = 0;
    const before = this.#keeping;
    const keeping = Promise.all(found.map(({ id, row }) => this.#keepOne(id, row)));
    this.#keeping = Promise.all([before, keeping]);
    await this.#keeping;
  }

  async #keepOne(id: string, row: Reading | null): Promise<void> {
    try {
      await finishProjection(this.#app, id, row);
    } catch (error) {
      if (error instanceof CapacityError) this.refused.push(id);
      const text = 'the parsed content of a message could not be stored: it is parsed again';
      this.#app.log.error({ err: error, messageId: id }, text);
    }
  }
}
