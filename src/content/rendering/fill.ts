// Fills templates in a worker, each fill with a deadline: a template or the data can ask for more
// work than the event loop can do. fill-compiled.ts does the filling. This file loads little code:
// the worker starts with the first fill.
import type { App } from '../../core/app.ts';
import { CapacityError, ValidationError } from '../../platform/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { type Refusal, WorkerPool } from '../../platform/runtime/workers/pool.ts';
import { pauseSeconds } from '../../platform/runtime/workers/strikes.ts';
import { LostJob } from '../../platform/runtime/workers/thread.ts';
import type { CompiledTemplate, Filled, FillValues } from './compiled.ts';
import type { FillOutcome, FillPayload } from './fill-worker.ts';

/** Most bytes of data for a fill, as JSON. */
const mostDataBytes = 256 * 1024;

/** Names that templates read besides their data. Data cannot have these names. */
const reservedNames = [
  ...['brand', 'contact', 'message', 'sender', 'unsubscribe_url', 'view_url'],
] as const;

/** Most keys remembered as sent to the worker, which caches fewer templates. */
const mostSentKeys = 2000;

const unavailable = (message: string) =>
  new CapacityError(message, 1, { reason: 'capacity-parser' });

/** Size up to which several fills are sent to the worker together. */
const smallBytes = 64 * 1024;

let apps = 0;

const fillerOf = perApp((app: App) => {
  apps += 1;
  // The prefix separates apps that share a worker: equal keys may name different templates there.
  return { pool: app.keep('fill', makePool), prefix: `${apps} ` };
});

function refuse(why: Refusal): Error {
  if (why === 'full') return unavailable('too many templates wait to be filled');
  if (why === 'closed') return unavailable('templates cannot be filled now');
  const advice = 'your templates took too long to fill: wait a moment';
  return new CapacityError(advice, pauseSeconds, { reason: 'capacity-parser' });
}

function makePool(clock: Clock) {
  return new WorkerPool<FillPayload, FillOutcome>({
    clock,
    script: new URL('./fill-worker.ts', import.meta.url),
    deadlineMs: 3000,
    heapMb: 256,
    mostJobs: 1000,
    mostBytes: 64 * 1024 * 1024,
    firstBytes: smallBytes,
    refuse,
  });
}

export interface TemplateToFill {
  /** Id of the compiled template: the version, or a digest. Equal keys have equal templates. */
  key: string;
  compiled: CompiledTemplate;
}

/** Returns the values as JSON. @throws ValidationError for reserved names and for too much data */
function valuesOf(values: FillValues, dataField: string): string {
  const taken = reservedNames.filter((name) => Object.hasOwn(values.data, name));
  if (taken.length > 0) {
    const problem = 'is a name that every template has: rename it';
    const fields = taken.map((name) => [`${dataField}.${name}`, [problem]]);
    throw new ValidationError(`${dataField}.${taken[0]}: ${problem}`, Object.fromEntries(fields));
  }
  let json: string;
  try {
    json = JSON.stringify(values);
  } catch {
    throw ValidationError.of(dataField, 'is nested too deep');
  }
  // Allows 64 KB for the values besides the data: their sizes are limited when they are stored.
  if (json.length > mostDataBytes / 2 && Buffer.byteLength(json) > mostDataBytes + 64 * 1024) {
    throw ValidationError.of(dataField, `has at most ${mostDataBytes / 1024} KB as JSON`);
  }
  return json;
}

export interface FillOptions {
  /**
   * Field of the caller that contains the data, such as `email.templateData`. Errors about data
   * begin with this field.
   */
  dataField: string;
  /** Whether the answer leaves out HTML and text. */
  isBrief?: boolean;
  /** Cancels a fill that no worker has begun, with a reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Fills a template for a message.
 * @throws ValidationError if `contract.json` or the template refuses the data; CapacityError if the
 * pool is full or closed, or pauses the organization
 */
export async function fillTemplate(
  app: App,
  organizationId: string,
  { key: ownKey, compiled }: TemplateToFill,
  values: FillValues,
  { dataField, isBrief = false, signal }: FillOptions,
): Promise<Filled> {
  const json = valuesOf(values, dataField);
  const { pool, prefix } = fillerOf(app);
  const key = prefix + ownKey;
  const run = (mustSend: boolean) =>
    pool.run({
      holder: organizationId,
      bytes: json.length,
      isSmall: json.length <= smallBytes,
      signal,
      payload: (sent) => {
        const isSent = !mustSend && sent.has(key);
        if (sent.size >= mostSentKeys) sent.clear();
        sent.add(key);
        return { key, compiled: isSent ? null : compiled, values: json, dataField, isBrief };
      },
    });
  try {
    const outcome = await run(false);
    return filledOf(outcome.kind === 'unknown' ? await run(true) : outcome);
  } catch (error) {
    if (!(error instanceof LostJob)) throw error;
    if (!error.isBegun) throw refuse('closed');
    const cost = error.isTimeout ? 'long' : 'much memory';
    const problem = `filling the template took too ${cost}: make its loops or the data smaller`;
    throw ValidationError.of(dataField, problem);
  }
}

function filledOf(outcome: FillOutcome): Filled {
  if (outcome.kind === 'filled') return outcome.filled;
  if (outcome.kind === 'unknown') throw refuse('closed');
  const { fields } = outcome;
  const [[field = '', [problem = ''] = []] = []] = Object.entries(fields);
  throw new ValidationError(`${field}: ${problem}`, fields);
}
