// How the words typed find their command.
import { describe, expect, test } from 'vitest';
import { interpret, listCommandIds } from '../../commands/base/typed.ts';

const ids = listCommandIds();

function suggestion(...argv: string[]): string {
  try {
    interpret(argv, ids);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${argv.join(' ')} was found`);
}

describe('words', () => {
  test('the path of a file under commands/ is what is typed', () => {
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

  test('what follows the command is its arguments, even if it looks like a verb', () => {
    expect(interpret(['orgs', 'show', 'list'], ids)).toMatchObject({ rest: ['list'] });
    expect(interpret(['backup', 'keys'], ids)).toMatchObject({ id: 'backup', rest: ['keys'] });
  });

  test('common flags may stand before the command', () => {
    expect(interpret(['--org', 'acme', '--json', 'keys', 'list', '--limit', '5'], ids)).toEqual({
      kind: 'command',
      id: 'keys:list',
      rest: ['--org', 'acme', '--json', '--limit', '5'],
      wantsHelp: false,
    });
  });

  test('help is asked for in three ways', () => {
    for (const argv of [
      ['help', 'keys', 'list'],
      ['keys', 'list', '--help'],
      ['keys', 'list', '-h'],
    ]) {
      expect(interpret(argv, ids)).toMatchObject({ id: 'keys:list', wantsHelp: true });
    }
    expect(interpret(['keys', 'list', '--', '--help'], ids)).toMatchObject({ wantsHelp: false });
  });

  test('a topic alone, and nothing at all, ask for help', () => {
    expect(interpret(['keys'], ids)).toEqual({ kind: 'topic', id: 'keys' });
    expect(interpret(['keys', '--help'], ids)).toEqual({ kind: 'topic', id: 'keys' });
    expect(interpret([], ids)).toEqual({ kind: 'topic', id: '' });
    expect(interpret(['help'], ids)).toEqual({ kind: 'topic', id: '' });
    expect(interpret(['--help'], ids)).toEqual({ kind: 'topic', id: '' });
  });

  test('a flag without a command is refused', () => {
    expect(suggestion('--json')).toBe('--json needs a command');
  });
});

describe('a mistyped command is answered with the nearest', () => {
  test.each([
    ['keys crate', 'keys create'],
    ['kyes list', 'keys list'],
    ['key list', 'keys list'],
    ['messages sned --to a@b.test', 'messages send'],
    ['mesages show msg_06dq2k0qz8h3v5m1r9t4w7xy', 'messages show'],
    ['bakcup file.db', 'backup'],
    ['deamon', 'daemon'],
    ['message', 'messages'],
    ['help keys crate', 'keys create'],
  ])('svc %s: did you mean svc %s?', (typed, nearest) => {
    expect(suggestion(...typed.split(' '))).toContain(`Did you mean "svc ${nearest}"?`);
  });

  test('in a known topic without a near verb, its verbs are named', () => {
    expect(suggestion('orgs', 'frobnicate')).toBe(
      'there is no command "orgs frobnicate". There are: orgs create, orgs list, orgs pause, orgs reapply, orgs resume, orgs review, orgs show, orgs update.',
    );
  });

  test('where nothing is near, nothing is guessed', () => {
    expect(suggestion('frobnicate')).toBe(
      'there is no command "frobnicate". "svc help" lists all.',
    );
  });
});
