// Carries one message to the server that is responsible for it and says what became of each recipient.
// Tries hosts in order over pooled sessions (RFC 5321 5.1); retries later are the queue's matter.
import { connect } from 'node:net';
import type { Connector } from '../net/dial.ts';
import type { Dns } from '../net/dns.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { Attempt, type AttemptMeans, type TransportJob } from './attempt.ts';
import { AttemptRecord } from './attempt-record.ts';
import { createMtaSts, type StsLog } from './mta-sts.ts';
import type { KeptPolicies } from './mta-sts-fetch.ts';
import { openSession } from './open.ts';
import type { Outcome } from './outcome.ts';
import { SmtpPool } from './pool.ts';
import { SlowAddresses } from './slow-addresses.ts';
import type { SmtpTimeouts } from './timeouts.ts';
import { findWay, type LaneRules } from './way.ts';

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

export interface Transport {
  /** One outcome per recipient, in the order of `job.recipients`. Never rejects for the network. */
  deliver(job: TransportJob): Promise<Outcome[]>;
  /** Open connections, idle ones included. */
  readonly connections: number;
  /** Takes nothing new, lets what is under way end for `graceMs` (0), then cuts it. */
  close(graceMs?: number): Promise<void>;
}

const messagesPerConnection = 100;

/*
 * open → closing (close): waiting and new attempts get a fault, those under way go on
 * closing → cut (after `graceMs`): sessions end with a fault, policies are fetched no more
 */
/** A transport with its own pool of sessions. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, connect: connector = connect } = options;
  const config = options.config.delivery;
  const cutting = new AbortController();
  const pool = new SmtpPool({ clock, maxConnections: config.maxConnections });
  const sources = {
    ...options,
    sts: createMtaSts({ ...options, connector }),
    lanes: options.lanes,
    limits: { connections: config.maxConnectionsPerDomain, messagesPerConnection },
  };
  const means: AttemptMeans = {
    clock,
    pool,
    slowAddresses: new SlowAddresses(clock),
    shutdown: cutting.signal,
    openAt: (way, peer, security) =>
      openSession({
        ...peer,
        ...way.protectionAt(peer.address, security),
        port: way.port,
        helloName: config.hostname,
        clock,
        connector,
        signal: cutting.signal,
        isPressed: () => pool.isPressed,
        ...(options.timeouts && { timeouts: options.timeouts }),
      }),
  };

  return {
    async deliver(job) {
      const way = await findWay(job.route, sources);
      if ('lane' in way) return new Attempt(job, way, means).run();
      const record = new AttemptRecord(job.recipients.length, false, clock);
      record.addVerdict(null, way);
      return record.finish();
    },
    get connections() {
      return pool.connections;
    },
    async close(graceMs = 0) {
      const cut = () => {
        cutting.abort();
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
