// One store for a daemon and the commands of its data directory: the identity of the store, the
// refusal of commands on a different store, and the secrets that both read from one file.
// Slow: each command runs on a different store.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { commandClass } from '../docs/write.ts';
import { type CliWorkspace, cliWorkspace, initializedWorkspace } from '../support/cli.ts';
import { until } from '../support/daemon-process.ts';

/** Time that a busy machine needs to make a store, or to start a daemon. */
const slowMs = 300_000;

const elsewhere = { SVC_DATABASE_URL: 'sqlite:other.db' };

/** Commands that open no store, and commands that start or stop a daemon. */
const storeless = [
  ...['backup:verify', 'config:check', 'config:example', 'config:show', 'openapi'],
  ...['daemon', 'daemon:unit', 'receipt:verify', 'webhooks:events', 'webhooks:verify'],
];
/** Commands that refuse to run without a terminal. */
const onlyOnTerminals = ['mailboxes:review'];

/** Words without which a command ends before it opens the store. */
const ownWords: Readonly<Record<string, string[]>> = {
  'blocks:delete': ['blk_06dq2k0qz8h3v5m1r9t4w7xy', '--yes'],
  'daemon:drain': [],
  'extensions:publish': ['x', '--to-all'],
  'import:templates': ['made.json', '--from', 'resend'],
  'members:unbind': ['a@example.com'],
  'messages:batch': ['--data', '{}'],
  'messages:expect': ['--to', 'a@example.com'],
  'migrate:copy': ['--to', 'postgres://svc@127.0.0.1:1/svc'],
  'orgs:review': ['x', '--approve'],
  'templates:pull': ['clone'],
  'templates:push': ['clone'],
  'threads:label': ['x', '--add', 'x'],
  'threads:snooze': ['x', '--end'],
  'webhooks:redeliver': ['x', 'x'],
};

async function wordsOf(id: string): Promise<string[]> {
  const { args, flags = {} } = await commandClass(id);
  const words = Object.values(args).filter((arg) => arg.required);
  const flagWords = Object.entries(flags).flatMap(([name, flag]) => {
    if (name === 'yes') return ['--yes'];
    if (!flag.required) return [];
    return [`--${name}`, ('options' in flag && flag.options?.[0]) || 'x'];
  });
  return [...id.split(':'), ...(ownWords[id] ?? [...words.map(() => 'x'), ...flagWords])];
}

interface DaemonFile {
  pid: number;
  startedAs: string;
  url: string;
  storeId: string;
}

let cli: CliWorkspace;
let daemon: ChildProcess;
const inside = (...names: string[]) => join(cli.directory, ...names);
const daemonFile = () => inside('data', 'daemon.json');
const readDaemonFile = (): DaemonFile => JSON.parse(readFileSync(daemonFile(), 'utf8'));

beforeAll(async () => {
  cli = await initializedWorkspace();
  writeFileSync(inside('made.json'), '{}');
  mkdirSync(inside('clone'));
  writeFileSync(inside('clone/index.liquid'), 'Hello');
  const state = { template: 'tpl_06dq2k0qz8h3v5m1r9t4w7xy', commit: 'a'.repeat(40) };
  writeFileSync(inside('clone/.svc-template.json'), JSON.stringify(state));
  const other = cliWorkspace({ ...cli.env, ...elsewhere }, { directory: cli.directory });
  daemon = other.start(['daemon']);
  await until(() => existsSync(daemonFile()), 'the file of the daemon', slowMs);
}, slowMs);
afterAll(async () => {
  if (daemon.exitCode === null && daemon.signalCode === null) {
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  }
  cli.close();
});

describe('a daemon', () => {
  it('leaves its pid and the identity of its store in dataDir', async () => {
    const { pid, storeId, url } = readDaemonFile();
    expect(storeId).toMatch(/^store_[0-9a-f]{24}$/);
    const answer = await fetch(`${url}/readyz?verbose`);
    expect(await answer.json()).toMatchObject({ pid, storeId });
  });
});

describe('the check of the store of the daemon', () => {
  it('ends every command on a different store with 7', { timeout: slowMs }, async () => {
    const ids = listCommandIds().filter((id) => ![...storeless, ...onlyOnTerminals].includes(id));
    const faults: string[] = [];
    for (const id of ids) {
      const env = { SVC_API_KEY: 'svc_live_0' };
      const { code, stderr } = await cli.run(await wordsOf(id), { env });
      const isRefused = stderr.includes('other.db, this command would work on');
      if (!isRefused || code !== (id === 'sendmail' ? 69 : 7))
        faults.push(`${id} ended with ${code}: ${stderr}`);
    }
    expect(faults).toEqual([]);
  });

  it.each([['config:show'], ['config:check'], ['openapi']])('leaves svc %s alone', async (id) => {
    expect(await cli.run(id.split(':'))).toMatchObject({ code: 0 });
  });

  it('accepts the same store', async () => {
    expect(await cli.run(['keys', 'list'], { env: elsewhere })).toMatchObject({ code: 0 });
  });

  it('accepts the same store by a different name', async () => {
    symlinkSync(inside('data/other.db'), inside('data/link.db'));
    const env = { SVC_DATABASE_URL: 'sqlite:link.db' };
    expect(await cli.run(['migrate', 'status'], { env })).toMatchObject({ code: 0 });
  });
});

describe('a daemon on a port that the system chose', () => {
  it('is shown by svc status at its own address', async () => {
    const { url } = readDaemonFile();
    const { code, stdout } = await cli.run(['status'], { env: elsewhere });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`ready at ${url}\n`)]);
  });

  it('has the link of svc open', async () => {
    const { stdout } = await cli.run(['open'], { env: elsewhere });
    expect(stdout.startsWith(`${readDaemonFile().url}/console/open/`)).toBe(true);
    expect((await fetch(stdout.trim())).status).toBe(200);
  });

  it('is not what a different process at its address says', async () => {
    const server = createServer((_request, response) => response.end('{"pid": 1}'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const own = readDaemonFile();
    try {
      writeFileSync(daemonFile(), JSON.stringify({ ...own, url }));
      const { code, stderr } = await cli.run(['status'], { env: elsewhere });
      expect([code, stderr]).toEqual([
        7,
        expect.stringContaining(`${url} is the address of process 1`),
      ]);
    } finally {
      writeFileSync(daemonFile(), JSON.stringify(own));
      server.close();
    }
  });

  it('is missed by svc status and svc open, which ask no port instead', async () => {
    const alone = await initializedWorkspace();
    for (const words of [['status'], ['open']]) {
      const { code, stderr } = await alone.run(words);
      expect([code, stderr]).toEqual([7, expect.stringContaining('http.port 0 names no address')]);
    }
    alone.close();
  });
});

describe('a daemon that only answers at the address', () => {
  let stranger: CliWorkspace;
  beforeAll(async () => {
    const { port } = new URL(readDaemonFile().url);
    stranger = await initializedWorkspace({ SVC_HTTP_PORT: port });
  });
  afterAll(() => stranger.close());

  it('is a line of svc status', async () => {
    const { code, stdout } = await stranger.run(['status']);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`it works on a different store: ${readDaemonFile().storeId}`),
    });
  });

  it('is a line of svc open', async () => {
    const { code, stderr } = await stranger.run(['open']);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`works on a different store (${readDaemonFile().storeId}`),
    });
  });
});

describe('secrets.env beside the configuration', () => {
  beforeAll(() => {
    mkdirSync(inside('etc'));
    writeFileSync(inside('etc/config.yaml'), `dataDir: ${inside('data')}\nhttp: { port: 0 }\n`);
    writeFileSync(
      inside('etc/secrets.env'),
      '# of unit and commands\nSVC_DATABASE_URL="sqlite:other.db"\n',
    );
  });
  const bare = { SVC_DATA_DIR: '', SVC_HTTP_PORT: '', SVC_SMTP_INBOUND_PORT: '' };
  const config = () => ['--config', inside('etc/config.yaml')];

  it('gives commands the store of the daemon', async () => {
    const listed = await cli.run(['keys', 'list', ...config()], { env: bare });
    expect(listed).toMatchObject({ code: 0 });
  });

  it('yields to the environment', async () => {
    const env = { ...bare, SVC_DATABASE_URL: 'sqlite:svc.db' };
    expect(await cli.run(['keys', 'list', ...config()], { env })).toMatchObject({ code: 7 });
  });

  it('yields to a file that the environment names', async () => {
    writeFileSync(inside('url'), 'sqlite:svc.db');
    const env = { ...bare, SVC_DATABASE_URL_FILE: inside('url') };
    expect(await cli.run(['keys', 'list', ...config()], { env })).toMatchObject({ code: 7 });
  });
});

describe('the file of a daemon that is gone', () => {
  it('is ignored after a kill, even if its pid belongs to a new process', async () => {
    const left = readDaemonFile();
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    expect(readDaemonFile()).toEqual(left);
    expect(await cli.run(['keys', 'list'])).toMatchObject({ code: 0 });
    writeFileSync(daemonFile(), JSON.stringify({ ...left, pid: process.pid }));
    expect(await cli.run(['keys', 'list'])).toMatchObject({ code: 0 });
  });
});
