// Sends a message to the responsible server and returns the outcome of each recipient. Tries hosts
// in order over pooled sessions (RFC 5321 5.1). The queue schedules retries.
import { connect } from 'node:net';
import type { Connector } from '../../platform/net/dial.ts';
import type { Dns } from '../../platform/net/dns.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Random } from '../../platform/runtime/random.ts';
import { Attempt, type AttemptMeans, type TransportJob } from './attempt.ts';
import { AttemptRecord } from './attempt-record.ts';
import { createMtaSts, type StsLog } from './mta-sts.ts';
import type { KeptPolicies } from './mta-sts-fetch.ts';
import type { Outcome } from './outcome.ts';
import { SmtpPool } from './pool.ts';
import { openSession } from './session/open.ts';
import type { SmtpTimeouts } from './session/timeouts.ts';
import { SlowAddresses } from './slow-addresses.ts';
import { findWay, type LaneRules } from './way.ts';

/** Part of `config.delivery` that the transport needs. */
export interface TransportConfig {
  /** Our name in EHLO. */
  hostname: string;
  maxConnections: number;
  maxConnectionsPerDomain: number;
}

/** Parts of the App that the transport uses, and the settings of the transport. */
export interface TransportOptions {
  dns: Dns;
  clock: Clock;
  random: Random;
  /** Opens sockets; default net.connect. */
  connect: Connector | undefined;
  config: { delivery: TransportConfig };
  timeouts?: Partial<SmtpTimeouts>;
  /** Logger for MTA-STS policies. */
  log?: StsLog;
  /** Store that keeps MTA-STS policies over restarts. */
  policies?: KeptPolicies;
  /**
   * Rules of lanes. By default each set of mail hosts is a lane with `maxConnectionsPerDomain`
   * connections.
   */
  lanes?: LaneRules;
}

export interface Transport {
  /**
   * Returns an outcome per recipient, in the order of `job.recipients`. Never rejects because of
   * the network.
   */
  deliver(job: TransportJob): Promise<Outcome[]>;
  /** Number of open connections, including idle connections. */
  readonly connections: number;
  /**
   * Sets the most connections of each lane in use to `connectionsOf(lane)`. Undefined leaves the
   * limit as it is.
   */
  changeLimits(connectionsOf: (lane: string) => number | undefined): void;
  /** Returns the open connections above the limit, by lane. Leaves out lanes within the limit. */
  surplus(): Record<string, number>;
  /** Refuses new jobs. Running jobs may finish for `graceMs` (default 0), then they are aborted. */
  close(graceMs?: number): Promise<void>;
}

const messagesPerConnection = 100;

/*
 * open → closing (close): waiting and new attempts get a fault, running attempts continue
 * closing → cut (after `graceMs`): sessions end with a fault, policy fetches are aborted
 */
/** Creates a transport with a new pool of sessions. */
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
    changeLimits: (connectionsOf) => pool.changeLimits(connectionsOf),
    surplus: () => pool.surplus(),
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
