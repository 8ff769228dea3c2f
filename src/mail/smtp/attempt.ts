// A delivery attempt in progress: tries the hosts that way.ts found in order (RFC 5321 5.1), each
// over a session of the pool, until every recipient has an answer. attempt-record.ts keeps the
// replies of each host.
import { createHash } from 'node:crypto';
import type { Clock } from '../../platform/runtime/clock.ts';
import { AttemptRecord } from './attempt-record.ts';
import { type Outcome, SmtpFault, type TlsPolicy } from './outcome.ts';
import type { SmtpPool } from './pool.ts';
import type { Lease, Peer } from './pool-request.ts';
import { closingFault } from './pool-request.ts';
import type { NetworkRoute } from './route.ts';
import type { Opening } from './session/open.ts';
import type { RecipientAnswer, SmtpMail } from './session/transaction.ts';
import type { SlowAddresses } from './slow-addresses.ts';
import type { HostSecurity, Way } from './way.ts';

/** A message for recipients that share a route; in direct mode, the recipients of a domain. */
export interface TransportJob extends SmtpMail {
  /** Encodes the message for a server without 8BITMIME; null if that is impossible. */
  sevenBit?: () => Promise<Pick<SmtpMail, 'data' | 'smtpUtf8' | 'eightBit'> | null>;
  route: NetworkRoute;
  /** The organization that sends the message. */
  organizationId: string;
}

/** Dependencies shared by all attempts of a transport. */
export interface AttemptMeans {
  clock: Clock;
  pool: SmtpPool;
  slowAddresses: SlowAddresses;
  openAt(way: Way, peer: Peer, security: HostSecurity): Promise<Opening>;
  /** Aborted at shutdown: no further host or address is tried then. */
  shutdown: AbortSignal;
}

/**
 * Time from the first host after which no further host or address is tried. A host that is being
 * tried keeps the usual limits. Enough for four hosts that do not accept a connection, or for two
 * hosts that accept and stay silent.
 */
const tryHostsMs = 120_000;
/**
 * Limits for a slow address. A delivery that waits longer than `longestSlowWaitMs` for the address
 * is deferred.
 */
const slowAddressLimits = { connections: 2, messagesPerConnection: 100 };
const longestSlowWaitMs = 30_000;
const maxAddresses = 20;

/*
 * result at a host                             | next step
 * ---------------------------------------------+---------------------------------------------------------
 * it must not be used, or gives no session     | the next host
 * an idle session of the pool was dead         | the same host, once, on a new connection
 * the connection was lost before the dot       | the next host; with a single host, that host again,
 *                                              | once per attempt, on a new connection
 * answers                                      | the next host for recipients without an answer; if all
 *                                              | have an answer, the end
 *
 * After 120 s, 20 addresses or the shutdown no further host is tried: recipients without an answer
 * are deferred.
 */
export class Attempt {
  readonly #job: TransportJob;
  readonly #way: Way;
  readonly #means: AttemptMeans;
  readonly #record: AttemptRecord;
  #addressesLeft = maxAddresses;
  /** True if a connection was lost before the server can have accepted the message. */
  #isLost = false;
  /** True once a host was tried a second time. A host is never tried a third time. */
  #isRepeated = false;

  constructor(job: TransportJob, way: Way, means: AttemptMeans) {
    this.#job = job;
    this.#way = way;
    this.#means = means;
    this.#record = new AttemptRecord(job.recipients.length, way.isRelay, means.clock);
  }

  /** Returns an outcome per recipient, in the order of `job.recipients`. */
  async run(): Promise<Outcome[]> {
    const { hosts } = this.#way;
    const record = this.#record;
    for (const index of hosts.keys()) {
      if (record.pending.length === 0 || this.#addressesLeft <= 0) break;
      if (index > 0 && this.#isOver()) break;
      await this.#tryHost(index, false);
    }
    // If there are several hosts, the next host was already the second attempt.
    const isOnlyHost = hosts.length === 1 && record.pending.length > 0;
    const mayRepeat = this.#isLost && !this.#isRepeated && !this.#means.shutdown.aborted;
    if (isOnlyHost && mayRepeat) await this.#tryHost(0, true);
    return record.finish();
  }

  #isOver(): boolean {
    return this.#record.tookMs > tryHostsMs || this.#means.shutdown.aborted;
  }

  async #tryHost(index: number, isFresh: boolean): Promise<void> {
    const record = this.#record;
    const host = this.#way.hosts[index]?.name ?? '';
    const demanded = await this.#way.securityOf(host);
    if (demanded.verdict) return record.addVerdict(host, demanded.verdict);
    const { security } = demanded;
    if (!isFresh) record.addNotes(security.notes);
    const lease = await this.#means.pool.acquire({
      ...(await this.#placesAt(host)),
      organizationId: this.#job.organizationId,
      keys: await keysOf(this.#way, index, security),
      isFresh,
      open: () => this.#openHost(host, security),
    });
    if (lease === null) return record.addFault(null, closingFault(), '');
    if ('isLate' in lease) return record.addFault(null, slowFault(host), '');
    if ('verdict' in lease) return record.addVerdict(host, lease.verdict);
    if ('opening' in lease) {
      const { fault, transcript } = lease.opening;
      if (fault.isLoss) this.#isLost = true;
      return record.addFault(lease.peer, fault, transcript);
    }
    const wasAlive = await this.#deliverOver(lease, security.policy);
    if (wasAlive) return;
    this.#isRepeated = true;
    return this.#tryHost(index, true);
  }

  /**
   * Returns the destination by which the pool counts the connection, with the limits: the lane of
   * the way, or a destination for all hosts behind the same slow address.
   */
  async #placesAt(host: string) {
    const way = this.#way;
    const { slowAddresses } = this.#means;
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

  /**
   * Returns a session with the first address of the host that accepts, or the failure at the last
   * tried address. Returns a verdict if the addresses cannot be found.
   */
  async #openHost(host: string, security: HostSecurity) {
    this.#record.begin();
    const found = await this.#way.addressesOf(host);
    if (found.verdict) return found;
    const [first, ...others] = found.addresses;
    let tried = await this.#openAddress({ host, address: first }, security);
    for (const address of others) {
      const { opening, peer } = tried;
      if (opening.session || opening.fault.kind === 'auth') break;
      if (this.#addressesLeft <= 0 || this.#isOver()) break;
      this.#record.addFault(peer, opening.fault, opening.transcript);
      tried = await this.#openAddress({ host, address }, security);
    }
    return tried;
  }

  async #openAddress(peer: Peer, security: HostSecurity) {
    this.#addressesLeft -= 1;
    const begunAt = this.#means.clock.elapsed();
    const opening = await this.#means.openAt(this.#way, peer, security);
    if (!opening.session) this.#learn(peer, begunAt, false);
    return { opening, peer };
  }

  /**
   * Delivers over a session and records the answers. Returns false, without a record, if nothing
   * was sent because the server had closed the idle session.
   */
  async #deliverOver(
    { session, peer, isReused, lendOn, release }: Lease,
    policy: TlsPolicy | null,
  ): Promise<boolean> {
    const record = this.#record;
    record.begin();
    const begunAt = this.#means.clock.elapsed();
    const { mail, answers, tls, transcript } = await this.#deliverAndRelease(
      session,
      lendOn,
      release,
    );
    this.#learn(
      peer,
      begunAt,
      answers.some(({ kind }) => kind === 'replied'),
    );
    if (isReused && isStale(answers)) return false;
    if (isLostBeforeDot(answers)) this.#isLost = true;
    record.addAnswers(answers, peer, tls, transcript.text, () => ({
      digest: digestOf(mail),
      isSevenBit: mail.data !== this.#job.data,
      returnPath: this.#job.from,
      certificates: session.certificates,
      policy,
    }));
    return true;
  }

  /**
   * Returns the mail for recipients without an answer, encoded in 7 bits if a server without
   * 8BITMIME needs it. If that is impossible, sets `needsEightBit`.
   */
  async #mailFor({ capabilities }: Lease['session']): Promise<SmtpMail> {
    const mail = mailFor(this.#job, this.#way, this.#record.pending);
    const { sevenBit } = this.#job;
    if (!mail.eightBit || capabilities.eightBitMime || !sevenBit) return mail;
    const encoded = await sevenBit();
    return encoded ? { ...mail, ...encoded } : { ...mail, needsEightBit: true };
  }

  /**
   * Releases the connection even after an error: otherwise the pool would count it forever.
   */
  async #deliverAndRelease(
    session: Lease['session'],
    lendOn: Lease['lendOn'],
    release: Lease['release'],
  ) {
    try {
      const mail = await this.#mailFor(session);
      const answering = session.deliver(mail, lendOn);
      const { tls, transcript } = session;
      return { mail, answers: await answering, tls, transcript };
    } finally {
      release();
    }
  }

  /**
   * Records how fast an address answers. Skips relays: the operator chose the relay and accepts its
   * speed.
   */
  #learn({ address }: Peer, begunAt: number, isAnswered: boolean): void {
    if (!this.#way.isRelay) this.#means.slowAddresses.learn(address, begunAt, isAnswered);
  }
}

/**
 * Returns the keys of sessions that can serve the host at `index`. For the first host these include
 * sessions with hosts of equal preference that were opened under the present TLS demands.
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

function digestOf({ data }: SmtpMail): string {
  const sum = createHash('sha256');
  for (const part of data) sum.update(part);
  return sum.digest('hex');
}

function mailFor(job: TransportJob, way: Way, pending: readonly number[]): SmtpMail {
  if (pending.length === job.recipients.length && !way.requireTls) return job;
  const recipients = pending.map((index) => job.recipients[index] ?? '');
  return { ...job, recipients, requireTls: way.requireTls };
}

/**
 * Returns true if the server had closed or forgotten the idle session, and so received nothing of
 * this message.
 */
function isStale(answers: readonly RecipientAnswer[]): boolean {
  return answers.every(({ kind, reply }) => {
    return kind === 'fault' && (reply.verb === 'MAIL' || reply.verb === 'RSET');
  });
}

/**
 * Returns true if the connection was lost before the final dot: no server can have accepted the
 * message, and a new connection may work.
 */
function isLostBeforeDot(answers: readonly RecipientAnswer[]): boolean {
  return answers.some((one) => one.kind === 'fault' && one.isLoss && one.reply.verb !== 'dot');
}

/**
 * Returns the fault after a long wait for a slow address. A later retry is better than a wait that
 * blocks further deliveries.
 */
function slowFault(host: string): SmtpFault {
  const text = `${host} keeps us waiting, and all connections that it gets are in use`;
  return SmtpFault.of('connection', 'connect', text, '4.4.1');
}
