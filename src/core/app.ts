// The capabilities of every part of the service: configuration, store, time, randomness, ids,
// secrets, network. Tests replace them here. Functions take `app` as their first parameter.

import { generateDkimKey } from '../mail/mime/dkim/dkim-key.ts';
import { createMimeParser, type MimeParser } from '../mail/parse/parser.ts';
import type { Connector } from '../platform/net/dial.ts';
import { createDns, type Dns } from '../platform/net/dns.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import { systemClock } from '../platform/runtime/clock.ts';
import { clockJumpsOf } from '../platform/runtime/clock-jumps.ts';
import { idSource, type NewId } from '../platform/runtime/ids.ts';
import type { Logger } from '../platform/runtime/log.ts';
import { createMetrics, type Metrics } from '../platform/runtime/metrics.ts';
import { type Random, systemRandom } from '../platform/runtime/random.ts';
import { openSecrets, type Secrets } from '../platform/runtime/secrets.ts';
import { DatabaseClock } from '../platform/store/changes/database-clock.ts';
import type { Db, Store } from '../platform/store/db.ts';
import { isStoreThere, openStore, storeLocation } from '../platform/store/open.ts';
import { unlessEarlier } from '../platform/store/rows/unless-earlier.ts';
import type { Config } from './config/config.ts';
import { learnRootKeys } from './root-keys/root-keys.ts';

/** A newly recorded event. */
export interface LoggedEvent {
  id: string;
  organizationId: string;
  /** The kind, such as `message.sent`. */
  type: string;
  /** Id of the subject: `msg_…`, `dom_…`, `org_…`. */
  subject: string;
  /** Set for a step of a single recipient. */
  recipientId: string | null;
  /** Ms since 1970. */
  timestamp: number;
}

/** A stored event of a message. */
export interface MessageLogEntry extends LoggedEvent {
  /** Status of the message after the event. */
  status: string;
  facts: Record<string, unknown> | null;
}

/** Returns the `data` of message events, by event id; events of deleted messages are left out. */
export type MessagePresenter = (
  app: App,
  organizationId: string,
  events: readonly MessageLogEntry[],
) => Promise<Map<string, object>>;

/** Receives events in the transaction that records them. */
export interface EventSink {
  /** Skips the steps of messages. */
  readonly resourcesOnly?: true;
  /** Reads memory only: it is called for each event of every organization. */
  wants(app: App, organizationId: string): boolean;
  /** Receives the wanted events; an error thrown here fails the change that they report. */
  take(app: App, trx: Db, events: readonly LoggedEvent[]): Promise<void>;
}

/** A DNS record that a domain's owner publishes for the tracking host, as of the last check. */
export interface TrackingRecord {
  name: string;
  value: string;
  status: 'pending' | 'valid' | 'missing';
  /** Problem with the record. */
  error: string | null;
}

/** Returns the records of these domains' tracking hosts, by domain. */
export type FindTrackingRecords = (
  app: App,
  db: Db,
  domainIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly TrackingRecord[]>>;

/** The former place of a deleted message, and the event that reported it there. */
export interface MessagePlace {
  mailboxId: string;
  threadId: string;
  /** Set for the last message of a thread. */
  isThreadGone: boolean;
  eventId: string | null;
}

/** Operations of threads for lower folders, which do not import threads. */
export interface ThreadHooks {
  /**
   * Puts parsed mail into threads, in the transaction that stores its content; `found` is null if
   * the content was stored before. Skips mail that is in a thread already or belongs to no mailbox.
   */
  takeIn(app: App, trx: Db, parsed: readonly { id: string; found: object | null }[]): Promise<void>;
  /** Returns how many messages precede this message in the thread; null if it is in none. */
  positionOf(db: Db, messageId: string): Promise<number | null>;
  /**
   * Takes a message out of the thread, deletes the thread with the last message, and deletes drafts
   * that answer the message. Returns null if it was in no thread.
   */
  forget(app: App, trx: Db, messageId: string): Promise<MessagePlace | null>;
  /** Takes the words of a message's text out of the search, and the preview off the thread. */
  forgetText(app: App, trx: Db, messageId: string): Promise<void>;
}

/** Creates the initial rows of a new organization, in the transaction that creates it. */
export type EquipOrganization = (app: App, trx: Db, organizationId: string) => Promise<void>;

/** Returns the campaigns of the organization among these ids. */
export type FindKnownCampaigns = (
  db: Db,
  organizationId: string,
  ids: readonly string[],
) => Promise<string[]>;

/**
 * Returns the namespace of a mailbox of the organization; null for an unknown or deleted mailbox.
 */
export type FindNamespaceOf = (
  db: Db,
  organizationId: string,
  mailboxId: string,
) => Promise<string | null>;

/**
 * Learns, in the same transaction, that the endpoint of an installation was disabled after
 * failures.
 */
export type EndpointDisabled = (
  app: App,
  trx: Db,
  of: { organizationId: string; installationId: string },
) => Promise<void>;

/** A name that an organization has verified. */
export interface OwnedName {
  domain: string;
  organizationId: string;
  /** Ids of the same name at former organizations. */
  formerIds: readonly string[];
}

/**
 * Deletes what former organizations had on a name, in separate transactions; a second call finds
 * nothing.
 */
export type ReleaseName = (app: App, name: OwnedName) => Promise<void>;

/** Returns the organization with the mailbox of an address (folded). */
export type FindAddressHolder = (db: Db, address: string) => Promise<string | undefined>;

/** Returns the messages among these ids that reached nobody. */
export type FindLostMails = (db: Db, messageIds: readonly string[]) => Promise<Set<string>>;

/**
 * Operations of higher folders for lower folders, which do not import them; service.ts provides
 * them.
 */
export interface Hooks {
  /** Receive each event that `events` records, in this order. */
  readonly eventSinks: readonly EventSink[];
  /** For `events`. */
  readonly presentMessageEvents: MessagePresenter;
  /** For `domains`. */
  readonly findTrackingRecords: FindTrackingRecords;
  readonly nameReleases: readonly ReleaseName[];
  /** For `organizations`. */
  readonly equipOrganization: EquipOrganization;
  /** For `messages`. */
  readonly threads: ThreadHooks;
  /** For `contacts`. */
  readonly findKnownCampaigns: FindKnownCampaigns;
  /**
   * For `senders`: mails a new sender the token that proves the sender's address, in the
   * transaction that makes the sender. `caller` is the Caller of api/route.ts, which stands above
   * this file. @throws as a send of the caller.
   */
  askForProof(
    app: App,
    trx: Db,
    caller: { readonly organizationId: string },
    senderId: string,
  ): Promise<void>;
  readonly findLostMails: FindLostMails;
  readonly findAddressHolder: FindAddressHolder;
  /** For `webhooks`. */
  readonly findNamespaceOf: FindNamespaceOf;
  readonly endpointDisabled: EndpointDisabled;
}

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
   * Returns the server at an address of a zone's name servers; null for an address that is not
   * asked.
   */
  readonly nameServerAt: NameServerAt | undefined;
  /** Ports on which this process listens, as the system bound them. */
  readonly boundPorts: Set<number>;
  /** Generates the key pairs of sending domains. */
  readonly generateDkimKey: typeof generateDkimKey;
  /** Base of the links that we publish: the URL of the HTTP server, once it listens. */
  readonly publicUrl: { current: string };
  /**
   * Makes a resource that ends with the app, for workers of higher folders. Equal names have equal
   * resources: tests share a resource between many apps, as the start of a worker takes longer than
   * most tests.
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

/** Creates a secret only for a new store: no new secret reads an existing store. */
async function openOrMake(config: Config, clock: Clock, options: OpenOptions) {
  const { dataDir, database, secret: settings } = config;
  if (await isStoreThere(database, dataDir)) return openExisting(config, clock, options);
  const secrets = openSecrets(dataDir, options.random, { settings });
  return { secrets, store: await openStore(database, dataDir, clock, options) };
}

/** If both are missing, the error names the store: naming only the secret would mislead. */
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
 * Returns the treatment of an earlier schema. Only a daemon, and the copies of a store, are
 * migrated.
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
  // Compares from now on.
  clockJumpsOf(app);
  return app;
}
