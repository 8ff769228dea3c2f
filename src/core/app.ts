// The app: configuration, store, time, randomness, ids, secrets and network for every part of the
// service. Tests replace them here. Functions take `app` as their first parameter.

import { generateDkimKey } from '../mail/mime/dkim/dkim-key.ts';
import { createMimeParser, type MimeParser } from '../mail/parse/parser.ts';
import { NoStoreError } from '../platform/errors.ts';
import type { Connector } from '../platform/net/dial.ts';
import { createDns, type Dns } from '../platform/net/dns.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import { systemClock } from '../platform/runtime/clock.ts';
import { clockJumpsOf } from '../platform/runtime/clock-jumps.ts';
import { idSource, type NewId } from '../platform/runtime/ids.ts';
import type { Logger } from '../platform/runtime/log.ts';
import { createMetrics, type Metrics } from '../platform/runtime/metrics.ts';
import { type Random, systemRandom } from '../platform/runtime/random.ts';
import { DatabaseClock } from '../platform/store/changes/database-clock.ts';
import type { Store } from '../platform/store/db.ts';
import { openStore, storeLocation } from '../platform/store/open.ts';
import { unlessEarlier } from '../platform/store/rows/unless-earlier.ts';
import type { Config } from './config/config.ts';
import { learnRootKeys } from './root-keys/root-keys.ts';
import { openSecrets, type Secrets } from './root-keys/secrets.ts';

/**
 * Functions that folders of src call without an import, because the implementation is in a higher
 * folder. The calling folder declares each hook in this interface (`declare module`, in a file
 * `hooks.ts`). service.ts provides all hooks.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the rooms fill it.
export interface Hooks {}

export interface App {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly dns: Dns;
  readonly mime: MimeParser;
  readonly metrics: Metrics;
  readonly hooks: Hooks;
  readonly connect: Connector | undefined;
  /**
   * Returns the DNS server to query for an address of a name server; null skips the address.
   * Undefined by default: public addresses are queried, the rest is skipped.
   */
  readonly nameServerAt: NameServerAt | undefined;
  /** Ports on which this process listens, as the system bound them. */
  readonly boundPorts: Set<number>;
  /** Generates the key pairs of sending domains. */
  readonly generateDkimKey: typeof generateDkimKey;
  /** Base URL of the links in mail and answers: the URL of the HTTP server, once it listens. */
  readonly publicUrl: { current: string };
  /**
   * Makes a resource that ends with the app, such as a worker. Tests share a resource of each name
   * between apps, because the start of a worker takes longer than most tests.
   */
  keep: Keep;
  close(): Promise<void>;
}

type Keep = <T extends { close(): Promise<void> }>(name: string, make: (clock: Clock) => T) => T;

/** Maps an address to `IP` or `IP:port` of a DNS server. */
export type NameServerAt = (address: string) => string | null;

/** Replacements for tests and embedding programs. */
export interface AppOverrides {
  clock?: Clock;
  random?: Random;
  connect?: Connector;
  nameServerAt?: NameServerAt;
  generateDkimKey?: typeof generateDkimKey;
  createMimeParser?: typeof createMimeParser;
  keep?: Keep;
  /** Deadline of searches and filtered counts; default 500 ms (src/platform/store/aside.ts). */
  mostReadMs?: number;
  /**
   * Refuses a missing store or secret instead of creating it, and an earlier schema; for commands.
   */
  mustExist?: boolean;
  /** Reads an earlier schema, with `mustExist`: some tables and columns may be missing. */
  readsEarlier?: boolean;
}

interface OpenOptions {
  random: Random;
  mostReadMs: number | undefined;
  earlier: 'migrate' | 'refuse' | 'read';
}

/**
 * Opens an existing store, or makes a store and a secret. For an existing store no secret is made,
 * as a new secret could not decrypt the store.
 */
async function openOrMake(config: Config, clock: Clock, options: OpenOptions) {
  const { dataDir, database, secret: settings } = config;
  try {
    return await openExisting(config, clock, options);
  } catch (error) {
    if (!(error instanceof NoStoreError && error.lacks === 'store')) throw error;
  }
  const secrets = openSecrets(dataDir, options.random, { settings });
  return { secrets, store: await openStore(database, dataDir, clock, options) };
}

/** Opens the store before the secrets: if both are missing, the error names the store. */
async function openExisting(config: Config, clock: Clock, options: OpenOptions) {
  const { dataDir, database, secret: settings } = config;
  const store = await openStore(database, dataDir, clock, { ...options, mustExist: true });
  try {
    const secrets = openSecrets(dataDir, options.random, { settings, mustExist: true });
    await unlessEarlier(store.db, () => learnRootKeys({ store, secrets, clock }));
    return { secrets, store };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Returns the handling of an earlier schema. Without `mustExist` (a daemon, a copy of a store) it
 * is migrated; otherwise it is refused, or read with `readsEarlier`.
 */
function treatmentOf({ mustExist = false, readsEarlier = false }: AppOverrides) {
  if (!mustExist) return 'migrate';
  return readsEarlier ? 'read' : 'refuse';
}

/**
 * Opens the store, and collects the capabilities. Starts no server and no job.
 * @throws UnreachableError if the store cannot be opened; NoStoreError if it must exist and does
 * not; ConfigError for unusable secrets.
 */
export async function openApp(
  config: Config,
  log: Logger,
  hooks: Hooks,
  overrides: AppOverrides = {},
): Promise<App> {
  const isShared = storeLocation(config.database.url, config.dataDir).kind === 'postgres';
  const shared = isShared && !overrides.clock ? new DatabaseClock(systemClock) : null;
  const clock = overrides.clock ?? shared ?? systemClock;
  const random = overrides.random ?? systemRandom();
  const { mostReadMs } = overrides;
  const options = { random, mostReadMs, earlier: treatmentOf(overrides) } as const;
  const { secrets, store } = overrides.mustExist
    ? await openExisting(config, clock, options)
    : await openOrMake(config, clock, options);
  await shared?.look(store.db);
  let metrics: Metrics | undefined;
  const dns = createDns({ servers: config.dns.servers, clock, random });
  const mime = (overrides.createMimeParser ?? createMimeParser)({ clock });
  const ends: (() => Promise<void>)[] = [];
  const app: App = {
    config,
    log,
    clock,
    random,
    newId: idSource(clock, random),
    store,
    secrets,
    dns,
    mime,
    get metrics() {
      metrics ??= createMetrics();
      return metrics;
    },
    hooks,
    connect: overrides.connect,
    nameServerAt: overrides.nameServerAt,
    boundPorts: new Set(),
    generateDkimKey: overrides.generateDkimKey ?? generateDkimKey,
    publicUrl: {
      current: config.http.publicUrl ?? `http://${config.http.host}:${config.http.port}`,
    },
    keep:
      overrides.keep ??
      ((_name, make) => {
        const made = make(clock);
        ends.push(() => made.close());
        return made;
      }),
    async close() {
      await Promise.all(ends.splice(0).map((end) => end()));
      await mime.close();
      dns.close();
      await store.close();
    },
  };
  // From now on the clock is compared with steady time, so that jumps are found.
  clockJumpsOf(app);
  return app;
}
