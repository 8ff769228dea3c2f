// The order of test files. A slow file states its reason in a comment ("Slow: …"), and starts
// first: started last, it would leave the processes of the run idle beside it. On a fresh clone
// vitest knows no times and sorts by size, but the slowest files are among the small ones.
import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const reason = /\bslow(?: test)?s?: /i;

/** Tells whether a test file states why it is slow. */
export function statesReason(file: string): boolean {
  return reason.test(readFileSync(file, 'utf8'));
}

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ project, moduleId }: TestSpecification) =>
      project.config.isolate ? 0 : statesReason(moduleId) ? 1 : 2;
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
