// The help of every command: its summary, and examples that parse as they stand.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Parser } from '@oclif/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BaseCommand } from '../../commands/base/command.ts';
import { commandsFolder, interpret, listCommandIds } from '../../commands/base/input/typed.ts';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';

const ids = listCommandIds();

async function commandClass(id: string): Promise<typeof BaseCommand> {
  const file = pathToFileURL(join(commandsFolder, `${id.replaceAll(':', '/')}.ts`));
  const loaded: { default: typeof BaseCommand } = await import(file.href);
  return loaded.default;
}

interface Example {
  description: string;
  command: string;
}

/** Splits a line into words like a shell, up to the first pipe or redirection. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
  const end = words.findIndex((word) => ['|', '>', '<'].includes(word));
  return end < 0 ? words : words.slice(0, end);
}

describe.each(ids)('svc %s', (id) => {
  it('has a summary of one line', async () => {
    const { summary } = await commandClass(id);
    expect(summary).toMatch(/^[A-Z][^\n]{10,90}[^.]$/);
  });

  it('shows examples that parse as they stand', async () => {
    const Command = await commandClass(id);
    const flags = { ...BaseCommand.baseFlags, ...Command.flags };
    const commands: string[] = [];
    for (const { command } of Command.examples as Example[]) {
      const [svc, ...words] = shellWords(command.replaceAll(/\$\([^)]*\)/g, 'X'));
      expect(svc).toBe('svc');
      const typed = interpret(words, ids);
      if (typed.kind !== 'command') throw new Error(`${command} is no command`);
      commands.push(typed.id);
      if (typed.id !== id) continue;
      await expect(Parser.parse(typed.rest, { args: Command.args, flags })).resolves.toBeDefined();
    }
    expect(commands).toContain(id);
  });

  it('takes the common flags', async () => {
    const Command = await commandClass(id);
    expect(Object.keys(Command.baseFlags)).toEqual(['config', 'org', 'server', 'json']);
  });
});

describe('printed help', () => {
  let cli: CliWorkspace;
  beforeAll(() => {
    cli = cliWorkspace({}, { inProcesses: true });
  });
  afterAll(() => cli.close());

  it('lists every topic and command in svc help', async () => {
    const { code, stdout } = await cli.run(['help']);
    expect(code).toBe(0);
    for (const id of ids) expect(stdout).toMatch(new RegExp(`^  ${id.split(':')[0]} +\\S`, 'm'));
  });

  it('lists the commands of a topic in svc keys --help', async () => {
    const { code, stdout } = await cli.run(['keys', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^API keys and their permissions$/m);
    for (const id of ids.filter((command) => command.startsWith('keys:'))) {
      expect(stdout).toContain(`  ${id.replace(':', ' ')} `);
    }
  });

  it('has the flags, the common flags and the examples of a command', async () => {
    const { code, stdout } = await cli.run(['help', 'domains', 'verify']);
    expect(code).toBe(0);
    for (const part of ['--force', 'GLOBAL FLAGS', '--config=FILE', '--org=ORG', '--json']) {
      expect(stdout).toContain(part);
    }
    expect(stdout).toContain('$ svc domains verify example.com');
    expect(stdout).not.toContain('\u001b[');
  });

  it('works in a shell with NODE_ENV=development', async () => {
    const help = await cli.run(['keys', 'list', '--help'], { env: { NODE_ENV: 'development' } });
    expect(help).toMatchObject({ code: 0, stderr: '' });
  });
});
