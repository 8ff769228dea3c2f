// What is different on a terminal: questions before something is deleted, colours, progress bars.
// The terminal is util-linux's `script`; where there is none, there is nothing to test with.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliWorkspace, initializedWorkspace, svc } from '../support/cli.ts';

const script = '/usr/bin/script';

let cli: CliWorkspace;
let sender: string;
beforeAll(async () => {
  cli = await initializedWorkspace();
  const { items } = await cli.json<{ items: { id: string }[] }>(['senders', 'list']);
  sender = items[0]?.id ?? '';
});
afterAll(() => cli.close());

interface OnTerminal {
  /** Typed once the output holds `after`. */
  type?: { after: string; keys: string };
  env?: Record<string, string>;
}

function onTerminal(command: string, { type, env }: OnTerminal = {}) {
  const child = spawn(script, ['-qec', `${svc} ${command}`, '/dev/null'], {
    cwd: cli.directory,
    env: { ...cli.env, TERM: 'xterm', ...env },
  });
  let output = '';
  let typed = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (!type || typed || !output.includes(type.after)) return;
    typed = true;
    child.stdin.write(type.keys);
  });
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
}

describe.skipIf(!existsSync(script))('on a terminal', () => {
  test.each([
    ['no', 1, 'n\r'],
    ['Enter, which means no,', 1, '\r'],
    ['Ctrl-C', 130, '\u0003'],
  ])('%s to the question changes nothing and ends with %i', async (_, end, keys) => {
    const type = { after: '(y/N)', keys };
    const { code, output } = await onTerminal(`senders delete ${sender}`, { type });
    expect(output).toContain('Delete the sender hello@sandbox.test for good?');
    expect(output).toContain('svc: nothing was changed');
    expect(code).toBe(end);
    expect((await cli.run(['senders', 'show', sender])).code).toBe(0);
  });

  test('the names of fields stand out, but not with NO_COLOR', async () => {
    const bold = '\u001b[1m';
    expect((await onTerminal('senders list')).output).toContain(bold);
    const plain = await onTerminal('senders list', { env: { NO_COLOR: '1' } });
    expect(plain.output).not.toContain(bold);
  });

  test('a backup shows a bar that gets to its end', async () => {
    const { code, output } = await onTerminal('backup backup.db');
    expect(code).toBe(0);
    expect(output).toMatch(/copied █+ 100 %/);
  });

  test('yes to the question does it', async () => {
    const type = { after: '(y/N)', keys: 'y\r' };
    expect((await onTerminal(`senders delete ${sender}`, { type })).code).toBe(0);
    expect((await cli.run(['senders', 'show', sender])).code).toBe(3);
  });
});
