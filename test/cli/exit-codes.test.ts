// The exit codes, with and without --json, and the stream that errors are written to.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeError, exitCodeOf, UsageError } from '../../commands/base/output/failure.ts';
import * as errors from '../../src/platform/errors.ts';
import { type CliWorkspace, finished, initializedWorkspace, svc } from '../support/cli.ts';

const noKey = 'key_06dq2k0qz8h3v5m1r9t4w7xy';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
  // A backup that could be restored: only --yes is missing.
  await cli.json(['backup', 'backup.db']);
});
afterAll(() => cli.close());

const refusals: [string, number, string[], string][] = [
  ['an unknown command', 2, ['keys', 'crate'], 'ValidationError'],
  ['an unknown flag', 2, ['keys', 'list', '--colour'], 'ValidationError'],
  ['a missing argument', 2, ['keys', 'show'], 'ValidationError'],
  ['an argument too many', 2, ['keys', 'list', 'all'], 'ValidationError'],
  ['a value that the schema refuses', 2, ['keys', 'list', '--limit', '101'], 'ValidationError'],
  ['a malformed id', 2, ['keys', 'show', 'key_1'], 'ValidationError'],
  ['a body that is not JSON', 2, ['keys', 'create', '--data', '{'], 'ValidationError'],
  ['a destructive command without --yes', 2, ['restore', 'backup.db'], 'ValidationError'],
  ['a missing configuration', 2, ['orgs', 'list', '--config', 'no.yaml'], 'ConfigError'],
  ['an unknown key', 3, ['keys', 'show', noKey], 'ResourceNotFoundError'],
  ['an unknown organization', 3, ['keys', 'list', '--org', 'x'], 'ResourceNotFoundError'],
  ['a name in use', 5, ['orgs', 'create', '--name', 'default', '--plan', 'free'], 'ConflictError'],
];

/** Covers each part that reports errors: the search for the command, the session, the command. */
const ofProcesses = ['an unknown command', 'a missing configuration', 'an unknown key'];

describe.each(refusals)('%s ends with %i', (name, code, args, tag) => {
  it('with one line on standard error, for some as a process of its own', async () => {
    const isAlone = ofProcesses.includes(name);
    const result = await (isAlone ? finished(cli.start(args)) : cli.run(args));
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toMatch(/^svc: \S/);
    expect(result.stderr).not.toContain('    at ');
  });

  it('with only the error object for --json', async () => {
    const result = await cli.run([...args, '--json']);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(JSON.parse(result.stderr)).toMatchObject({ _tag: tag });
  });
});

describe('an unreachable store ends with 7', () => {
  const unreachable: [string, (directory: string) => Record<string, string>][] = [
    ['in a missing directory', () => ({ SVC_DATABASE_URL: 'sqlite:/nowhere/svc.db' })],
    [
      'in a file that is not a database',
      (directory) => {
        mkdirSync(join(directory, 'garbage'), { mode: 0o700 });
        writeFileSync(join(directory, 'garbage/svc.db'), 'no database at all\n'.repeat(1_000));
        return { SVC_DATA_DIR: join(directory, 'garbage') };
      },
    ],
    [
      'on a PostgreSQL that does not answer',
      () => ({ SVC_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' }),
    ],
  ];

  it.each(unreachable)('%s', async (_, prepare) => {
    const env = prepare(cli.directory);
    const text = await cli.run(['orgs', 'list'], { env });
    expect(text).toMatchObject({ code: 7, stdout: '' });
    expect(text.stderr).toMatch(/^svc: \S/);
    const json = await cli.run(['orgs', 'list', '--json'], { env });
    expect(json).toMatchObject({ code: 7, stdout: '' });
    expect(JSON.parse(json.stderr)).toMatchObject({ _tag: 'UnreachableError' });
  });
});

it('a destructive command without --yes and without a terminal deletes nothing', async () => {
  const words = ['--to', 'a@example.com', '--subject', 'Hi', '--text', 'Hi'];
  const { id } = await cli.json<{ id: string }>(['messages', 'send', ...words]);
  const result = await cli.run(['messages', 'delete', id]);
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toMatch(/add --yes to confirm/);
  expect(await cli.json(['messages', 'show', id])).toMatchObject({ id });
});

describe('--json after --', () => {
  it('is an argument: errors stay text', async () => {
    const result = await cli.run(['keys', 'show', '--', '--json']);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(/^svc: \S/);
  });

  it('keeps the effect of an earlier --json', () => {
    const described = (...argv: string[]) => describeError(new UsageError('no'), argv);
    expect(described('keys', 'show', '--', '--json')).toBe('svc: no');
    expect(JSON.parse(described('keys', 'show', '--json', '--', '--json'))).toMatchObject({
      _tag: 'ValidationError',
      message: 'no',
    });
    expect(JSON.parse(described('--json', 'keys', 'show', '--', 'x'))).toMatchObject({
      message: 'no',
    });
  });
});

it('every class of errors has its exit code', () => {
  const usage = { resource: 'daily-emails', currentUsage: 1, limit: 1, operation: 'send' };
  const codes: [Error, number][] = [
    [new errors.ValidationError('x'), 2],
    [new errors.MalformedRequestError('x', 413), 2],
    [new errors.ConfigError('x'), 2],
    [new errors.ResourceNotFoundError('message', 'x'), 3],
    [new errors.UnauthorizedError('x'), 4],
    [new errors.ForbiddenError('x'), 4],
    [new errors.ConflictError('message', 'x'), 5],
    [new errors.PaymentRequiredError(usage), 6],
    [new errors.RateLimitedError('send', 1), 6],
    [new errors.UnreachableError('x'), 7],
    [new errors.InternalError('x'), 1],
    [new errors.CapacityError('x'), 7],
    [new errors.CapacityError('x', 1, { reason: 'capacity-parser' }), 1],
    [Object.assign(new Error('x'), { code: 'ENOSPC' }), 7],
    [Object.assign(new Error('x'), { code: 'SQLITE_FULL' }), 7],
    [new errors.TimeoutError('x'), 1],
    [new TypeError('x'), 1],
  ];
  for (const [error, code] of codes) expect(exitCodeOf(error), error.constructor.name).toBe(code);
});

it('a mistake in the configuration is reported with its line, key and the expected value', async () => {
  writeFileSync(join(cli.directory, 'bad.yaml'), 'log:\n  level: loud\n');
  const { code, stderr } = await cli.run(['config', 'check', '--config', 'bad.yaml']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^svc: \/\S+\/bad\.yaml:2:10: log\.level: found "loud", expected /);
});

it.skipIf(!existsSync('/dev/full'))('a full disk of the output ends a command with 7', async () => {
  const line = `exec "${svc}" senders list --json > /dev/full`;
  const child = spawn('/bin/sh', ['-c', line], { cwd: cli.directory, env: cli.env });
  const { code, stderr } = await finished(child);
  expect([code, JSON.parse(stderr).message]).toEqual([
    7,
    expect.stringMatching(/^Standard output cannot be written: ENOSPC/),
  ]);
});

it('a closed pipe ends a command with 0', async () => {
  const child = cli.start(['openapi']);
  child.stdout?.once('data', () => child.stdout?.destroy());
  let stderr = '';
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

it('Ctrl-C ends a waiting command with 130', async () => {
  const message = ['--to', 'inbox@sandbox.test', '--subject', 'x', '--text', 'x'];
  const child = cli.start(['messages', 'send', ...message, '--wait', '--timeout', '0']);
  // No daemon runs, so the command waits forever after its first line.
  child.stdout?.once('data', () => child.kill('SIGINT'));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130);
});

it.each([
  [['domains', 'verify'], 'svc: give the domain: svc domains verify example.com\n'],
  [['domains', 'add'], 'svc: give the domain: svc domains add example.com\n'],
  [
    ['webhooks', 'verify'],
    'svc: give --secret-file and --headers: ' +
      'svc webhooks verify --secret-file secret --headers headers --any-time < body\n',
  ],
  [
    ['domains', 'catch-all', 'enable'],
    'svc: give the domain and --mailbox: ' +
      'svc domains catch-all enable example.com --mailbox mbx_06dq2k0qz8h3v5m1r9t4w7xy\n',
  ],
  [
    ['webhooks', 'create'],
    'svc: give --url and --event: svc webhooks create --url https://hooks.example.com/svc ' +
      '--event message.delivered --event message.bounced\n' +
      '  url: is required\n  events: is required\n',
  ],
  [
    ['groups', 'add', 'grp_06dq2k0qz8h3v5m1r9t4w7xy'],
    'svc: give --contact: svc groups add grp_06dq2k0qz8h3v5m1r9t4w7xy ' +
      '--contact contact_06dq2k0qz8h3v5m1r9t4w7xy\n',
  ],
  [['keys', 'list', '--limt', '3'], 'svc: there is no flag --limt. Did you mean --limit?\n'],
  [['keys', 'list', '--jsn'], 'svc: there is no flag --jsn. Did you mean --json?\n'],
  [['keys', 'list', '--colour'], 'svc: there is no flag --colour ("--help" lists them)\n'],
])('the mistyped %j is answered with a hint', async (args, words) => {
  expect(await cli.run(args)).toEqual({ code: 2, stdout: '', stderr: words });
});
