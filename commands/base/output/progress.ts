// Progress of long work, on standard error: a bar on a terminal, else a line for each quarter,
// nothing with `--json`. Only this file imports cli-progress.
import type { CommonFlags } from '../command.ts';

export interface Progress {
  update(done: number, total: number): void;
  stop(): void;
}

/** Starts a progress display; each line contains `what`, such as "copied". */
export async function startProgress(flags: CommonFlags, what: string): Promise<Progress> {
  if (flags.json) return { update: () => {}, stop: () => {} };
  if (!process.stderr.isTTY) return inLines(what);
  const { SingleBar, Presets } = await import('cli-progress');
  const format = `${what} {bar} {percentage} %`;
  const bar = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
  bar.start(1, 0);
  return {
    update(done, total) {
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => bar.stop(),
  };
}

function inLines(what: string): Progress {
  let shown = 0;
  return {
    update(done, total) {
      const quarters = total === 0 ? 4 : Math.floor((done / total) * 4);
      if (quarters <= shown) return;
      shown = quarters;
      process.stderr.write(`${what} ${quarters * 25} %\n`);
    },
    stop: () => {},
  };
}
