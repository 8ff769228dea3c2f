// Every command as root, on the store of a different account: no file of root appears below
// dataDir, and no command fails because of the account. Inputs and outputs lie in a folder that
// only root may enter. The same words on a store of root give the expected exit code. Starting the
// service costs more than most commands, so commands share a process, which returns to root after
// each command (root-return.ts). A command of each kind has a separate process.
// Slow: each command runs twice.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { commandClass } from '../docs/write.ts';
import {
  type CliResult,
  type CliWorkspace,
  cliWorkspace,
  finished,
  putStore,
  svc,
} from '../support/cli.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('test/cli/root-account.test.ts needs root: skipped\n');

/** Time that a busy machine needs to make a store, or to start a daemon. */
const slowMs = 300_000;

/** An account without an entry in passwd. */
const owner = { uid: 54_321, gid: 54_322 };

/** A folder of root with all inputs, and a data directory of the owner beside it. */
interface Machine {
  outer: string;
  files: string;
  dataDir: string;
  cli: CliWorkspace;
  /** Starts a process for each command. */
  inProcesses: CliWorkspace;
  run(args: readonly string[], input?: string): Promise<CliResult>;
  close(): void;
}

function chownAll(path: string, { uid, gid }: typeof owner): void {
  chownSync(path, uid, gid);
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }))
    chownSync(join(path, name), uid, gid);
}

/** Returns the paths below the data directory, itself included, that root owns. */
function rootsPaths({ dataDir }: Machine): string[] {
  const names = ['', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })];
  return names.filter((name) => lstatSync(join(dataDir, name)).uid !== owner.uid);
}

/** Returns the files of root. */
function namesIn({ files }: Machine): string[] {
  return readdirSync(files, { recursive: true, encoding: 'utf8' }).sort();
}

const inputs: Readonly<Record<string, string>> = {
  'data.json': '{}',
  'query.json': '{"all": []}',
  'text.txt': 'Hello',
  'page.html': '<p>Hello</p>',
  'style.css': 'p { color: red }',
  'contacts.csv': 'email\nada@example.com\n',
  'blocks.csv': 'email,reason\nbob@example.com,manual\n',
  'scenario.yaml': 'default:\n  bounceRate: 0.1\n',
  'database-url': 'sqlite:svc.db',
  'order/template.yaml': 'subject: Order',
  'order/body.html': '<p>Order</p>',
  'exported.csv': 'of an earlier export',
  'made.db': 'of an earlier backup',
};

/** Makes a machine with a store of this account; root's own for the control. */
async function machine(account: typeof owner): Promise<Machine> {
  const outer = mkdtempSync(join(tmpdir(), 'svc-root-'));
  chmodSync(outer, 0o755);
  const [files, dataDir] = [join(outer, 'files'), join(outer, 'data')];
  mkdirSync(join(files, 'order'), { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(inputs))
    writeFileSync(join(files, name), text, { mode: 0o600 });
  const config = `dataDir: ${dataDir}\nhttp:\n  port: 0\nsmtp:\n  inbound:\n    port: 0\n`;
  writeFileSync(join(files, 'config.yaml'), config, { mode: 0o600 });
  await putStore(dataDir);
  const env = {
    NODE_COMPILE_CACHE: join(outer, 'compiled'),
    SVC_DATA_DIR: '',
    SVC_HTTP_PORT: '',
    SVC_SMTP_INBOUND_PORT: '',
    SVC_CONFIG: join(files, 'config.yaml'),
    SVC_DATABASE_URL_FILE: join(files, 'database-url'),
    HOME: files,
  };
  const own = { ...env, TMPDIR: files };
  const isForeign = account.uid !== 0;
  const inProcesses = cliWorkspace(own, { directory: files, inProcesses: true });
  // The cache of a folder of root would not be open to the account: a start takes twice as long.
  if (isForeign) await inProcesses.run(['keys', 'list']);
  for (const path of [dataDir, ...(isForeign ? [env.NODE_COMPILE_CACHE] : [])])
    chownAll(path, account);
  const cli = cliWorkspace(own, { directory: files, ...(isForeign && { account }) });
  return {
    outer,
    files,
    dataDir,
    cli,
    inProcesses,
    run: (args, input = '') => cli.run(args, { input }),
    close() {
      cli.close();
      rmSync(outer, { recursive: true, force: true });
    },
  };
}

const email = ['--subject', 'Hello', '--text', '@text.txt', '--html', '@page.html'];
const attached = ['--attach', 'page.html'];

/** Commands in separate processes: reading files, writing them as root, replacing the secret. */
const alone = ['messages send', 'contacts export', 'secret rotate'];

/** Runs first, in this order, and must succeed: each reads or writes files of root. */
const first: readonly string[][] = [
  ['templates', 'create', '--slug', 'order', '--from', 'order/'],
  ['templates', 'lint', './order'],
  ['templates', 'clone', 'order', 'clone'],
  ['templates', 'pull', 'clone'],
  ['templates', 'push', 'clone'],
  ['templates', 'render', 'order', '--draft', '--output', 'rendered.html'],
  ['contacts', 'import', 'contacts.csv', '--yes'],
  ['contacts', 'export', '--output', 'exported.csv', '--overwrite'],
  ['blocks', 'import', 'blocks.csv', '--yes'],
  ['blocks', 'export', '--output', 'blocked.csv'],
  ['brands', 'create', '--slug', 'b', '--name', 'b', '--css=@style.css'],
  ['campaigns', 'create', '--name', 'c', '--tag', 'vip', ...email, ...attached],
  ['messages', 'send', '--to', 'a@sandbox.test', ...email, ...attached],
  ['backup', 'made.db', '--overwrite', '--verify', '--with-secret'],
  ['backup', 'verify', 'made.db'],
  ['rehearse', '--days', '1', '--scenario', 'scenario.yaml'],
  ['secret', 'rotate'],
  ['status', '--help'],
  ['config', 'check'],
  ['keys', 'list'],
];

/** Runs last, in this order: they replace the store. */
const last: readonly string[][] = [
  ['restore', 'made.db', '--yes'],
  ['keys', 'list'],
  ['dev', 'reset', '--yes'],
];

/** Commands whose own words reach the reading of files, or end a watch at once. */
const ownWords: Readonly<Record<string, string[]>> = {
  backup: ['second.db'],
  'blocks:import': ['blocks.csv', '--yes'],
  'campaigns:update': ['x', ...email.slice(2), ...attached],
  'contacts:import': ['contacts.csv', '--yes'],
  'daemon:drain': ['--ready-file', 'data.json'],
  'domains:dkim:import': ['x', '--selector', 's', '--key', '@text.txt'],
  doctor: ['--only', 'files'],
  'events:tail': ['--org', 'nobody'],
  'extensions:publish': ['x', '--to-all'],
  'groups:create': ['--name', 'g', '--query', '@query.json'],
  'import:templates': ['data.json', '--from', 'resend'],
  'mailboxes:approve': ['x', 'x', '--text', '@text.txt'],
  'messages:batch': ['--data', '@data.json'],
  'messages:expect': ['--org', 'nobody'],
  'messages:tail': ['--org', 'nobody'],
  'migrate:copy': ['--to', 'sqlite:copied.db'],
  'orgs:review': ['x', '--approve'],
  'queue:top': ['--org', 'nobody'],
  'receipt:verify': ['data.json', '--mime', 'text.txt', '--keys', 'data.json'],
  rehearse: ['--days', '1'],
  'threads:forward': ['x', '--text', '@text.txt', ...attached],
  'threads:label': ['x', '--add', 'x'],
  'threads:note': ['x', '--body', '@text.txt'],
  'threads:reply': ['x', '--text', '@text.txt', ...attached],
  'threads:snooze': ['x', '--end'],
  'webhooks:listen': ['--org', 'nobody'],
  'webhooks:redeliver': ['x', 'x'],
  'webhooks:verify': ['--secret-file', 'text.txt', '--headers', 'data.json'],
};

/** The daemon has a test of its own; others replace the store, or run first with files of root. */
const elsewhere = [
  ...['daemon', 'dev:reset', 'restore', 'backup:verify'],
  ...['templates:clone', 'templates:pull', 'templates:push'],
];

async function wordsOf(id: string): Promise<string[]> {
  const { args, flags = {} } = await commandClass(id);
  const words = Object.values(args).filter((arg) => arg.required);
  const flagWords = Object.entries(flags).flatMap(([name, flag]) => {
    if (name === 'yes') return ['--yes'];
    if (name === 'data') return ['--data', '{}'];
    if (!flag.required) return [];
    return [`--${name}`, ('options' in flag && flag.options?.[0]) || 'x'];
  });
  return [...id.split(':'), ...(ownWords[id] ?? [...words.map(() => 'x'), ...flagWords])];
}

const denied = /EACCES|EPERM|permission denied|readonly database|cannot be written/i;

/** Returns the fault of a command: a different end than on a store of root, or a denial. */
async function faultOf(root: Machine, foreign: Machine, words: readonly string[]) {
  const [wanted, found] = await Promise.all([root.run(words), foreign.run(words)]);
  const text = `${found.stdout}${found.stderr}`;
  if (found.code === wanted.code && (!denied.test(text) || denied.test(wanted.stderr))) return null;
  return `svc ${words.join(' ')}: ${found.code} instead of ${wanted.code}: ${found.stderr}`;
}

describe.skipIf(!isRoot)('a command of root on the store of a different account', () => {
  let root: Machine;
  let foreign: Machine;
  beforeAll(async () => {
    root = await machine({ uid: 0, gid: 0 });
    foreign = await machine(owner);
  }, slowMs);
  afterAll(() => {
    root?.close();
    foreign?.close();
  });

  it.each(first.map((words) => [words.join(' '), words] as const))(
    'svc %s reads and writes files of root, and leaves none in the store',
    { timeout: slowMs },
    async (_, words) => {
      const isAlone = alone.includes(words.slice(0, 2).join(' '));
      const { run } = isAlone ? foreign.inProcesses : foreign.cli;
      const results = await Promise.all([root.run(words), run(words)]);
      expect(results).toMatchObject([{ code: 0 }, { code: 0 }]);
      expect(rootsPaths(foreign)).toEqual([]);
    },
  );

  it('writes the same files as on a store of root, for root alone', () => {
    const textOf = ({ files }: Machine, name: string) => readFileSync(join(files, name), 'utf8');
    for (const name of ['rendered.html', 'clone/body.html'])
      expect(textOf(foreign, name)).toBe(textOf(root, name));
    expect(textOf(foreign, 'exported.csv')).toContain(',ada@example.com,');
    expect(textOf(foreign, 'blocked.csv')).toContain('bob@example.com');
    const made = namesIn(foreign);
    expect(made).toEqual(namesIn(root));
    const others = made.filter((name) => statSync(join(foreign.files, name)).uid !== 0);
    expect(others).toEqual([]);
    expect(statSync(join(foreign.files, 'made.db')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(foreign.dataDir, 'last-backup.json'))).toBe(true);
  });

  it('never fails because of the account', { timeout: 1_500_000 }, async () => {
    const ids = listCommandIds().filter((id) => !elsewhere.includes(id));
    const faults: string[] = [];
    for (const id of ids) {
      const fault = await faultOf(root, foreign, await wordsOf(id));
      if (fault !== null) faults.push(fault);
    }
    expect(faults).toEqual([]);
    expect(rootsPaths(foreign)).toEqual([]);
  });

  it('svc keys list works for a uid without an entry in passwd, HOME and SHELL', async () => {
    const { uid, gid } = owner;
    const words = ['--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', svc, 'keys', 'list'];
    const env = { PATH: process.env.PATH ?? '', SVC_DATA_DIR: foreign.dataDir };
    const found = await finished(spawn('setpriv', words, { cwd: foreign.outer, env }));
    expect(found).toMatchObject({ code: 0, stderr: '' });
  });

  it.each(last.map((words) => [words.join(' '), words] as const))(
    'svc %s replaces the store, which stays with its account',
    { timeout: slowMs },
    async (_, words) => {
      expect(await foreign.run(words)).toMatchObject({ code: 0 });
      expect(rootsPaths(foreign)).toEqual([]);
    },
  );

  it('svc daemon ends with 2, and names both ways to start it', async () => {
    const { code, stderr } = await foreign.inProcesses.run(['daemon']);
    expect(code).toBe(2);
    expect(stderr).toContain('systemctl start svc');
    const { uid, gid } = owner;
    const config = join(foreign.files, 'config.yaml');
    expect(stderr).toContain(
      `setpriv --reuid ${uid} --regid ${gid} --clear-groups svc daemon --config ${config}`,
    );
    expect(rootsPaths(foreign)).toEqual([]);
  });

  it('svc init --production hands the store over', async () => {
    const dataDir = join(foreign.outer, 'new');
    mkdirSync(dataDir);
    chownSync(dataDir, owner.uid, owner.gid);
    const words = ['init', '--production', '--domain', 'example.com', '--data-dir', dataDir];
    const env = { SVC_CONFIG: '', SVC_DATABASE_URL_FILE: '' };
    const made = await foreign.inProcesses.run([...words, '--config', 'made.yaml'], { env });
    expect(made).toMatchObject({ code: 0 });
    expect(rootsPaths({ ...foreign, dataDir })).toEqual([]);
    expect(statSync(join(foreign.files, 'made.yaml')).uid).toBe(0);
  });

  it('is refused where root cannot take the account', async () => {
    const words = ['--bounding-set=-setuid,-setgid', svc, 'keys', 'list'];
    const { cwd, env } = { cwd: foreign.files, env: foreign.cli.env };
    const { code, stderr } = await finished(spawn('setpriv', words, { cwd, env }));
    expect(code).toBe(7);
    expect(stderr).toMatch(/uid 54321 owns .*, and root cannot take this account/);
    expect(stderr).toContain('--clear-groups svc keys list');
  });
});
