// The worker of fill.ts: caches parsed templates and fills them.
import { recentlyUsedBytes } from '../../platform/runtime/recently-used.ts';
import { serveJobs } from '../../platform/runtime/workers/serve.ts';
import type { CompiledTemplate, Filled, FillValues } from './compiled.ts';
import { FillRefusal, fillCompiled, type ReadTemplate, readTemplate } from './fill-compiled.ts';
import { TemplateProblem } from './problem.ts';

export interface FillPayload {
  key: string;
  /** The template; null if this worker received it before. */
  compiled: CompiledTemplate | null;
  /** JSON of FillValues. */
  values: string;
  /** Prefix of the fields in errors about data. */
  dataField: string;
  /** Whether the answer leaves out HTML and text. */
  isBrief: boolean;
}

/** Outcome of a fill. `unknown` requests the template, which this worker no longer has. */
export type FillOutcome =
  | { kind: 'filled'; filled: Filled }
  | { kind: 'refused'; fields: Record<string, string[]> }
  | { kind: 'unknown' };

/** Limits of the cache: less than half of the worker's memory, as fills need memory too. */
const cached = { templates: 1000, bytes: 96 * 1024 * 1024 };

const templates = recentlyUsedBytes<ReadTemplate>(
  cached.templates,
  cached.bytes,
  ({ bytes }) => bytes,
);

function templateOf({ key, compiled }: FillPayload): ReadTemplate | null {
  const known = templates.get(key);
  if (known || !compiled) return known ?? null;
  const read = readTemplate(compiled);
  templates.set(key, read);
  return read;
}

function fill(payload: FillPayload): FillOutcome {
  const { dataField } = payload;
  try {
    const template = templateOf(payload);
    if (!template) return { kind: 'unknown' };
    const values: FillValues = JSON.parse(payload.values);
    const filled = fillCompiled(template, values, dataField);
    const shown = payload.isBrief ? { ...filled, html: null, text: null } : filled;
    return { kind: 'filled', filled: shown };
  } catch (error) {
    if (error instanceof FillRefusal) return { kind: 'refused', fields: error.fields };
    const reason = error instanceof TemplateProblem ? `${error.path}: ${error.message}` : '';
    const problem = `the template cannot be filled${reason && `: ${reason}`}`;
    return { kind: 'refused', fields: { [dataField]: [problem] } };
  }
}

function sizeOf(outcome: FillOutcome): number {
  if (outcome.kind !== 'filled') return 0;
  const { html, text } = outcome.filled;
  return (html?.length ?? 0) + (text?.length ?? 0);
}

serveJobs(fill, sizeOf);
