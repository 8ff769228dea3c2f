// The capabilities that every part of the service is given: configuration, store, time, randomness,
// names, secrets, the network. Tests replace them here (rule 7); features take `app` first.

import type { Config } from './config/config.ts';
import { InternalError } from './errors.ts';
import { generateDkimKey } from './mime/dkim-key.ts';
import { createMimeParser, type MimeParser } from './mime/parse/parser.ts';
import type { Connector } from './net/dial.ts';
import { createDns, type Dns } from './net/dns.ts';
import type { Clock } from './runtime/clock.ts';
import { systemClock } from './runtime/clock.ts';
import { idSource, type NewId } from './runtime/ids.ts';
import type { Logger } from './runtime/log.ts';
import { createMetrics, type Metrics } from './runtime/metrics.ts';
import { type Random, systemRandom } from './runtime/random.ts';
import { openSecrets, type Secrets } from './runtime/secrets.ts';
import type { Db, Store } from './store/db.ts';
import { openStore } from './store/open.ts';

/** An event as it was just written down. */
export interface LoggedEvent {
  id: string;
  organizationId: string;
  /** The kind, such as `message.sent`. */
  type: string;
  /** Id of what it is about: `msg_…`, `dom_…`, `org_…`. */
  subject: string;
  /** Of a step of one recipient. */
  recipientId: string | null;
  /** Ms since 1970. */
  timestamp: number;
}

/** An event of a message, as it is read again. */
export interface MessageLogEntry extends LoggedEvent {
  /** The message's after it. */
  status: string;
  facts: Record<string, unknown> | null;
}

/** Makes `data` of events of messages, by the ids of the events; without those whose message is gone. */
export type MessagePresenter = (
  app: App,
  organizationId: string,
  events: readonly MessageLogEntry[],
) => Promise<Map<string, object>>;

/** Hears of events in the transaction that writes them down. */
export interface EventSink {
  /** Steps of messages are none of its business. */
  readonly resourcesOnly?: true;
  /** A look into memory: it is asked for each event of every organization. */
  wants(organizationId: string): boolean;
  /** Events of organizations that it wants; what it throws fails the change that they tell of. */
  take(trx: Db, events: readonly LoggedEvent[]): Promise<void>;
}

/** A DNS record that the owner of a domain publishes for its tracking host, as last looked at. */
export interface TrackingRecord {
  name: string;
  value: string;
  status: 'pending' | 'valid' | 'missing';
  /** What is wrong with it. */
  error: string | null;
}

/** The records of the tracking hosts of these domains, by domain. */
export type FindTrackingRecords = (
  app: App,
  db: Db,
  domainIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly TrackingRecord[]>>;

/** Where a deleted message was, and the event that told of it there. */
export interface MessagePlace {
  mailboxId: string;
  threadId: string;
  /** It was the last message of its thread. */
  isThreadGone: boolean;
  eventId: string | null;
}

/** What threads do for rooms that know none. */
export interface ThreadHooks {
  /**
   * Puts mail that was parsed into threads, in the transaction that keeps what was found (null: kept
   * before); what is in one already, or came into no mailbox, is left alone.
   */
  takeIn(app: App, trx: Db, parsed: readonly { id: string; found: object | null }[]): Promise<void>;
  /** How many messages come before it in its thread; null where it is in none. */
  positionOf(db: Db, messageId: string): Promise<number | null>;
  /**
   * Takes a message out of its thread, which goes with the last one, and deletes the drafts that answer it. Returns null where it was in no thread.
   */
  forget(app: App, trx: Db, messageId: string): Promise<MessagePlace | null>;
}

/** Gives a new organization what it begins with, in the transaction that makes it. */
export type EquipOrganization = (app: App, trx: Db, organizationId: string) => Promise<void>;

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
  /** Whoever opened the app adds to it, before anything happens. */
  readonly eventSinks: EventSink[];
  readonly connect: Connector | undefined;
  /** Ports on which this process listens, as the system bound them. */
  readonly boundPorts: Set<number>;
  /** Makes the key pairs of sending domains. */
  readonly generateDkimKey: typeof generateDkimKey;
  /** Where the HTTP face listens, once it does: links that we hand out start with it. */
  readonly publicUrl: { current: string };
  /** Set by who composes: events know no messages. */
  presentMessageEvents: MessagePresenter;
  /** Set by who composes: domains know no tracking hosts. */
  findTrackingRecords: FindTrackingRecords;
  /** Set by who composes: organizations know no mailboxes. */
  equipOrganization: EquipOrganization;
  /** Set by who composes: messages know no threads. */
  threads: ThreadHooks;
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
  createMimeParser?: typeof createMimeParser;
  /** A store or secret that is not there is refused, not made: for commands. */
  mustExist?: boolean;
}

async function openOrMake({ dataDir, database }: Config, clock: Clock, random: Random) {
  const secrets = openSecrets(dataDir, random);
  return { secrets, store: await openStore(database.url, dataDir, clock, { random }) };
}

/** Where both are missing the store is named: its secret alone would mislead. */
async function openExisting({ dataDir, database }: Config, clock: Clock, random: Random) {
  const options = { random, mustExist: true };
  const store = await openStore(database.url, dataDir, clock, options);
  try {
    return { secrets: openSecrets(dataDir, random, true), store };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Opens the store (migrating it) and gathers the capabilities. Starts nothing that listens or runs.
 * @throws UnreachableError when the store cannot be opened; NoStoreError when it `mustExist` and
 * does not; ConfigError for unusable secrets.
 */
export async function openApp(
  config: Config,
  log: Logger,
  overrides: AppOverrides = {},
): Promise<App> {
  const clock = overrides.clock ?? systemClock;
  const random = overrides.random ?? systemRandom();
  const { secrets, store } = overrides.mustExist
    ? await openExisting(config, clock, random)
    : await openOrMake(config, clock, random);
  let metrics: Metrics | undefined;
  const dns = createDns({ servers: config.dns.servers, clock, random });
  const mime = (overrides.createMimeParser ?? createMimeParser)({ clock });
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
    get metrics() {
      metrics ??= createMetrics();
      return metrics;
    },
    eventSinks: [],
    connect: overrides.connect,
    boundPorts: new Set(),
    generateDkimKey: overrides.generateDkimKey ?? generateDkimKey,
    publicUrl: {
      current: config.http.publicUrl ?? `http://${config.http.host}:${config.http.port}`,
    },
    findTrackingRecords: () => Promise.resolve(new Map()),
    equipOrganization: () => Promise.resolve(),
    threads: {
      takeIn: () => Promise.resolve(),
      positionOf: () => Promise.resolve(null),
      forget: () => Promise.resolve(null),
    },
    presentMessageEvents: () => Promise.reject(new InternalError('nothing presents messages here')),
    opened: { at: clock.now(), elapsed: clock.elapsed() },
    async close() {
      await mime.close();
      dns.close();
      await store.close();
    },
  };
}
