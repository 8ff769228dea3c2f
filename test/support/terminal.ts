// Runs svc on a terminal, which util-linux's `script` makes. Without `script` the tests are
// skipped.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type CliWorkspace, svc } from './cli.ts';

const script = '/usr/bin/script';

export const hasTerminal = existsSync(script);

/**
 * Types `keys` once the output since the previous turn contains `after`; without keys it only
 * waits.
 */
interface Turn {
  after: string;
  keys?: string;
}

interface OnTerminal {
  dialogue?: readonly Turn[];
  env?: Record<string, string>;
}

/** Runs a command line until it ends. */
export function onTerminal(
  cli: CliWorkspace,
  command: string,
  { dialogue = [], env }: OnTerminal = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn(script, ['-qec', `${svc} ${command}`, '/dev/null'], {
    cwd: cli.directory,
    env: { ...cli.env, TERM: 'xterm', ...env },
  });
  let output = '';
  let heard = 0;
  const turns = [...dialogue];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (let [turn] = turns; turn; [turn] = turns) {
      const at = output.indexOf(turn.after, heard);
      if (at < 0) return;
      heard = at + turn.after.length;
      turns.shift();
      if (turn.keys !== undefined) child.stdin.write(turn.keys);
    }
  });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
}
