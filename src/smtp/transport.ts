// Carries one message to the server that is responsible for it and says what became of each recipient.
// Tries hosts in order over pooled sessions (RFC 5321 5.1); retries later are the queue's matter.
import { connect } from 'node:net';
import type { Connector } from '../net/dial.ts';
import type { Dns } from '../net/dns.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { AttemptRecord } from './attempt-record.ts';
import type { SmtpMail } from './envelope.ts';
import { SmtpFault } from './fault.ts';
import { createMtaSts, type StsLog } from './mta-sts.ts';
import type { KeptPolicies } from './mta-sts-fetch.ts';
import { type Opening, openSession } from './open.ts';
import type { Outcome } from './outcome.ts';
import { closingFault, SmtpPool } from './pool.ts';
import type { Peer } from './pool-request.ts';
import type { NetworkRoute } from './route.ts';
import { SlowAddresses } from './slow-addresses.ts';
import type { SmtpTimeouts } from './timeouts.ts';
import type { HostSecurity } from './tls-policy.ts';
import type { RecipientAnswer } from './transaction.ts';
import { findWay, type LaneRules, type Way } from './way.ts';

/** The part of `config.delivery` that the transport needs. */
export interface TransportConfig {
  /** Our name in EHLO. */
  hostname: string;
  maxConnections: number;
  maxConnectionsPerDomain: number;
}

/** What the transport takes of the App. */
export interface TransportOptions {
  dns: Dns;
  clock: Clock;
  random: Random;
  /** net.connect unless told. */
  connect: Connector | undefined;
  config: { delivery: TransportConfig };
  timeouts?: Partial<SmtpTimeouts>;
  /** Told of MTA-STS policies. */
  log?: StsLog;
  /** Keeps MTA-STS policies over a restart. */
  policies?: KeptPolicies;
  /** Without: a lane per set of mail hosts, `maxConnectionsPerDomain` for each. */
  lanes?: LaneRules;
}

/** One message for recipients that share a route; in direct mode, those of one domain. */
export interface TransportJob extends SmtpMail {
  route: NetworkRoute;
  /** Whose mail it is. */
  organizationId: string;
}

export interface Transport {
  /** One outcome per recipient, in the order of `job.recipients`. Never rejects for the network. */
  deliver(job: TransportJob): Promise<Outcome[]>;
  /** Open connections, idle ones included. */
  readonly connections: number;
  /** Takes nothing new, lets what is under way end for `graceMs` (0), then cuts it. */
  close(graceMs?: number): Promise<void>;
}

/**
 * So long after the first host no further host or address is tried; the one under way still has its own
 * limits. Four that let no connection come about, two that say nothing on it.
 */
const tryHostsMs = 120_000;
/** A slow address gets so many connections at once; who waits for one longer than this is deferred. */
const slowAddressLimits = { connections: 2, messagesPerConnection: 100 };
const longestSlowWaitMs = 30_000;
const maxAddresses = 20;
const messagesPerConnection = 100;

/** One attempt under way. */
interface Attempt {
  job: TransportJob;
  way: Way;
  record: AttemptRecord;
  addressesLeft: number;
  /** A connection was lost before the message can have been taken. */
  isLost: boolean;
  /** A host was turned to a second time: once is enough. */
  isRepeated: boolean;
}

/** The server had closed the idle session, or forgotten it: no word of this message was heard. */
function isStale(answers: readonly RecipientAnswer[]): boolean {
  return answers.every(({ kind, reply }) => {
    return kind === 'fault' && (reply.verb === 'MAIL' || reply.verb === 'RSET');
  });
}

/**
 * The connection was closed or reset before the dot was sent: nobody can have taken the message, and
 * another connection may well hold.
 */
function isLostBeforeDot(answers: readonly RecipientAnswer[]): boolean {
  return answers.some((one) => one.kind === 'fault' && one.isLoss && one.reply.verb !== 'dot');
}

/**
 * Keys of the sessions that will do for the host at `index`: of the equals of the first, any that is
 * open, as long as it was opened under the same demands as are made now.
 */
async function keysOf({ hosts, securityOf }: Way, index: number, own: HostSecurity) {
  const host = hosts[index];
  const keys = [`${host?.name} ${own.label}`];
  if (index > 0) return keys;
  const others = hosts.filter((other) => other.preference === host?.preference && other !== host);
  for (const { name } of others) {
    const demanded = await securityOf(name);
    if (!demanded.verdict) keys.push(`${name} ${demanded.security.label}`);
  }
  return keys;
}

/** A transport with its own pool of sessions. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, connect: connector = connect } = options;
  const config = options.config.delivery;
  const shutdown = new AbortController();
  const pool = new SmtpPool({
    clock,
    maxConnections: config.maxConnections,
  });
  const slowAddresses = new SlowAddresses(clock);
  const sources = {
    ...options,
    sts: createMtaSts({ ...options, connector }),
    lanes: options.lanes,
    limits: { connections: config.maxConnectionsPerDomain, messagesPerConnection },
  };

  function openAt(way: Way, peer: Peer, security: HostSecurity): Promise<Opening> {
    return openSession({
      ...peer,
      ...way.protectionAt(peer.address, security),
      port: way.port,
      helloName: config.hostname,
      clock,
      connector,
      signal: shutdown.signal,
      isPressed: () => pool.isPressed,
      ...(options.timeouts && { timeouts: options.timeouts }),
    });
  }

  /** The first address of the host that lets us in, or how the last one did not. */
  async function openHost(attempt: Attempt, host: string, security: HostSecurity) {
    const { way, record } = attempt;
    record.begin();
    const found = await way.addressesOf(host);
    if (found.verdict) return found;
    const openOne = async (address: string) => {
      attempt.addressesLeft -= 1;
      const peer = { host, address };
      const begunAt = clock.elapsed();
      const opening = await openAt(way, peer, security);
      if (!opening.session && !way.isRelay) slowAddresses.learn(address, begunAt, false);
      return { opening, peer };
    };
    const [first, ...others] = found.addresses;
    let tried = await openOne(first);
    for (const address of others) {
      const { opening, peer } = tried;
      if (opening.session || opening.fault.kind === 'auth') break;
      if (attempt.addressesLeft <= 0 || shutdown.signal.aborted || record.tookMs > tryHostsMs)
        break;
      record.addFault(peer, opening.fault, opening.transcript);
      tried = await openOne(address);
    }
    return tried;
  }

  /** Where connections to the host are counted: with all that lead to the same slow address, or its own. */
  async function placesAt(way: Way, host: string) {
    const usual = { destination: way.lane, limits: way.limits };
    if (way.isRelay || slowAddresses.isEmpty) return usual;
    const found = await way.addressesOf(host);
    const slow = found.verdict ? null : slowAddresses.slowest(found.addresses);
    if (slow === null) return usual;
    return {
      destination: `slow ${slow} ${way.port}`,
      limits: slowAddressLimits,
      longestWaitMs: longestSlowWaitMs,
    };
  }

  async function tryHost(attempt: Attempt, index: number, isFresh: boolean): Promise<void> {
    const { job, way, record } = attempt;
    const host = way.hosts[index]?.name ?? '';
    const demanded = await way.securityOf(host);
    if (demanded.verdict) return record.addVerdict(host, demanded.verdict);
    const { security } = demanded;
    if (!isFresh) record.addNotes(security.notes);
    const lease = await pool.acquire({
      ...(await placesAt(way, host)),
      organizationId: job.organizationId,
      keys: await keysOf(way, index, security),
      isFresh,
      open: () => openHost(attempt, host, security),
    });
    if (lease === null) return record.addFault(null, closingFault(), '');
    if ('isLate' in lease) return record.addFault(null, slowFault(host), '');
    if ('verdict' in lease) return record.addVerdict(host, lease.verdict);
    if ('opening' in lease) {
      const { fault, transcript } = lease.opening;
      if (fault.isLoss) attempt.isLost = true;
      return record.addFault(lease.peer, fault, transcript);
    }
    const { session, peer, isReused } = lease;
    record.begin();
    const begunAt = clock.elapsed();
    const answering = session.deliver(mailFor(job, way, record.pending), lease.lendOn);
    const { tls, transcript } = session;
    const answers = await answering;
    lease.release();
    if (!way.isRelay) {
      slowAddresses.learn(
        peer.address,
        begunAt,
        answers.some(({ kind }) => kind === 'replied'),
      );
    }
    if (isReused && isStale(answers)) {
      attempt.isRepeated = true;
      return tryHost(attempt, index, true);
    }
    if (isLostBeforeDot(answers)) attempt.isLost = true;
    record.addAnswers(answers, peer, tls, transcript.text);
  }

  async function deliver(job: TransportJob): Promise<Outcome[]> {
    const way = await findWay(job.route, sources);
    const isWay = 'lane' in way;
    const record = new AttemptRecord(job.recipients.length, isWay && way.isRelay, clock);
    if (!isWay) {
      record.addVerdict(null, way);
      return record.finish();
    }
    const attempt: Attempt = {
      job,
      way,
      record,
      addressesLeft: maxAddresses,
      isLost: false,
      isRepeated: false,
    };
    for (const index of way.hosts.keys()) {
      if (record.pending.length === 0 || attempt.addressesLeft <= 0) break;
      if (index > 0 && (record.tookMs > tryHostsMs || shutdown.signal.aborted)) break;
      await tryHost(attempt, index, false);
    }
    // Where there are several hosts, the next one was that other connection.
    const isOnlyHost = way.hosts.length === 1 && record.pending.length > 0;
    const mayRepeat = attempt.isLost && !attempt.isRepeated && !shutdown.signal.aborted;
    if (isOnlyHost && mayRepeat) await tryHost(attempt, 0, true);
    return record.finish();
  }

  return {
    deliver,
    get connections() {
      return pool.connections;
    },
    async close(graceMs = 0) {
      const cut = () => {
        shutdown.abort();
        sources.sts.close();
        pool.abort();
      };
      const closed = pool.close();
      if (graceMs <= 0) cut();
      const cancel = clock.after(graceMs, cut);
      await closed;
      cancel();
    },
  };
}

/** Who waits for a slow address longer than is good for others is better tried again later. */
function slowFault(host: string): SmtpFault {
  const text = `${host} keeps us waiting, and all connections that it gets are in use`;
  return SmtpFault.of('connection', 'connect', text, '4.4.1');
}

function mailFor(job: TransportJob, way: Way, pending: readonly number[]): SmtpMail {
  if (pending.length === job.recipients.length && !way.requireTls) return job;
  const recipients = pending.map((index) => job.recipients[index] ?? '');
  return { ...job, recipients, requireTls: way.requireTls };
}
