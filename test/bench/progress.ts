// Progress of the bench: a line for each step, and on a terminal the seconds it takes.
import { loadavg } from 'node:os';

const tickMs = 500;

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Shows `label` and the elapsed time on a terminal, until the returned function is called. */
export function showProgress(label: string): () => void {
  if (!process.stderr.isTTY) return () => {};
  const started = performance.now();
  const draw = () => {
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(`\r\u001b[K  ${label} … ${seconds} s`);
  };
  const timer = setInterval(draw, tickMs);
  draw();
  return () => {
    clearInterval(timer);
    process.stderr.write('\r\u001b[K');
  };
}

/** Figures of a machine that does other things too need to be read with care: says so. */
export function sayLoad(): void {
  const [lastMinute = 0] = loadavg();
  if (lastMinute <= 1) return;
  say(
    `The load average is ${lastMinute.toFixed(1)}: others work on this machine, so that rates and ` +
      'times come out worse than they are.\nCore-ms per message is the figure to trust.',
  );
}

/** The middle value; of an even count the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] ?? Number.NaN;
  return Number.isInteger(half) ? ((sorted[half - 1] ?? Number.NaN) + upper) / 2 : upper;
}
