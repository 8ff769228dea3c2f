// Carries one message to the server that is responsible for it and says what became of each recipient.
// Tries hosts in order over pooled sessions (RFC 5321 5.1); retries later are the queue's matter.
import { connect } from 'node:net';
import type { Connector } from '../app.ts';
import type { Clock } from '../clock.ts';
import type { Dns } from '../dns.ts';
import type { Random } from '../random.ts';
import { AttemptRecord } from './attempt-record.ts';
import type { Outcome } from './outcome.ts';
import type { KeptPolicies } from './route/kept-policies.ts';
import { createMtaSts, type StsLog } from './route/mta-sts.ts';
import type { NetworkRoute } from './route/route.ts';
import type { HostSecurity } from './route/tls-policy.ts';
import type { SmtpMail } from './smtp/envelope.ts';
import { type Opening, openSession } from './smtp/open.ts';
import { closingFault, type Peer, SmtpPool } from './smtp/pool.ts';
import type { SmtpTimeouts } from './smtp/timeouts.ts';
import type { RecipientAnswer } from './smtp/transaction.ts';
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
const messagesPerConnection = 100;

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
      return { opening: await openAt(way, peer, security), peer };
    };
    const [first, ...others] = found.addresses;
    let tried = await openOne(first);
    for (const address of others) {
      const { opening, peer } = tried;
      if (opening.session || opening.fault.kind === 'auth') break;
      if (attempt.addressesLeft <= 0 || shutdown.signal.aborted) break;
      record.addFault(peer, opening.fault, opening.transcript);
      tried = await openOne(address);
    }
    return tried;
  }

  async function tryHost(attempt: Attempt, index: number, isFresh: boolean): Promise<void> {
    const { job, way, record } = attempt;
    const host = way.hosts[index]?.name ?? '';
    const demanded = await way.securityOf(host);
    if (demanded.verdict) return record.addVerdict(host, demanded.verdict);
    const { security } = demanded;
    if (!isFresh) record.addNotes(security.notes);
    const lease = await pool.acquire({
      lane: way.lane,
      limits: way.limits,
      keys: await keysOf(way, index, security),
      isFresh,
      open: () => openHost(attempt, host, security),
    });
    if (lease === null) return record.addFault(null, closingFault(), '');
    if ('verdict' in lease) return record.addVerdict(host, lease.verdict);
    if ('opening' in lease) {
      return record.addFault(lease.peer, lease.opening.fault, lease.opening.transcript);
    }
    const { session, peer, isReused } = lease;
    record.begin();
    const answering = session.deliver(mailFor(job, way, record.pending), lease.lendOn);
    const { tls, transcript } = session;
    const answers = await answering;
    lease.release();
    if (isReused && isStale(answers)) return tryHost(attempt, index, true);
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
    const attempt = { job, way, record, addressesLeft: maxAddresses };
    const endAt = clock.elapsed() + tryHostsMs;
    for (const index of way.hosts.keys()) {
      if (record.pending.length === 0 || attempt.addressesLeft <= 0) break;
      if (index > 0 && (clock.elapsed() > endAt || shutdown.signal.aborted)) break;
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

function mailFor(job: TransportJob, way: Way, pending: readonly number[]): SmtpMail {
  if (pending.length === job.recipients.length && !way.requireTls) return job;
  const recipients = pending.map((index) => job.recipients[index] ?? '');
  return { ...job, recipients, requireTls: way.requireTls };
}
