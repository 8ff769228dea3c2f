// The capabilities that every part of the service is given: configuration, store, time, randomness,
// names, secrets, the network. Tests replace them here (rule 7); features take `app` first.
import type { Socket } from 'node:net';
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { createDns, type Dns } from './dns.ts';
import { generateDkimKey } from './domains/dkim-key.ts';
import { idSource, type NewId } from './ids.ts';
import { createMimeParser, type MimeParser } from './inbound/parse.ts';
import type { Logger } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { type Random, systemRandom } from './random.ts';
import { openSecrets, type Secrets } from './secrets.ts';
import type { Store } from './store/db.ts';
import { openStore } from './store/open.ts';

/** Opens a TCP connection; tests pass one that refuses, to prove what is never dialled. */
export type Connector = (options: { host: string; port: number }) => Socket;

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
  readonly connect: Connector | undefined;
  /** Makes the key pairs of sending domains. */
  readonly generateDkimKey: typeof generateDkimKey;
  /** Where the HTTP face listens, once it does: links that we hand out start with it. */
  readonly publicUrl: { current: string };
  /** When this was opened, by the wall clock and by the one that nobody sets. */
  readonly opened: { at: number; elapsed: number };
  close(): Promise<void>;
}

/** What a test or an embedding replaces. */
export interface AppOverrides {
  clock?: Clock;
  random?: Random;
  connect?: Connector;
  generateDkimKey?: typeof generateDkimKey;
}

/**
 * Opens the store (migrating it) and gathers the capabilities. Starts nothing that listens or runs.
 * @throws UnreachableError when the store cannot be opened; ConfigError for unusable secrets.
 */
export async function openApp(
  config: Config,
  log: Logger,
  overrides: AppOverrides = {},
): Promise<App> {
  const clock = overrides.clock ?? systemClock;
  const random = overrides.random ?? systemRandom();
  const secrets = openSecrets(config.dataDir, random);
  const store = await openStore(config.database.url, config.dataDir, clock, random);
  const dns = createDns({ servers: config.dns.servers, clock, random });
  const mime = createMimeParser({ clock });
  return {
    config,
    log,
    clock,
    random,
    newId: idSource(clock, random),
    store,
    secrets,
    dns,
    mime,
    metrics: createMetrics(),
    connect: overrides.connect,
    generateDkimKey: overrides.generateDkimKey ?? generateDkimKey,
    publicUrl: {
      current: config.http.publicUrl ?? `http://${config.http.host}:${config.http.port}`,
    },
    opened: { at: clock.now(), elapsed: clock.elapsed() },
    async close() {
      await mime.close();
      dns.close();
      await store.close();
    },
  };
}
