// The words of a command line and the command that they select.
import { describe, expect, it } from 'vitest';
import { interpret, listCommandIds } from '../../commands/base/input/typed.ts';

const ids = listCommandIds();

function suggestion(...argv: string[]): string {
  try {
    interpret(argv, ids);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${argv.join(' ')} was found`);
}

describe('the words of a command line', () => {
  it("select the command by its file's path under commands/", () => {
    expect(ids).toContain('keys:create');
    expect(ids).toContain('daemon');
    expect(ids.filter((id) => id.startsWith('base'))).toEqual([]);
    expect(interpret(['keys', 'create', '--name', 'ci'], ids)).toEqual({
      kind: 'command',
      id: 'keys:create',
      rest: ['--name', 'ci'],
      wantsHelp: false,
    });
  });

  it('after the command are its arguments, even if they look like a verb', () => {
    expect(interpret(['orgs', 'show', 'list'], ids)).toMatchObject({ rest: ['list'] });
    expect(interpret(['backup', 'keys'], ids)).toMatchObject({ id: 'backup', rest: ['keys'] });
  });

  it('can follow common flags', () => {
    expect(interpret(['--org', 'acme', '--json', 'keys', 'list', '--limit', '5'], ids)).toEqual({
      kind: 'command',
      id: 'keys:list',
      rest: ['--org', 'acme', '--json', '--limit', '5'],
      wantsHelp: false,
    });
  });

  it('ask for help in three ways', () => {
    for (const argv of [
      ['help', 'keys', 'list'],
      ['keys', 'list', '--help'],
      ['keys', 'list', '-h'],
    ]) {
      expect(interpret(argv, ids)).toMatchObject({ id: 'keys:list', wantsHelp: true });
    }
    expect(interpret(['keys', 'list', '--', '--help'], ids)).toMatchObject({ wantsHelp: false });
  });

  it('ask for the help of a topic by its name alone, and of all topics when missing', () => {
    expect(interpret(['keys'], ids)).toEqual({ kind: 'topic', id: 'keys' });
    expect(interpret(['keys', '--help'], ids)).toEqual({ kind: 'topic', id: 'keys' });
    expect(interpret([], ids)).toEqual({ kind: 'topic', id: '' });
    expect(interpret(['help'], ids)).toEqual({ kind: 'topic', id: '' });
    expect(interpret(['--help'], ids)).toEqual({ kind: 'topic', id: '' });
  });

  it('after a flag need a command', () => {
    expect(suggestion('--json')).toBe('--json needs a command');
  });
});

describe('a mistyped command', () => {
  it.each([
    ['keys crate', 'keys create'],
    ['kyes list', 'keys list'],
    ['key list', 'keys list'],
    ['messages sned --to a@b.test', 'messages send'],
    ['mesages show msg_06dq2k0qz8h3v5m1r9t4w7xy', 'messages show'],
    ['bakcup file.db', 'backup'],
    ['deamon', 'daemon'],
    ['message', 'messages'],
    ['help keys crate', 'keys create'],
  ])('svc %s suggests svc %s', (typed, nearest) => {
    expect(suggestion(...typed.split(' '))).toContain(`Did you mean "svc ${nearest}"?`);
  });

  it('names the verbs of a known topic when none is near', () => {
    expect(suggestion('orgs', 'frobnicate')).toBe(
      'there is no command "orgs frobnicate". There are: orgs create, orgs list, orgs pause, orgs reapply, orgs resume, orgs review, orgs show, orgs update.',
    );
  });

  it('has no suggestion when no command is near', () => {
    expect(suggestion('frobnicate')).toBe(
      'there is no command "frobnicate". "svc help" lists all.',
    );
  });
});
