// Compiles templates in a worker, each with a deadline. compile/compile-sources.ts does the
// compiling. This file loads little code: the worker starts with the first template.
import type { App } from '../../core/app.ts';
import { CapacityError, ValidationError } from '../../platform/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { type Refusal, WorkerPool } from '../../platform/runtime/workers/pool.ts';
import { pauseSeconds } from '../../platform/runtime/workers/strikes.ts';
import { LostJob } from '../../platform/runtime/workers/thread.ts';
import type { LintFacts } from './compile/lint.ts';
import type { CompileOutcome, CompilePayload } from './compile-worker.ts';
import type { Compilation, TemplateFiles, TemplateWarning } from './compiled.ts';
import { checkFiles, fieldOf, fileLimits } from './files.ts';

const deadlineMs = 1000;

function refuse(why: Refusal): Error {
  const message = {
    full: 'too many templates wait to be compiled',
    paused: 'your templates took too long to compile: wait a moment',
    closed: 'templates cannot be compiled now',
  }[why];
  const seconds = why === 'paused' ? pauseSeconds : 1;
  return new CapacityError(message, seconds, { reason: 'capacity-parser' });
}

const poolOf = perApp((app: App) => app.keep('compile', makePool));

/**
 * `limitMs` is for tests: no template within the limits of files takes over a second on every
 * machine.
 */
function makePool(clock: Clock, limitMs = deadlineMs) {
  return new WorkerPool<CompilePayload, CompileOutcome>({
    clock,
    script: new URL('./compile-worker.ts', import.meta.url),
    deadlineMs: limitMs,
    heapMb: 256,
    mostJobs: 200,
    mostBytes: 64 * 1024 * 1024,
    firstBytes: fileLimits.bytesInAll,
    refuse,
  });
}

/** Runs a single job in the worker, because the deadline is for a single template. */
function run(app: App, holder: string, bytes: number, payload: CompilePayload) {
  return poolOf(app).run({ holder, bytes, isSmall: false, payload: () => payload });
}

export interface TemplateToCompile {
  files: TemplateFiles;
  /** CSS of the brand, after `checkBrandCss` accepted it. */
  brandCss: string;
}

/** Matches files that a compilation reads. Files such as README.md are only stored. */
const read = /^(?:template\.yaml|body\.(?:mjml|html|txt)|(?:contract|sample)\.json|partials\/.+)$/;

function bodyOf(files: TemplateFiles): string {
  return ['body.mjml', 'body.html'].find((path) => files[path] !== undefined) ?? 'body.txt';
}

function refusal(path: string, line: number | null, message: string): ValidationError {
  return ValidationError.of(fieldOf(path), line === null ? message : `line ${line}: ${message}`);
}

/**
 * Compiles the files of a template.
 * @throws ValidationError with the field `files.<path>` and the line in the message; CapacityError
 * if the pool is full or closed, or pauses the organization
 */
export async function compileTemplate(
  app: App,
  organizationId: string,
  { files, brandCss }: TemplateToCompile,
): Promise<Compilation> {
  checkFiles(files);
  const own = Object.fromEntries(Object.entries(files).filter(([path]) => read.test(path)));
  const bytes = Object.values(own).reduce((sum, content) => sum + content.length, brandCss.length);
  const path = bodyOf(files);
  const input = { files: own, brandCss };
  const cannotBe = () => refusal(path, null, 'cannot be compiled: make it simpler');
  try {
    const outcome = await run(app, organizationId, bytes, { kind: 'compile', input });
    if (outcome.kind === 'compiled') return outcome.compilation;
    if (outcome.kind === 'refused') throw refusal(outcome.path, outcome.line, outcome.message);
    throw cannotBe();
  } catch (error) {
    if (!(error instanceof LostJob)) throw error;
    if (!error.isBegun) throw refuse('closed');
    if (!error.isTimeout) throw cannotBe();
    throw refusal(path, null, `takes over ${deadlineMs / 1000} s to compile: make it smaller`);
  }
}

/**
 * Returns advice about the HTML of a mail as it would be sent; an empty list if the worker fails or
 * takes too long.
 * @throws CapacityError if the pool is full or closed, or pauses the organization
 */
export async function lintContent(
  app: App,
  organizationId: string,
  html: string,
  facts: LintFacts,
): Promise<TemplateWarning[]> {
  try {
    const outcome = await run(app, organizationId, html.length, { kind: 'lint', html, facts });
    return outcome.kind === 'linted' ? outcome.warnings : [];
  } catch (error) {
    if (!(error instanceof LostJob)) throw error;
    if (!error.isBegun) throw refuse('closed');
    return [];
  }
}
