// The worker of compile.ts. A fault of mrml, which is WebAssembly, ends this thread alone.
// css-inline is native code: compile/html-tree.ts and compile/inline.ts bound the input, so that it
// neither crashes nor hangs.

import { serveJobs } from '../../platform/runtime/workers/serve.ts';
import { type CompileInput, compileSources } from './compile/compile-sources.ts';
import { type LintFacts, lintHtml } from './compile/lint.ts';
import type { Compilation, TemplateWarning } from './compiled.ts';
import { TemplateProblem } from './problem.ts';

export type CompilePayload =
  | { kind: 'compile'; input: CompileInput }
  | { kind: 'lint'; html: string; facts: LintFacts };

export type CompileOutcome =
  | { kind: 'compiled'; compilation: Compilation }
  | { kind: 'linted'; warnings: TemplateWarning[] }
  | { kind: 'refused'; path: string; line: number | null; message: string };

function work(payload: CompilePayload): CompileOutcome {
  if (payload.kind === 'lint') {
    return { kind: 'linted', warnings: lintHtml(payload.html, payload.facts) };
  }
  try {
    return { kind: 'compiled', compilation: compileSources(payload.input) };
  } catch (error) {
    // Every other error ends the worker: after a WebAssembly.RuntimeError mrml fails for every
    // template.
    if (!(error instanceof TemplateProblem)) throw error;
    const { path, line, message } = error;
    return { kind: 'refused', path, line, message };
  }
}

serveJobs(work);
