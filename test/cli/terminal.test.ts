// Behaviour on a terminal only: questions before a deletion, colours, progress bars.
// Slow: each command is a process with a terminal of its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliWorkspace, cliWorkspace, initializedWorkspace } from '../support/cli.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';

let cli: CliWorkspace;
let sender: string;
beforeAll(async () => {
  cli = await initializedWorkspace();
  const { items } = await cli.json<{ items: { id: string }[] }>(['senders', 'list']);
  sender = items[0]?.id ?? '';
});
afterAll(() => cli.close());

describe.skipIf(!hasTerminal)('on a terminal', () => {
  it.each([
    ['no', 1, 'n\r'],
    ['Enter', 1, '\r'],
    ['Ctrl-C', 130, '\u0003'],
  ])('the answer %s deletes nothing and ends with %i', async (_, end, keys) => {
    const dialogue = [{ after: '(y/N)', keys }];
    const { code, output } = await onTerminal(cli, `senders delete ${sender}`, { dialogue });
    expect(output).toContain('Delete the sender hello@sandbox.test for good?');
    expect(output).toContain('svc: nothing was changed');
    expect(code).toBe(end);
    expect((await cli.run(['senders', 'show', sender])).code).toBe(0);
  });

  it('a list is bold and narrow, or plain and whole with NO_COLOR and --wide', async () => {
    const bold = '\u001b[1m';
    const name = 'A name of a sender that is longer than its column may be at 80 characters';
    await cli.json(['senders', 'create', '--email', 'long@sandbox.test', '--name', name]);
    const narrow = await onTerminal(cli, 'senders list');
    expect(narrow.output).toContain(bold);
    expect(narrow.output).not.toContain(name);
    const whole = await onTerminal(cli, 'senders list --wide', { env: { NO_COLOR: '1' } });
    expect(whole.output).not.toContain(bold);
    expect(whole.output).toContain(name);
  });

  it('a backup shows a bar that reaches its end', async () => {
    const { code, output } = await onTerminal(cli, 'backup backup.db');
    expect(code).toBe(0);
    expect(output).toMatch(/copied █+ 100 %/);
  });

  it('the answer yes deletes', async () => {
    const dialogue = [{ after: '(y/N)', keys: 'y\r' }];
    expect((await onTerminal(cli, `senders delete ${sender}`, { dialogue })).code).toBe(0);
    expect((await cli.run(['senders', 'show', sender])).code).toBe(3);
  });

  it('daemon says nothing twice at its first start', async () => {
    const fresh = cliWorkspace();
    try {
      const dialogue = [{ after: 'ready', keys: '\u0003' }];
      const { output } = await onTerminal(fresh, 'daemon', { dialogue });
      expect(output.match(/No mail leaves this machine/g)).toHaveLength(1);
      expect(output.match(/first API key/g)).toHaveLength(1);
    } finally {
      fresh.close();
    }
  });
});
