// Fills templates in a worker, each fill under a deadline: a template or its data can ask for more work than
// the event loop has time for. fill-compiled.ts does the filling; workers/ manages the worker. Light to import:
// the worker starts with the first fill.
import type { App } from '../../core/app.ts';
import { CapacityError, ValidationError } from '../../platform/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { CompiledTemplate, Filled, FillValues } from './compiled.ts';
import type { FillOutcome, FillPayload } from './fill-worker.ts';
import { WorkerPool } from './workers/pool.ts';
import { pauseSeconds, Strikes } from './workers/strikes.ts';

/** Bytes of data that one fill may have, as JSON. */
const mostDataBytes = 256 * 1024;

/** Names that templates read beside their data, which data cannot have. */
const reservedNames = [
  ...['brand', 'contact', 'message', 'sender', 'unsubscribe_url', 'view_url'],
] as const;

/** Keys that are remembered as sent to the worker, which keeps fewer templates. */
const mostSentKeys = 2000;

const unavailable = (message: string) =>
  new CapacityError(message, 1, { reason: 'capacity-parser' });

/** A message that the worker answers with `unknown` at once. */
const nothingToFill: FillPayload = {
  key: '',
  compiled: null,
  values: '{}',
  dataField: '',
  isBrief: false,
};

/** Refused fills whose error names the field of the caller. */
class FillTimeout extends Error {}
class FillCrash extends Error {}

let apps = 0;

const fillerOf = perApp((app: App) => {
  apps += 1;
  const pool = app.keep('fill', makePool);
  // Apps that share a worker may have different templates with equal keys.
  return { pool, strikes: new Strikes(app.clock), prefix: `${apps} ` };
});

function makePool(clock: Clock) {
  return new WorkerPool<FillPayload, FillOutcome>({
    clock,
    script: new URL('./fill-worker.ts', import.meta.url),
    deadlineMs: 3000,
    heapMb: 256,
    mostJobs: 1000,
    mostBytes: 64 * 1024 * 1024,
    smallBytes: 64 * 1024,
    mostTogether: 32,
    full: () => unavailable('too many templates wait to be filled'),
    errors: {
      timeout: () => new FillTimeout(),
      crash: () => new FillCrash(),
      unavailable: () => unavailable('templates cannot be filled now'),
    },
  });
}

export interface TemplateToFill {
  /** Names the compiled template: its version, or a digest. Equal keys have equal templates. */
  key: string;
  compiled: CompiledTemplate;
}

/** Returns the values as JSON, within the bounds of data. */
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
  // The other values are bounded by their own resources.
  if (json.length > mostDataBytes / 2 && Buffer.byteLength(json) > mostDataBytes + 64 * 1024) {
    throw ValidationError.of(dataField, `has at most ${mostDataBytes / 1024} KB as JSON`);
  }
  return json;
}

/**
 * Fills a template for one message. `dataField` is the field of the caller that holds the data, such as
 * `email.templateData`: errors about data begin with it. `isBrief` leaves HTML and text out of
 * the answer.
 * @throws ValidationError if `contract.json` or the template refuses the data;
 * CapacityError beyond the share of the organization
 */
export async function fillTemplate(
  app: App,
  organizationId: string,
  { key: ownKey, compiled }: TemplateToFill,
  values: FillValues,
  { dataField, isBrief = false }: { dataField: string; isBrief?: boolean },
): Promise<Filled> {
  const json = valuesOf(values, dataField);
  const { pool, strikes, prefix } = fillerOf(app);
  const key = prefix + ownKey;
  const refusePaused = () => {
    if (!strikes.isPaused(organizationId)) return;
    const advice = 'your templates took too long to fill: wait a moment';
    throw new CapacityError(advice, pauseSeconds, { reason: 'capacity-parser' });
  };
  const job = (mustSend: boolean) => ({
    organizationId,
    bytes: json.length,
    payload: (sent: Set<string>): FillPayload => {
      // Fills that waited while their organization was paused take no time of the worker.
      if (strikes.isPaused(organizationId)) return nothingToFill;
      const isSent = !mustSend && sent.has(key);
      if (sent.size >= mostSentKeys) sent.clear();
      sent.add(key);
      return { key, compiled: isSent ? null : compiled, values: json, dataField, isBrief };
    },
  });
  refusePaused();
  try {
    const outcome = await pool.run(job(false));
    if (outcome.kind !== 'unknown') return filledOf(outcome);
    refusePaused();
    return filledOf(await pool.run(job(true)));
  } catch (error) {
    if (!(error instanceof FillTimeout || error instanceof FillCrash)) throw error;
    strikes.add(organizationId);
    const cost = error instanceof FillTimeout ? 'long' : 'much memory';
    const problem = `filling the template took too ${cost}: make its loops or the data smaller`;
    throw ValidationError.of(dataField, problem);
  }
}

function filledOf(outcome: FillOutcome): Filled {
  if (outcome.kind === 'filled') return outcome.filled;
  if (outcome.kind === 'unknown') throw unavailable('templates cannot be filled now');
  const { fields } = outcome;
  const [[field = '', [problem = ''] = []] = []] = Object.entries(fields);
  throw new ValidationError(`${field}: ${problem}`, fields);
}
