// A screen that redraws itself on a terminal until q or Ctrl-C. The terminal is restored however
// the process ends.
import { interruptedCode } from './failure.ts';

const redrawMs = 1_000;
const ctrlC = '\u0003';
/**
 * Enters the alternate screen, hides the cursor and does not wrap long lines; `leave` undoes that.
 */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const leave = '\u001b[?7h\u001b[?25h\u001b[?1049l';

function show(text: string): void {
  const lines = text.split('\n').slice(0, (process.stdout.rows || 24) - 1);
  const drawn = lines.map((line) => `${line}\u001b[K\n`).join('');
  process.stdout.write(`\u001b[H${drawn}\u001b[J`);
}

/** Shows the text of `draw`, again every second; sets exit code 130 after Ctrl-C. */
export async function liveScreen(draw: () => Promise<string>): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const restore = () => process.stdout.write(leave);
  const onKey = (keys: Buffer) => {
    const text = keys.toString();
    if (text.includes(ctrlC)) process.exitCode = interruptedCode;
    if (/q/i.test(text) || text.includes(ctrlC)) ended.resolve();
  };
  let drawing = false;
  const redraw = () => {
    // Skips a second while the previous text is not ready: a slow store must not pile up reads.
    if (drawing) return;
    drawing = true;
    draw()
      .then(show, ended.reject)
      .finally(() => {
        drawing = false;
      });
  };
  process.once('exit', restore);
  process.stdout.write(enter);
  if (process.stdin.isTTY) process.stdin.setRawMode(true);
  process.stdin.on('data', onKey);
  process.stdout.on('resize', redraw);
  const timer = setInterval(redraw, redrawMs);
  redraw();
  try {
    await ended.promise;
  } finally {
    clearInterval(timer);
    process.stdout.off('resize', redraw);
    process.stdin.off('data', onKey).pause();
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    process.off('exit', restore);
    restore();
  }
}
