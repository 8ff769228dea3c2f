// Carries one message to the server that is responsible for it and says what became of each recipient.
// Tries hosts in order over pooled sessions (RFC 5321 5.1); retries later are the queue's matter.
import { connect } from 'node:net';
import type { Connector } from '../app.ts';
import type { Clock } from '../clock.ts';
import type { Dns } from '../dns.ts';
import type { Random } from '../random.ts';
import { AttemptRecord } from './attempt-record.ts';
import { type MailHost, maxAddressesPerHost, type Verdict } from './destination.ts';
import type { Outcome } from './outcome.ts';
import { closingFault, type Peer, SmtpPool } from './pool.ts';
import type { NetworkRoute } from './route.ts';
import type { SmtpMail } from './smtp-envelope.ts';
import { type Opening, openSession } from './smtp-open.ts';
import type { RecipientAnswer } from './smtp-session.ts';
import type { SmtpTimeouts } from './smtp-timeouts.ts';
import { findWay, type Way } from './way.ts';

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
}

/** One message for recipients that share a route; in direct mode, those of one domain. */
export interface TransportJob extends SmtpMail {
  route: NetworkRoute;
}

export interface Transport {
  /** One outcome per recipient, in the order of `job.recipients`. Never rejects for the network. */
  deliver(job: TransportJob): Promise<Outcome[]>;
  /** Open connections, idle ones included. */
  readonly connections: number;
  /** Takes nothing new, lets what is under way end for `graceMs` (0), then cuts it. */
  close(graceMs?: number): Promise<void>;
}

/** Past this no further host is tried; the one under way still has its own limits. */
const tryHostsMs = 300_000;
const maxAddresses = 20;

/** One attempt under way. */
interface Attempt {
  job: TransportJob;
  way: Way;
  record: AttemptRecord;
  addressesLeft: number;
}

/** The server had closed the idle session, or forgotten it: no word of this message was heard. */
function isStale(answers: readonly RecipientAnswer[]): boolean {
  return answers.every(({ kind, reply }) => {
    return kind === 'fault' && (reply.verb === 'MAIL' || reply.verb === 'RSET');
  });
}

/** Keys of the sessions that will do for the host at `index`: of equals, any that is open. */
function keysOf(hosts: readonly MailHost[], index: number): string[] {
  const host = hosts[index];
  const equals = hosts.filter(({ preference }) => index === 0 && preference === host?.preference);
  return [...new Set([host?.name ?? '', ...equals.map(({ name }) => name)])];
}

/** A transport with its own pool of sessions. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, connect: connector = connect } = options;
  const config = options.config.delivery;
  const shutdown = new AbortController();
  const pool = new SmtpPool({
    clock,
    maxConnections: config.maxConnections,
    maxConnectionsPerLane: config.maxConnectionsPerDomain,
  });

  function openAt(way: Way, peer: Peer): Promise<Opening> {
    return openSession({
      ...peer,
      ...way.protectionAt(peer.address),
      port: way.port,
      helloName: config.hostname,
      clock,
      connector,
      signal: shutdown.signal,
      ...(options.timeouts && { timeouts: options.timeouts }),
    });
  }

  /** The first address of the host that lets us in, or how the last one did not. */
  async function openHost(attempt: Attempt, host: string) {
    const { way, record } = attempt;
    record.restart();
    const found = await way.addressesOf(host);
    if (found.verdict) return found;
    const addresses = found.addresses.slice(
      0,
      Math.min(maxAddressesPerHost, attempt.addressesLeft),
    );
    attempt.addressesLeft -= addresses.length;
    for (const [index, address] of addresses.entries()) {
      const peer = { host, address };
      const opening = await openAt(way, peer);
      const isLast = index === addresses.length - 1 || shutdown.signal.aborted;
      if (opening.session || isLast || opening.fault.kind === 'auth') return { opening, peer };
      record.addFault(peer, opening.fault, opening.transcript);
    }
    return { verdict: nothingLeft(host) };
  }

  async function tryHost(attempt: Attempt, index: number, isFresh: boolean): Promise<void> {
    const { job, way, record } = attempt;
    const host = way.hosts[index]?.name ?? '';
    const lease = await pool.acquire({
      lane: way.lane,
      keys: keysOf(way.hosts, index),
      isFresh,
      open: () => openHost(attempt, host),
    });
    if (lease === null) return record.addFault(null, closingFault(), '');
    if ('verdict' in lease) return record.addVerdict(host, lease.verdict);
    if ('opening' in lease) {
      return record.addFault(lease.peer, lease.opening.fault, lease.opening.transcript);
    }
    const { session, peer, isReused } = lease;
    if (isReused) record.restart();
    const answers = await session.deliver(mailFor(job, record.pending));
    const { tls, transcript } = session;
    lease.release();
    if (isReused && isStale(answers)) return tryHost(attempt, index, true);
    record.addAnswers(answers, peer, tls, transcript);
  }

  async function deliver(job: TransportJob): Promise<Outcome[]> {
    const way = await findWay(job.route, options);
    const isWay = 'lane' in way;
    const record = new AttemptRecord(job.recipients.length, isWay && way.isRelay, clock);
    if (!isWay) {
      record.addVerdict(null, way);
      return record.finish();
    }
    const attempt = { job, way, record, addressesLeft: maxAddresses };
    const endAt = clock.now() + tryHostsMs;
    for (const index of way.hosts.keys()) {
      if (record.pending.length === 0 || attempt.addressesLeft <= 0) break;
      if (index > 0 && (clock.now() > endAt || shutdown.signal.aborted)) break;
      await tryHost(attempt, index, false);
    }
    return record.finish();
  }

  return {
    deliver,
    get connections() {
      return pool.connections;
    },
    async close(graceMs = 0) {
      const cancel = clock.after(graceMs, () => {
        shutdown.abort();
        pool.abort();
      });
      await pool.close();
      cancel();
    },
  };
}

function mailFor(job: TransportJob, pending: readonly number[]): SmtpMail {
  if (pending.length === job.recipients.length) return job;
  return { ...job, recipients: pending.map((index) => job.recipients[index] ?? '') };
}

function nothingLeft(host: string): Verdict {
  const text = `${host} was not tried: too many addresses did not answer`;
  return {
    kind: 'deferred',
    errorCode: 'connection',
    reply: { code: null, enhancedCode: '4.4.1', text, verb: 'connect' },
  };
}
