// The pipeline of imports. A file is read as a stream, in windows of rows (rows.ts), and on a
// thread if the file is large (thread.ts). Each transaction writes about 500 rows, so that sends
// continue in between. Each transaction is complete: a repeated import changes nothing more, and a
// repeat completes an interrupted import. contacts.ts and blocks.ts define the changes of a batch.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { amendAudit } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ForbiddenError, ValidationError } from '../../platform/errors.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import type { Db } from '../../platform/store/db.ts';
import type { ReadFile, ReadWindow } from './rows.ts';
import type { ReadBatch } from './window.ts';

/** Steps by which contacts.ts or blocks.ts handles the windows of a file. */
export interface ImportSteps {
  /** Counts the rows of a window that are in no batch, such as rejected rows. */
  begin(window: ReadWindow): void;
  /**
   * Writes or compares a batch, and counts the rows. Returns false, and changes nothing, if the
   * rest of the window has to be batched again.
   */
  take(batch: ReadBatch): Promise<boolean>;
  regroup?(rest: readonly ReadBatch[]): Promise<readonly ReadBatch[]>;
  /** Called after each batch. */
  onBatch(): void;
  /** Adds the first rows of the window to the report. Called after the last batch of the window. */
  end(): void;
  finish?(): Promise<void>;
  /** Returns phrases on the changes so far for an error message; null without changes. */
  progress(): { done: string; rest: string } | null;
}

/**
 * Runs the steps of an import for all windows of a file. An unreadable row is reported with the
 * line number, and the import continues. @throws ValidationError for a file that cannot be read to
 * the end; earlier changes stay.
 */
export async function runImport(
  { organizationId }: Caller,
  { windows }: ReadFile,
  steps: ImportSteps,
): Promise<void> {
  try {
    for await (const window of windows) {
      steps.begin(window);
      let left: readonly ReadBatch[] = window.batches;
      for (let [batch] = left; batch; [batch] = left) {
        await sliceTurns('import rows', organizationId);
        if (await steps.take(batch)) {
          left = left.slice(1);
          steps.onBatch();
        } else left = (await steps.regroup?.(left)) ?? left;
      }
      steps.end();
    }
  } catch (error) {
    await steps.finish?.();
    throw withProgress(error, steps.progress());
  }
  await steps.finish?.();
}

/** Returns a copy of a refusal with the progress so far in the message. */
function withProgress(error: unknown, progress: ReturnType<ImportSteps['progress']>): unknown {
  if (progress === null) return error;
  const { done, rest } = progress;
  if (error instanceof ForbiddenError) return new ForbiddenError(`${error.message}. ${done}`);
  if (!(error instanceof ValidationError)) return error;
  return new ValidationError(`${error.message}. ${done}; ${rest}`);
}

/** Counts the rows with a result, and keeps the first rows in the order of the file. */
export class FirstRows<Row extends { line: number }> {
  readonly group: { count: number; first: Row[] } = { count: 0, first: [] };
  readonly #most: number;
  #ofWindow: Row[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds rows of the current window. `count` includes rows that are not given. */
  add(rows: readonly Row[], count = rows.length): void {
    this.group.count += count;
    if (this.group.first.length < this.#most) this.#ofWindow.push(...rows);
  }

  endWindow(): void {
    const { first } = this.group;
    const rows = this.#ofWindow.sort((a, b) => a.line - b.line);
    first.push(...rows.slice(0, this.#most - first.length));
    this.#ofWindow = [];
  }
}

/** The single audit entry of an import, which grows with each transaction. */
export class ImportEntry {
  id: string | null = null;
  readonly #app: App;
  readonly #caller: Caller;
  readonly #action: 'block.imported' | 'contact.imported';

  constructor(app: App, caller: Caller, action: 'block.imported' | 'contact.imported') {
    this.#app = app;
    this.#caller = caller;
    this.#action = action;
  }

  /**
   * Runs `work` in a transaction. `work` calls `grow` with the details so far if it changes
   * something.
   */
  async write<Result>(
    work: (trx: Db, grow: (details: Record<string, unknown>) => Promise<void>) => Promise<Result>,
    durability: 'now' | 'soon',
  ): Promise<Result> {
    let id = this.id;
    const result = await this.#app.store.write(async (trx) => {
      id = this.id;
      return work(trx, async (details) => {
        if (id !== null) await amendAudit(trx, id, details);
        const change = { subject: null, action: this.#action, details } as const;
        id ??= await record(this.#app, trx, this.#caller, change);
      });
    }, durability);
    this.id = id;
    return result;
  }
}
