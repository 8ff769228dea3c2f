// The service under test: a real store (SQLite in a temporary directory, or a schema of
// PostgreSQL), a virtual clock, seeded randomness, and the first start of a daemon. Starts no
// listener.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DestinationStream } from 'pino';
import { inject } from 'vitest';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import type { Caller } from '../../src/core/api/route.ts';
import { type App, type Hooks, type NameServerAt, openApp } from '../../src/core/app.ts';
import { type ConfigInput, loadConfig } from '../../src/core/config/config.ts';
import { doesMailLeave } from '../../src/core/config/problems.ts';
import { openSecrets } from '../../src/core/root-keys/secrets.ts';
import { domains, findSendingDomain } from '../../src/identity/domains/queries.ts';
import type { Connector } from '../../src/platform/net/dial.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { openStore } from '../../src/platform/store/open.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { hooks } from '../../src/service/service.ts';
import type { TestStore } from './command.ts';
import { pooledDkimKey } from './dkim-pairs.ts';
import { keepForAll } from './kept-resources.ts';
import { pooledParser } from './parser-pool.ts';
import { migratedSchema } from './postgres-pool.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

export interface TestAppOptions {
  store?: TestStore;
  /** An empty PostgreSQL, with `store: 'postgres'`. The test makes and drops it. */
  postgresUrl?: string;
  /** Overrides the defaults of tests: port 0 for all listeners, no system resolver. */
  config?: ConfigInput;
  /** Start of the clock, ms since 1970; by default `testStart`. */
  start?: number;
  /** Seed of ids, keys and jitter. Two apps on a store need different seeds. */
  seed?: number;
  connect?: Connector;
  nameServerAt?: NameServerAt;
  /** Replaces hooks of the service. */
  hooks?: Partial<Hooks>;
  /** Deadline of searches; by default 30 s, because a machine busy with tests is slow. */
  mostReadMs?: number;
  /**
   * Keeps mail from the sandbox on this machine, even if the configuration sends mail off the
   * machine.
   */
  keepsSandbox?: boolean;
  /** Target of the log at level info; by default no log. */
  log?: DestinationStream;
}

/** A service over a store before its first start. */
export interface EmptyTestApp {
  app: App;
  clock: VirtualClock;
  /** Starts a second process on the same store, with the same clock. `close` closes it too. */
  another(): Promise<App>;
  /** Closes every App on this store and removes the store. */
  close(): Promise<void>;
}

export interface TestApp extends EmptyTestApp {
  /** The owner key of the organization `default`. */
  caller: Caller;
  /** The person at the command line, in the organization `default`. */
  operator: Caller;
  /** The plaintext of the owner key. */
  apiKey: string;
}

/** 2026-01-05T12:00:00Z, a Monday. */
export const testStart = Date.UTC(2026, 0, 5, 12);

/** An address that refuses at once. A test that needs DNS names a server itself. */
const noDnsServer = '127.0.0.1:1';

function testConfig(config: ConfigInput, dataDir: string, url: string) {
  return loadConfig({
    env: {},
    cwd: dataDir,
    overrides: {
      dns: { servers: [noDnsServer] },
      ...config,
      dataDir,
      database: { ...config.database, url },
      http: { port: 0, ...config.http },
      smtp: {
        inbound: { port: 0, ...config.smtp?.inbound },
        submission: { port: 0, ...config.smtp?.submission },
      },
    },
  }).config;
}

/** The file of an empty store, migrated once for each process. */
let emptyStore: Promise<Buffer> | null = null;

async function makeEmptyStore(): Promise<Buffer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-test-empty-'));
  const store = await openStore({ url: 'sqlite:svc.db' }, dataDir, virtualClock(testStart));
  await store.close();
  const file = readFileSync(join(dataDir, 'svc.db'));
  rmSync(dataDir, { recursive: true });
  return file;
}

/** Starts a service with an empty store. */
export async function emptyTestApp(options: TestAppOptions = {}): Promise<EmptyTestApp> {
  const { seed = 1 } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const isShared = options.store === 'postgres' && options.postgresUrl === undefined;
  const schema = isShared ? await migratedSchema(inject('postgresUrl')) : undefined;
  const url = schema?.url ?? options.postgresUrl ?? 'sqlite:svc.db';
  if (url === 'sqlite:svc.db') {
    emptyStore ??= makeEmptyStore();
    writeFileSync(join(dataDir, 'svc.db'), await emptyStore, { mode: 0o600 });
  }
  const config = testConfig(options.config ?? {}, dataDir, url);
  const log = await createLogger({
    level: options.log ? 'info' : 'silent',
    pretty: false,
    ...(options.log && { destination: options.log }),
  });
  const clock = virtualClock(options.start ?? testStart);
  const opened: App[] = [];
  const open = async () => {
    const random = seededRandom(seed + 1_000_000 * opened.length);
    const { connect, nameServerAt, mostReadMs = 30_000 } = options;
    const overrides = {
      clock,
      random,
      generateDkimKey: pooledDkimKey,
      createMimeParser: pooledParser,
      keep: keepForAll,
      mostReadMs,
      ...(connect && { connect }),
      ...(nameServerAt && { nameServerAt }),
    };
    // A migrated store counts as a store with secrets.
    openSecrets(dataDir, random);
    const app = await openApp(config, log, { ...hooks, ...options.hooks }, overrides);
    opened.push(app);
    return app;
  };
  const app = await open();
  await schema?.made();
  return {
    app,
    clock,
    another: open,
    async close() {
      for (const app of opened.reverse()) await app.close();
      await schema?.release();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Lets the sandbox send to external addresses if mail leaves the machine, like `verify --force`.
 */
async function letSandboxOut(app: App, organizationId: string): Promise<void> {
  if (!doesMailLeave(app.config.delivery)) return;
  await app.store.write(async (trx) => {
    const domain = await findSendingDomain(trx, organizationId, 'sandbox.test');
    if (domain) await domains.update(trx, organizationId, domain.id, { is_local: 0 });
  });
}

/** Makes a service and runs its first start. */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const empty = await emptyTestApp(options);
  const first = await firstStart(empty.app);
  if (!first) throw new Error('the store of a new test app was not empty');
  const caller = await createAuthenticator(empty.app).authenticate(first.apiKey);
  if (!caller) throw new Error('the key of the first start was refused');
  if (!options.keepsSandbox) await letSandboxOut(empty.app, caller.organizationId);
  return { ...empty, caller, operator: operatorOf(caller.organizationId), apiKey: first.apiKey };
}
