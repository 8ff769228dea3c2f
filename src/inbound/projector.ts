// The stage after the 250: what came in is parsed once, one mail at a time in the parse worker, and what was
// found is kept (src/messages/projection.ts has the states of a row). At our own pace:
//
//   pressure | is on while                           | the next batch
//   ---------+---------------------------------------+-----------------------------------------------
//   none     | neither sends nor mails press in      | at once
//   burst    | they do (queue/intake, mail-intake)   | none; it is looked again after 100 ms
//   late     | they do, what waits has done so 10 s  | 100 ms after the one before
//
// A batch is of those that nobody has begun; what was begun goes alone, so that a mail that takes a daemon
// along takes no other with it, try after try.
import type { App } from '../app.ts';
import { CapacityError } from '../errors.ts';
import { findBlob } from '../messages/content-queries.ts';
import {
  finishProjection,
  foundRowOf,
  mostTries,
  parseMessage,
  parseOptionsOf,
} from '../messages/projection.ts';
import {
  type FoundRow,
  firstDueProjection,
  handBackProjections,
  isParsed,
  releaseProjections,
  type TakenProjection,
  takeProjections,
} from '../messages/projection-queries.ts';
import { findMessageRow, type MessageRow } from '../messages/queries.ts';
import { parseHeaderOnly } from '../mime/parse/read-header.ts';
import { intakeOf } from '../queue/intake.ts';
import { createDueLoop } from '../store/due-loop.ts';
import { mailIntakeOf } from './mail-intake.ts';

const batch = 16;
/** A mail takes 2 s at the most; after this another try begins, here or in another daemon. */
const leaseMs = 60_000;
/** What was found is kept together up to so many characters, so that little of it is in memory. */
const keptTogether = 1024 * 1024;
/** What is due and was not taken another daemon has: it is looked at again after this. */
const othersPauseMs = 1_000;
/** The parser has no room, or the worker does not start: as long again. */
const noRoomPauseMs = 1_000;
const besideBurstMs = 100;
/** Who has waited for so long waits for no burst any more. */
const patienceMs = 10_000;

export interface Projector {
  /** Takes up what a daemon that died had begun (SQLite: there is only one daemon) and starts. */
  start(): Promise<void>;
  /** Hands back what is not parsed yet, at once. */
  stop(): Promise<void>;
  /** Parses a batch of what is due now; for tests and the loop. Returns how many were taken. */
  projectDue(): Promise<number>;
}

/** The projector of one daemon. */
export function createProjector(app: App): Projector {
  const stopping = Promise.withResolvers<typeof stopped>();
  const pressure = pressureOf(app);

  const projectDue = async (): Promise<number> => {
    const { db } = app.store;
    const now = app.clock.now();
    const first = await firstDueProjection(db);
    if (!first || first.due_at > now) return 0;
    const isBegun = first.tries > 0;
    const taking = { now, leaseUntil: now + leaseMs, limit: isBegun ? 1 : batch, isBegun };
    const taken = await app.store.write((trx) => takeProjections(trx, taking), 'quiet');
    await projectAll(app, taken, stopping.promise);
    return taken.length;
  };

  const step = async (): Promise<number> => {
    const { clock } = app;
    const pauseMs = pressure.pauseMs();
    if (pauseMs > 0) return clock.now() + pauseMs;
    const dueAt = (await firstDueProjection(app.store.db))?.due_at ?? Infinity;
    if (dueAt > clock.now()) return dueAt;
    if (pressure.givesWay(clock.now() - dueAt)) return clock.now() + besideBurstMs;
    return (await projectDue()) > 0 ? 0 : clock.now() + othersPauseMs;
  };

  const trouble = 'what came in cannot be parsed now: trying again';
  const loop = createDueLoop(app, { step, trouble });
  return {
    async start() {
      if (app.store.kind === 'sqlite') {
        await app.store.write((trx) => releaseProjections(trx, app.clock.now()), 'quiet');
      }
      loop.start();
    },
    stop() {
      stopping.resolve(stopped);
      return loop.stop();
    },
    projectDue,
  };
}

const stopped = Symbol('stopped');

/** Asked before each look at the store: a burst commits many times, and each commit wakes the loop. */
function pressureOf(app: App) {
  const intakes = [intakeOf(app), mailIntakeOf(app)];
  const isPressing = () => intakes.some((intake) => intake.isPressing());
  let lookedAt = Number.NEGATIVE_INFINITY;
  return {
    /** Milliseconds for which it is not even looked. */
    pauseMs(): number {
      if (!isPressing()) return 0;
      return Math.max(0, lookedAt + besideBurstMs - app.clock.elapsed());
    },
    /** Whether what has waited for `waitedMs` waits on. */
    givesWay(waitedMs: number): boolean {
      if (!isPressing()) return false;
      lookedAt = app.clock.elapsed();
      return waitedMs < patienceMs;
    },
  };
}

/** What came of one mail. */
type Outcome =
  | { kind: 'found'; row: FoundRow | null }
  /** Its lease runs out, then it is tried again. */
  | { kind: 'again' }
  /** Through no fault of its own. */
  | { kind: 'no room'; reason: unknown };

/** Parses what was taken, one after the other, and keeps it in few transactions. */
async function projectAll(
  app: App,
  taken: readonly TakenProjection[],
  stopping: Promise<typeof stopped>,
): Promise<void> {
  const left = taken.toSorted((a, b) => (a.message_id < b.message_id ? -1 : 1));
  const gathered = new Gathered(app);
  for (let one = left[0]; one; one = left[0]) {
    const outcome = await Promise.race([projectOne(app, one), stopping]);
    if (outcome === stopped) break;
    if (outcome.kind === 'no room') {
      const text = 'mail that came in waits to be parsed: there is no room for it now';
      app.log.warn({ err: outcome.reason, waiting: left.length }, text);
      break;
    }
    left.shift();
    if (outcome.kind === 'found') await gathered.add(one.message_id, outcome.row);
  }
  await gathered.keep();
  const unparsed = [...left.map(({ message_id }) => message_id), ...gathered.refused];
  if (unparsed.length === 0) return;
  const dueAt = app.clock.now() + noRoomPauseMs;
  await app.store.write((trx) => handBackProjections(trx, unparsed, dueAt), 'quiet');
}

async function projectOne(app: App, { message_id, tries }: TakenProjection): Promise<Outcome> {
  try {
    const { db } = app.store;
    if (await isParsed(db, message_id)) return { kind: 'found', row: null };
    const message = await findMessageRow(db, message_id);
    if (!message) return { kind: 'again' };
    if (tries > mostTries) return { kind: 'found', row: await headerOf(app, message) };
    const { row, cutShort } = await parseMessage(app, message);
    if (cutShort === 'before') return { kind: 'no room', reason: 'the worker did not start' };
    if (cutShort === 'within' && tries < mostTries) return { kind: 'again' };
    return { kind: 'found', row };
  } catch (error) {
    if (error instanceof CapacityError) return { kind: 'no room', reason: error };
    const text = 'a mail that came in could not be parsed: it is tried again';
    app.log.error({ err: error, messageId: message_id, tries }, text);
    return { kind: 'again' };
  }
}

/** Of a mail that never came to an end, not even to a bad one: nothing but its header is looked at. */
async function headerOf({ store }: App, message: MessageRow): Promise<FoundRow> {
  const raw = message.raw_blob_id ? await findBlob(store.db, message.raw_blob_id) : undefined;
  const why = 'parsing did not come to an end: only the header was read';
  const known = raw ?? Buffer.alloc(0);
  return foundRowOf(parseHeaderOnly(known, parseOptionsOf(message), 'parser-failed', why));
}

/** What was found and is not kept yet. */
class Gathered {
  /** Those that the store had no room for. */
  readonly refused: string[] = [];
  readonly #app: App;
  #found: { id: string; row: FoundRow | null }[] = [];
  #characters = 0;

  constructor(app: App) {
    this.#app = app;
  }

  async add(id: string, row: FoundRow | null): Promise<void> {
    this.#found.push({ id, row });
    for (const text of [row?.html, row?.text, row?.new_content, row?.quoted_content]) {
      this.#characters += text?.length ?? 0;
    }
    if (this.#characters > keptTogether) await this.keep();
  }

  async keep(): Promise<void> {
    const found = this.#found;
    this.#found = [];
    this.#characters = 0;
    await Promise.all(found.map(({ id, row }) => this.#keepOne(id, row)));
  }

  async #keepOne(id: string, row: FoundRow | null): Promise<void> {
    try {
      await finishProjection(this.#app, id, row);
    } catch (error) {
      if (error instanceof CapacityError) this.refused.push(id);
      const text = 'what a message says could not be kept: it is parsed again';
      this.#app.log.error({ err: error, messageId: id }, text);
    }
  }
}
