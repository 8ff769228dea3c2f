// The account of a command that root has started. The command changes to the account that owns
// `dataDir` before it opens the store, because a file of root there would lock the daemon out.
// Before the change it opens, as root, the configuration, the secrets in it and the files of the
// command line.
import { accessSync, constants, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import type { Config } from '../../../src/core/config/config.ts';
import { messageOf, UnreachableError } from '../../../src/platform/errors.ts';
import { holdFile, releaseFile } from '../../../src/platform/runtime/held-files.ts';
import { commandsFolder } from '../input/typed.ts';
import { UsageError } from '../output/failure.ts';
import { startFileBroker } from './file-broker.ts';

/** Commands that write files, or read folders, that the command line names. */
const commandsWithBroker: readonly string[] = [
  ...['backup', 'blocks:export', 'contacts:export', 'migrate:copy'],
  ...['templates:clone', 'templates:create', 'templates:lint', 'templates:pull'],
  ...['templates:push', 'templates:render'],
];

/** The running command: the id, and the arguments after it. */
export interface CommandLine {
  id: string;
  words: readonly string[];
}

let commandLine: CommandLine = { id: '', words: [] };

/** Stores the command line. Its files are opened before the process leaves root's account. */
export function keepCommandLine(kept: CommandLine): void {
  commandLine = kept;
}

/** An account in the system's database of users. */
interface Account {
  uid: number;
  gid: number;
  /** Null for a uid without an entry in passwd. */
  name: string | null;
  home: string;
  shell: string;
}

/** Sets HOME and SHELL if passwd lacks the uid of the process: oclif and Node would read passwd. */
export function setHomeAndShell(): void {
  const { env } = process;
  if (env.HOME && env.SHELL) return;
  try {
    userInfo();
  } catch {
    env.HOME ||= '/';
    env.SHELL ||= '/bin/sh';
  }
}

/** Returns the owner of `dataDir` if root runs this process and does not own it; null otherwise. */
function foreignOwner(dataDir: string): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const found = statSync(dataDir, { throwIfNoEntry: false });
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : null;
}

/**
 * Returns the account of `owner` from passwd; without an entry, an account without a name. Node can
 * read only the entry of the effective uid.
 */
function accountOf(dataDir: string, owner: { uid: number; gid: number }): Account {
  try {
    process.seteuid?.(owner.uid);
    const { username, gid, homedir, shell } = userInfo();
    return { uid: owner.uid, gid, name: username, home: homedir, shell: shell ?? '/bin/sh' };
  } catch {
    return { ...owner, name: null, home: dataDir, shell: '/bin/sh' };
  } finally {
    process.seteuid?.(0);
  }
}

/**
 * Returns the arguments and the values of flags as absolute paths, because each may name a file:
 * `FILE`, `--flag=FILE`, `@FILE` or `sqlite:FILE`.
 */
function namedPaths(words: readonly string[]): string[] {
  const values = words.flatMap((word) => {
    const value = /^-[^=]*=(.*)$/s.exec(word)?.[1];
    return value === undefined ? [word] : [value];
  });
  const names = values.map((value) => value.replace(/^(?:@|sqlite:)/, ''));
  const wordsAndNames = new Set([...values, ...names]);
  const named = [...wordsAndNames].filter((name) => name !== '' && !name.startsWith('-'));
  return named.map((name) => resolve(name));
}

/** Returns the files that the configuration names and that a command reads. */
function configuredFiles({ secret, database, delivery }: Config): string[] {
  const files = [secret.file, database.ssl.caFile, delivery.providersFile];
  return files.filter((file) => file !== null);
}

/** Node has this function on POSIX, but the types lack it. */
const { initgroups } = process as { initgroups?: (user: string, extraGroup: number) => void };

/** Changes groups, gid and uid, in this order: only root may change groups and gid. */
function become({ uid, gid, name }: Account): void {
  if (name === null) process.setgroups?.([gid]);
  else initgroups?.(name, gid);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

function isOpenTo(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Sets the variables that a login sets. Removes a TMPDIR that only root may use. */
function setEnvironment({ uid, name, home, shell }: Account): void {
  const user = name ?? String(uid);
  Object.assign(process.env, { HOME: home, SHELL: shell, USER: user, LOGNAME: user });
  const { W_OK, X_OK } = constants;
  if (!isOpenTo(tmpdir(), W_OK | X_OK)) delete process.env.TMPDIR;
}

/** @throws UnreachableError if the account cannot read the program or use the data directory */
function checkReach(dataDir: string, account: Account): void {
  const { R_OK, W_OK, X_OK } = constants;
  const named = inWords(account);
  if (!isOpenTo(join(commandsFolder, 'daemon.ts'), R_OK)) {
    throw new UnreachableError(
      `${named} owns ${dataDir}, and cannot read the program at ${commandsFolder}: install svc in a folder ` +
        'that this account may enter, such as /opt/svc',
    );
  }
  if (!isOpenTo(dataDir, R_OK | W_OK | X_OK)) {
    throw new UnreachableError(
      `${named} owns ${dataDir}, and cannot enter it: give this account the right to enter the folders above`,
    );
  }
}

function inWords({ name, uid }: Account): string {
  return name === null ? `The account with uid ${uid}` : `The account ${name}`;
}

/** Returns the shell words to put before a command, so that the account runs it: `sudo -u svc`. */
function prefixFor({ name, uid, gid }: Account): string {
  if (name !== null) return `sudo -u ${name}`;
  return `setpriv --reuid ${uid} --regid ${gid} --clear-groups`;
}

/**
 * Changes from root's account to the account that owns `dataDir`. Returns false if no change is
 * needed: root does not run the process, or root owns the directory, or it is missing. @throws
 * UnreachableError if the change fails, or the account cannot reach the files that it needs
 */
export function takeAccountOfStore(config: Config): boolean {
  const { dataDir } = config;
  const owner = foreignOwner(dataDir);
  if (!owner) return false;
  const paths = namedPaths(commandLine.words);
  const configured = configuredFiles(config);
  for (const path of [...paths.flatMap((one) => [one, `${one}-wal`]), ...configured]) {
    holdFile(path);
  }
  const account = accountOf(dataDir, owner);
  if (commandsWithBroker.includes(commandLine.id)) startFileBroker(paths, dataDir);
  try {
    become(account);
  } catch (error) {
    const command = `svc ${commandLine.id.replaceAll(':', ' ')}`;
    throw new UnreachableError(
      `${inWords(account)} owns ${dataDir}, and root cannot take this account (${messageOf(error)}). ` +
        `Run the command as the account: ${prefixFor(account)} ${command} …`,
      { cause: error },
    );
  }
  setEnvironment(account);
  checkReach(dataDir, account);
  // Closes files that the account can open again: after a key rotation, which writes a new file at
  // the same path, an open descriptor would still read the old file.
  for (const path of configured) if (isOpenTo(path, constants.R_OK)) releaseFile(path);
  return true;
}

/** Refuses a daemon of root on the store of a different account. @throws UsageError */
export function refuseDaemonOfRoot(dataDir: string, configFile: string | null): void {
  const owner = foreignOwner(dataDir);
  if (!owner) return;
  const account = accountOf(dataDir, owner);
  const flag = configFile === null ? '' : ` --config ${configFile}`;
  throw new UsageError(
    `root must not run the daemon: ${dataDir} belongs to ${ownerOf(account)}, whose daemon could not read ` +
      `root's files. Start the service, "systemctl start svc", or run "${prefixFor(account)} svc daemon${flag}"`,
  );
}

const ownerOf = ({ name, uid }: Account) => name ?? `uid ${uid}`;

/** If root runs this process, gives the files of root below `dataDir` to the owner of `dataDir`. */
export function handOver(dataDir: string): void {
  const owner = foreignOwner(dataDir);
  if (!owner) return;
  for (const path of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    const file = join(dataDir, path);
    if (lstatSync(file).uid === 0) lchownSync(file, owner.uid, owner.gid);
  }
}
