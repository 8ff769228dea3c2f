// The log: lines for programs, lines for people, and no secret in either.
import { execFile, spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/platform/errors.ts';
import {
  createLogger,
  describeFailure,
  type LogLevel,
  logFatal,
} from '../../../src/platform/runtime/log.ts';

async function capture(options: { level?: LogLevel; pretty?: boolean } = {}) {
  const lines: string[] = [];
  const destination = {
    write(line: string) {
      lines.push(line);
    },
  };
  const { level = 'info', pretty = false } = options;
  const log = await createLogger({ level, pretty, destination });
  const last = () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
  return { log, lines, last };
}

const apiKey = `svc_live_${'a1B2'.repeat(9)}zz`;

describe('a log line', () => {
  it('is one JSON object with level, time and message', async () => {
    const { log, lines, last } = await capture();
    log.info({ httpUrl: 'http://127.0.0.1:4025', smtpPort: 2525 }, 'ready');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\n$/);
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      httpUrl: 'http://127.0.0.1:4025',
      smtpPort: 2525,
      msg: 'ready',
    });
  });

  it('below the level is not written', async () => {
    const { log, lines } = await capture({ level: 'warn' });
    log.info('a');
    log.warn('b');
    expect(lines).toHaveLength(1);
  });

  it('on a terminal is readable text', async () => {
    const { log, lines } = await capture({ pretty: true });
    log.info({ port: 25 }, 'ready');
    expect(lines.join('')).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: ready \{"port":25\}\n$/);
  });

  it('redacts secret headers and fields at any depth, in any case', async () => {
    const { log, last } = await capture();
    const secret = 'hunter2';
    log.info({
      password: secret,
      relay: { host: 'smtp.test', password: secret },
      req: { headers: { authorization: secret, 'x-api-key': secret, host: 'a.test' } },
      a: { b: { c: [{ d: { secret, Key: secret } }] } },
      quoted: { password: `"${secret}\\"`, after: 1 },
      number: { password: 4711 },
      bytes: { privateKey: Buffer.from([47, 11]) },
    });
    expect(JSON.stringify(last())).not.toMatch(/hunter2|47,? ?11/);
    expect(last()).toMatchObject({
      relay: { host: 'smtp.test', password: '[hidden]' },
      quoted: { password: '[hidden]', after: 1 },
      number: { password: '[hidden]' },
      bytes: { privateKey: '[hidden]' },
      req: { headers: { authorization: '[hidden]', 'x-api-key': '[hidden]', host: 'a.test' } },
    });
    log.child({ apiKey: secret, org: 'org_1' }).info('x');
    expect(last()).toMatchObject({ apiKey: '[hidden]', org: 'org_1' });
  });

  it.each([false, true])(
    'redacts API keys and webhook secrets in its texts (pretty: %s)',
    async (p) => {
      const { log, lines } = await capture({ pretty: p });
      log.info({ url: `/v1/messages?k=${apiKey}` }, `refused ${apiKey}`);
      log.error(new Error(`whsec_${'MfKQ9r8GKYqrTwjU'.repeat(2)}= is wrong`));
      const text = lines.join('');
      expect(text).toContain('svc_live_[hidden]');
      expect(text).toContain('whsec_[hidden] is wrong');
      expect(text).not.toMatch(/a1B2|MfKQ/);
    },
  );

  it('reaches standard error when the process exits at once', async () => {
    const program = `
      import { createLogger } from ${JSON.stringify(new URL('../../../src/platform/runtime/log.ts', import.meta.url).href)};
      const log = await createLogger({ level: 'info', pretty: false });
      for (let i = 0; i < 500; i++) log.info({ i }, 'line');
      log.fatal('the end');
      process.exit(3);`;
    const { code, stdout, stderr } = await new Promise<{
      code: unknown;
      stdout: string;
      stderr: string;
    }>((done) => {
      const flags = ['--input-type=module', '--eval', program];
      execFile(process.execPath, flags, (error, out, err) =>
        done({ code: error?.code, stdout: out, stderr: err }),
      );
    });
    const lines = stderr.trimEnd().split('\n');
    expect(code).toBe(3);
    expect(stdout).toBe('');
    expect(lines).toHaveLength(501);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'fatal', msg: 'the end' });
  });
});

describe('a log line in the journal', () => {
  const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

  /** Runs a program with a file as standard error; returns the exit code and the lines. */
  function writtenBy(words: string[], journal: (stream: string) => string | undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
    try {
      const file = join(folder, 'journal');
      const fd = openSync(file, 'w');
      const { dev, ino } = fstatSync(fd, { bigint: true });
      const stream = journal(`${dev}:${ino}`);
      const env = { PATH: process.env.PATH, ...(stream && { JOURNAL_STREAM: stream }) };
      const { status } = spawnSync(process.execPath, words, {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', fd],
      });
      closeSync(fd);
      return { status, lines: readFileSync(file, 'utf8').trimEnd().split('\n') };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  const logger = new URL('../../../src/platform/runtime/log.ts', import.meta.url).href;
  const program = `
    import { createLogger } from ${JSON.stringify(logger)};
    const log = await createLogger({ level: 'trace', pretty: false });
    for (const level of ${JSON.stringify(levels)}) log[level]({ password: 'hunter2' }, 'one\\ntwo');`;
  const words = ['--input-type=module', '--eval', program];

  it('begins with the priority of its level', () => {
    const { lines } = writtenBy(words, (stream) => stream);
    const expected = ['<2>', '<3>', '<4>', '<6>', '<7>', '<7>'];
    expect(lines.map((line) => line.slice(0, 3))).toEqual(expected);
    expect(lines.map((line) => JSON.parse(line.slice(3)))).toMatchObject(
      levels.map((level) => ({ level, password: '[hidden]', msg: 'one\ntwo' })),
    );
  });

  it.each<[string, (stream: string) => string | undefined]>([
    ['without JOURNAL_STREAM', () => undefined],
    ['with a JOURNAL_STREAM of a different inode', (stream) => `${stream}1`],
    ['with a JOURNAL_STREAM of a different device', (stream) => `1${stream}`],
    ['with a malformed JOURNAL_STREAM', () => 'journal'],
  ])('is pure JSON %s', (_case, journal) => {
    const { lines } = writtenBy(words, journal);
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(levels);
  });

  it('of a refused start has the priority of a fatal failure', () => {
    const run = new URL('../../../bin/run.js', import.meta.url).pathname;
    const refused = [run, 'daemon', '--config', '/missing.yaml'];
    const { status, lines } = writtenBy(refused, (stream) => stream);
    expect(status).toBe(2);
    for (const line of lines) expect(line).toMatch(/^<2>(?!<)/);
    expect(writtenBy(refused, () => undefined).lines).toEqual(
      lines.map((line) => line.slice('<2>'.length)),
    );
  });
});

describe('a fatal failure', () => {
  it('is logged with all its causes', () => {
    const refused = new AggregateError([
      new Error('connect ECONNREFUSED ::1:5432'),
      new Error('connect ECONNREFUSED 127.0.0.1:5432'),
    ]);
    expect(describeFailure(new Error('the store cannot be reached', { cause: refused }))).toBe(
      'the store cannot be reached: ' +
        'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
    );
    expect(describeFailure('text')).toBe('text');
    expect(describeFailure(new RangeError())).toBe('RangeError');
  });

  it('is logged with a stack, except for a mistake in the configuration', async () => {
    const { log, last } = await capture();
    logFatal(log, new Error('broken'));
    expect(last()).toMatchObject({ level: 'fatal', msg: 'broken' });
    expect(last().err).toMatchObject({ type: 'Error', stack: expect.stringContaining('broken') });
    logFatal(log, new ConfigError('config.yaml:1:1: x: unknown key'));
    expect(last()).toMatchObject({ level: 'fatal', msg: 'config.yaml:1:1: x: unknown key' });
    expect(last().err).toBeUndefined();
  });
});
