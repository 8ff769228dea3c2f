// The end of a test run: the slowest files, slow tests in files that state no reason, and the
// closing line for the continuous integration, `N passed, N failed`, alone on a line.
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { statesReason } from './slow-first.ts';

const shownFiles = 20;
const slowTestMs = 10_000;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1).padStart(6)} s`;

/**
 * Returns the slowest files with their times, and the tests over 10 s in files that state no
 * reason.
 */
function slowLines(modules: readonly TestModule[]): string[] {
  const files = modules.map((module) => {
    const { duration, setupDuration, collectDuration } = module.diagnostic();
    return { module, ms: duration + setupDuration + collectDuration };
  });
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, shownFiles);
  const lines = slowest.map(
    ({ module, ms }) => `${seconds(ms)}  ${relative(process.cwd(), module.moduleId)}`,
  );
  for (const { module } of slowest) {
    if (statesReason(module.moduleId)) continue;
    for (const test of module.children.allTests()) {
      const { duration = 0 } = test.diagnostic() ?? {};
      if (duration < slowTestMs) continue;
      lines.push(
        `${seconds(duration)}  without a reason ("Slow: …") in its file: ${test.fullName}`,
      );
    }
  }
  return lines;
}

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && module.children.size === 0) counts.failed++;
      for (const test of module.children.allTests()) counts[test.result().state]++;
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    process.stdout.write(`\nThe slowest files:\n${slowLines(modules).join('\n')}\n`);
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
  }
}
