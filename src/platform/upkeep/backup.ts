// Backups as files of SQLite, from both engines. A backup is written whole or not at all, and
// digests can later prove that nobody changed it. The command is commands/backup.ts.
import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { ConflictError, NoStoreError, ValidationError } from '../errors.ts';
import { foreignSchema } from '../store/migrate.ts';
import { backupSqlite, isStoreFileThere, openStore } from '../store/open.ts';
import type { DatabaseSettings } from '../store/postgres/settings.ts';
import { removeWithCompanions, syncPath } from '../store/sqlite/database-files.ts';
import { asUnwritable, isUnwritable } from '../store/sqlite/file-errors.ts';
import { lockTarget } from '../store/sqlite/file-lock.ts';
import { differences, type TableDigest } from './copying/digest.ts';
import type { CopyOptions } from './copying/from-postgres.ts';
import { digestsOfFile } from './copying/tables.ts';

/** Table that only backups have: the secret of the source installation, if requested. */
const secretTable = 'backup_secret';
/** Table that only backups have: the digests of all tables of the store. */
const digestTable = 'backup_digests';

/** Tables that only backups have. A restore removes them. */
export const tablesOfBackups = [secretTable, digestTable];

/** The store that a backup copies. */
export type BackupSource =
  | { kind: 'sqlite'; file: string }
  | ({ kind: 'postgres'; database: DatabaseSettings } & Pick<CopyOptions, 'clock' | 'rests'>);

export interface BackupOptions {
  overwrite: boolean;
  /** Secret of the installation, if the backup should include it. */
  secret?: Buffer | undefined;
  /** Whether to store the digests of all tables in the backup, which reads all tables. */
  digests?: boolean | undefined;
  /** Whether to check the copy before it replaces `target`. */
  verify?: boolean | undefined;
  onProgress: (done: number, total: number) => void;
}

/**
 * Makes the copy a plain file, since in WAL mode each access would create two more files. Adds the
 * digests and the secret.
 */
function finishCopy(
  partial: string,
  { secret, digests }: { secret: Buffer | undefined; digests: readonly TableDigest[] | null },
): void {
  const copy = new Database(partial, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
    if (digests) {
      copy.exec(`create table ${digestTable} (name text not null, rows integer, digest text)`);
      const insert = copy.prepare(`insert into ${digestTable} values (?, ?, ?)`);
      for (const { table, rows, digest } of digests) insert.run(table, rows, digest);
    }
    if (!secret) return;
    copy.exec(`create table ${secretTable} (key blob not null)`);
    copy.prepare(`insert into ${secretTable} values (?)`).run(secret);
  } finally {
    copy.close();
  }
}

/**
 * Copies a store into the file `partial`. Returns the digests of all tables if they are known or
 * requested, else null.
 */
async function copyInto(
  partial: string,
  source: BackupSource,
  { digests, onProgress }: Pick<BackupOptions, 'digests' | 'onProgress'>,
): Promise<TableDigest[] | null> {
  if (source.kind === 'postgres') {
    const { database, clock, rests } = source;
    const options = { mustExist: true, earlier: 'read' } as const;
    const store = await openStore(database, dirname(partial), clock, options);
    await store.close();
    const { copyPostgres } = await import('./copying/from-postgres.ts');
    return copyPostgres(database, partial, { clock, rests, onProgress });
  }
  await backupSqlite(source.file, partial, onProgress);
  return digests ? digestsOfFile(partial) : null;
}

/**
 * Copies the live store to `target`, durably, without stopping daemon or commands.
 * @returns the size in bytes.
 * @throws NoStoreError if the store does not exist; ConflictError if `target` exists and
 * `overwrite` is not set, or while a second backup writes it; ValidationError if the copy fails the
 * requested check.
 */
export async function saveBackup(
  source: BackupSource,
  target: string,
  { overwrite, secret, digests = false, verify = false, onProgress }: BackupOptions,
): Promise<number> {
  if (source.kind === 'sqlite' && !isStoreFileThere(source.file)) {
    throw new NoStoreError(`There is no store at ${source.file}`);
  }
  if (existsSync(target) && !overwrite) {
    throw new ConflictError('backup', `${target} exists already: --overwrite replaces it`);
  }
  try {
    await saveWhole(source, target, { secret, digests, verify, onProgress });
  } catch (error) {
    throw asUnwritable(error, target);
  }
  return statSync(target).size;
}

/**
 * Writes the backup under a temporary name, and then renames it to `target`. @throws ConflictError
 * while a second backup writes it
 */
async function saveWhole(
  source: BackupSource,
  target: string,
  { secret, digests, verify, onProgress }: Omit<BackupOptions, 'overwrite'>,
): Promise<void> {
  const lock = lockTarget(target);
  if (!lock) {
    throw new ConflictError(
      'backup',
      `Another backup writes ${target} now: wait for its end, or name another file`,
    );
  }
  const partial = `${target}.partial`;
  try {
    const found = await copyInto(partial, source, { digests, onProgress });
    finishCopy(partial, { secret, digests: digests ? found : null });
    onProgress(1, 1);
    syncPath(partial);
    if (verify) verifyBackup(partial);
    renameSync(partial, target);
    syncPath(dirname(target));
  } finally {
    removeWithCompanions(partial);
    lock.release();
  }
}

/** Contents of a checked backup. */
interface BackupContents {
  /** Last migration of the backup. */
  migration: string;
  /** Secret of the source installation; null if the backup has none. */
  secret: Buffer | null;
}

/** Result of the verification of a backup. */
interface VerifiedBackup {
  migration: string;
  hasSecret: boolean;
  /** Digests of the tables; null for a backup without digests. */
  tables: TableDigest[] | null;
}

/**
 * Checks, without a change, that the backup can be restored and that the tables still have the
 * digests of the backup.
 * @throws ValidationError if the file is damaged or not a backup.
 */
export function verifyBackup(file: string): VerifiedBackup {
  if (!existsSync(file)) throw new ValidationError(`${file}: there is no such file`);
  const { migration, secret } = checkBackup(file, file, { readonly: true });
  const noted = readDigestsOf(file);
  const tables =
    noted &&
    digestsOfFile(
      file,
      noted.map(({ table }) => table),
    );
  const wrong = noted && tables ? differences(tables, noted) : [];
  if (wrong.length > 0) {
    throw new ValidationError(`${file} was changed after it was made (${wrong.join('; ')})`);
  }
  return { migration, hasSecret: secret !== null, tables };
}

function readDigestsOf(file: string): TableDigest[] | null {
  const database = new Database(file, { readonly: true });
  try {
    const has = database.prepare('select 1 from sqlite_master where name = ?').get(digestTable);
    if (!has) return null;
    return database
      .prepare(`select name as "table", rows, digest from ${digestTable}`)
      .all() as TableDigest[];
  } finally {
    database.close();
  }
}

/**
 * Checks a file, and returns the last migration and the secret. Errors name the file `shownAs`.
 * @throws ValidationError if the file is not a store of ours, or is damaged.
 */
export function checkBackup(
  copy: string,
  shownAs: string,
  { readonly }: { readonly: boolean },
): BackupContents {
  const refuse = (problem: string) => new ValidationError(`${shownAs} ${problem}`);
  let database: Database.Database | undefined;
  try {
    database = new Database(copy, { fileMustExist: true, readonly });
    // Moves the log into the file, which is then a single plain file.
    if (!readonly) database.pragma('journal_mode = DELETE');
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw refuse(`is damaged: ${found}`);
    const isOurs = database.prepare("select 1 from sqlite_master where name = 'migrations'").get();
    if (!isOurs) throw refuse('is a database, but not a store of svc');
    const names = database
      .prepare('select name from migrations order by name')
      .pluck()
      .all() as string[];
    const foreign = foreignSchema(names);
    if (foreign) throw refuse(foreign);
    return { migration: names.at(-1) ?? '', secret: readSecretOf(database) };
  } catch (error) {
    if (error instanceof ValidationError || isUnwritable(error)) throw error;
    throw refuse(`cannot be read as a database: ${(error as Error).message}`);
  } finally {
    database?.close();
  }
}

function readSecretOf(database: Database.Database): Buffer | null {
  const has = database.prepare('select 1 from sqlite_master where name = ?').get(secretTable);
  if (!has) return null;
  return database.prepare(`select key from ${secretTable}`).pluck().get() as Buffer;
}
