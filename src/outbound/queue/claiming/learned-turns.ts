// Learns each second how far other daemons have given turns in the flows of the queue
// (delivery-turns.ts). Reads only the end of the queue: long backlogs reach it, and short backlogs
// need not be shared evenly.
import { portionsOf } from '../../../access/admission/portions.ts';
import type { App } from '../../../core/app.ts';
import { lastTurns } from '../../deliveries/claim-queries.ts';
import { turnsOf } from './delivery-turns.ts';

const lookEachMs = 1_000;
const rows = 500;

export class LearnedTurns {
  readonly #app: App;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(app: App) {
    this.#app = app;
  }

  /** Reads the end of the queue if another daemon exists and a second has passed. */
  async look(): Promise<void> {
    const { clock, store } = this.#app;
    const now = clock.elapsed();
    const daemons = portionsOf(this.#app).daemons(now);
    const turns = turnsOf(this.#app);
    if (daemons === 1) return turns.forgetOthers();
    if (now - this.#lookedAt < lookEachMs) return;
    this.#lookedAt = now;
    const found = await lastTurns(store.db, rows);
    const last = found.flatMap((row) => (row.turn === null ? [] : { ...row, turn: row.turn }));
    turns.learn(last, daemons);
  }
}
