// One attempt to deliver a message under way: over the hosts of its way in order (RFC 5321 5.1), each by a
// session of the pool, until every recipient has an answer. What each host said is attempt-record.ts.
import type { Clock } from '../runtime/clock.ts';
import { AttemptRecord } from './attempt-record.ts';
import type { Opening } from './open.ts';
import { type Outcome, SmtpFault } from './outcome.ts';
import { closingFault, type SmtpPool } from './pool.ts';
import type { Lease, Peer } from './pool-request.ts';
import type { NetworkRoute } from './route.ts';
import type { SlowAddresses } from './slow-addresses.ts';
import type { RecipientAnswer, SmtpMail } from './transaction.ts';
import type { HostSecurity, Way } from './way.ts';

/** One message for recipients that share a route; in direct mode, those of one domain. */
export interface TransportJob extends SmtpMail {
  route: NetworkRoute;
  /** Whose mail it is. */
  organizationId: string;
}

/** What all attempts of a transport share. */
export interface AttemptMeans {
  clock: Clock;
  pool: SmtpPool;
  slowAddresses: SlowAddresses;
  openAt(way: Way, peer: Peer, security: HostSecurity): Promise<Opening>;
  /** Aborted at the shutdown: no further host or address is tried. */
  shutdown: AbortSignal;
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

/*
 * what came of a host                         | then
 * --------------------------------------------+---------------------------------------------------------
 * it must not be used, or gives no session    | the next host
 * an idle session of the pool was dead        | the same host, once in an attempt, on a new connection
 * the connection was lost before the dot      | the next host; where it is the only one, the same host,
 *                                             | once in an attempt, on a new connection
 * answers                                     | the next host for those without one; none: the end
 *
 * After 120 s, 20 addresses or the shutdown no further host is tried: who has no answer is deferred.
 */
export class Attempt {
  readonly #job: TransportJob;
  readonly #way: Way;
  readonly #means: AttemptMeans;
  readonly #record: AttemptRecord;
  #addressesLeft = maxAddresses;
  /** A connection was lost before the message can have been taken. */
  #isLost = false;
  /** A host was turned to a second time: once is enough. */
  #isRepeated = false;

  constructor(job: TransportJob, way: Way, means: AttemptMeans) {
    this.#job = job;
    this.#way = way;
    this.#means = means;
    this.#record = new AttemptRecord(job.recipients.length, way.isRelay, means.clock);
  }

  /** One outcome per recipient, in the order of `job.recipients`. */
  async run(): Promise<Outcome[]> {
    const { hosts } = this.#way;
    const record = this.#record;
    for (const index of hosts.keys()) {
      if (record.pending.length === 0 || this.#addressesLeft <= 0) break;
      if (index > 0 && this.#isOver()) break;
      await this.#tryHost(index, false);
    }
    // Where there are several hosts, the next one was that other connection.
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
    const wasAlive = await this.#deliverOver(lease);
    if (wasAlive) return;
    this.#isRepeated = true;
    return this.#tryHost(index, true);
  }

  /** Where connections to the host are counted: with all that lead to the same slow address, or its own. */
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

  /** The first address of the host that lets us in, or how the last one did not. */
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

  /** False where nothing was said, because the server had closed the idle session. */
  async #deliverOver({ session, peer, isReused, lendOn, release }: Lease): Promise<boolean> {
    const record = this.#record;
    record.begin();
    const begunAt = this.#means.clock.elapsed();
    const { answers, tls, transcript } = await this.#deliverAndRelease(session, lendOn, release);
    this.#learn(
      peer,
      begunAt,
      answers.some(({ kind }) => kind === 'replied'),
    );
    if (isReused && isStale(answers)) return false;
    if (isLostBeforeDot(answers)) this.#isLost = true;
    record.addAnswers(answers, peer, tls, transcript.text);
    return true;
  }

  /** The connection goes back to the pool whatever happens: one that is kept is a place less for all. */
  async #deliverAndRelease(
    session: Lease['session'],
    lendOn: Lease['lendOn'],
    release: Lease['release'],
  ) {
    try {
      const mail = mailFor(this.#job, this.#way, this.#record.pending);
      const answering = session.deliver(mail, lendOn);
      const { tls, transcript } = session;
      return { answers: await answering, tls, transcript };
    } finally {
      release();
    }
  }

  /** A relay is the operator's: it may be as slow as it likes. */
  #learn({ address }: Peer, begunAt: number, isAnswered: boolean): void {
    if (!this.#way.isRelay) this.#means.slowAddresses.learn(address, begunAt, isAnswered);
  }
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

function mailFor(job: TransportJob, way: Way, pending: readonly number[]): SmtpMail {
  if (pending.length === job.recipients.length && !way.requireTls) return job;
  const recipients = pending.map((index) => job.recipients[index] ?? '');
  return { ...job, recipients, requireTls: way.requireTls };
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

/** Who waits for a slow address longer than is good for others is better tried again later. */
function slowFault(host: string): SmtpFault {
  const text = `${host} keeps us waiting, and all connections that it gets are in use`;
  return SmtpFault.of('connection', 'connect', text, '4.4.1');
}
