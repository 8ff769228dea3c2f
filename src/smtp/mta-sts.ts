// MTA-STS (RFC 8461): which policy of a recipient domain is in force. Keeps policies until they run
// out, in memory and over restarts (src/queue/carrier/kept-policies.ts). What a policy means for a host is way.ts. The doorway to mailauth's reading of records and files.
import type { MTASTSPolicy } from 'mailauth';
import { messageOf } from '../errors.ts';
import type { Connector } from '../net/dial.ts';
import { type Dns, DnsError } from '../net/dns.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { recentlyUsed, recentlyUsedBytes } from '../runtime/recently-used.ts';
import type { KeptPolicies, KeptPolicy } from './mta-sts-fetch.ts';
import { fetchPolicyText } from './mta-sts-fetch.ts';

export interface StsPolicy {
  id: string;
  mode: 'enforce' | 'testing' | 'none';
  /** Whether the policy lists the host. */
  covers(host: string): boolean;
}

export interface MtaSts {
  /**
   * The policy in force for a recipient domain (A-labels, lower case); null where there is none, or
   * none can be had and none was had before. Never rejects; waits for a fetch of 60 s at most.
   */
  policyOf(domain: string, allowPrivateAddresses: boolean): Promise<StsPolicy | null>;
  /** Ends every fetch under way. */
  close(): void;
}

export interface MtaStsOptions {
  dns: Dns;
  random: Random;
  clock: Clock;
  connector: Connector;
  /** Told of policies that are had, and of those that cannot be had. */
  log?: StsLog | undefined;
  /** Without: a restart forgets them. */
  policies?: KeptPolicies | undefined;
}

/** The part of the Logger that is used. */
export interface StsLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

interface Entry {
  policy: StsPolicy;
  fetchedAt: number;
  expiresAt: number;
  /** Of the text that it was read from. */
  characters: number;
}

/** Domains with a policy; beyond, those not used for longest are fetched again. */
const maxPolicies = 10_000;
const maxPolicyBytes = 32 * 1024 * 1024;
const maxFailures = 10_000;
const maxWithoutPolicy = 10_000;
const maxLines = 1_000;
/** A shorter `max_age` would have us fetch for every message. */
const shortestAgeMs = 5 * 60_000;
/** `max_age` at most (RFC 8461 3.2): a year. */
const longestAgeMs = 31_557_600_000;
/** A policy in use is fetched anew at half its age, or daily: who blocks that must do so for long. */
const refreshMs = 24 * 3_600_000;
/** How long a failed look-up or fetch is not tried again (RFC 8461 3.3). */
const retryMs = 5 * 60_000;

/*
 * of a domain    | TXT record says              | policy in force
 * ---------------+------------------------------+------------------------------------------------
 * nothing kept   | no id, or no answer          | none
 * nothing kept   | an id                        | what is fetched now; none if that fails
 * kept           | its id                       | the kept one; past half its age also fetched anew
 * kept           | another id                   | what is fetched now; the kept one if that fails
 * kept           | no id, or no answer          | the kept one, until `max_age` has passed
 */
export function createMtaSts(options: MtaStsOptions): MtaSts {
  const { dns, clock } = options;
  const failures = new RecentFailures(clock);
  const kept = new KnownPolicies(options.policies);
  const fetches = new PolicyFetches(options, kept, failures);
  return {
    async policyOf(domain, allowPrivateAddresses) {
      const id = await findId(dns, domain, failures);
      const entry = await kept.find(domain);
      const inForce = entry && entry.expiresAt > clock.now() ? entry : null;
      if (id === null) return inForce?.policy ?? null;
      if (inForce?.policy.id !== id) {
        return (await fetches.once(domain, id, allowPrivateAddresses)) ?? inForce?.policy ?? null;
      }
      if (isAged(inForce, clock.now())) void fetches.once(domain, id, allowPrivateAddresses);
      return inForce.policy;
    },
    close: () => fetches.close(),
  };
}

function isAged({ fetchedAt, expiresAt }: Entry, now: number): boolean {
  const refreshAt = fetchedAt + Math.min(refreshMs, (expiresAt - fetchedAt) / 2);
  // Fetched in the future: the clock was set back, and nobody knows how old it really is.
  return now >= refreshAt || now < fetchedAt;
}

async function findId(dns: Dns, domain: string, failures: RecentFailures): Promise<string | null> {
  if (failures.has(domain)) return null;
  try {
    return await readId(dns, domain);
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    failures.add(domain);
    return null;
  }
}

/**
 * What failed lately and is not tried again: the look-up of a domain (`domain`), or the fetch of one of
 * its policies (`domain id`). By `clock.elapsed()`, so that a clock set back takes no protection away.
 */
class RecentFailures {
  readonly #clock: Clock;
  readonly #until = recentlyUsed<number>(maxFailures);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    return (this.#until.get(key) ?? 0) > this.#clock.elapsed();
  }

  add(key: string): void {
    this.#until.set(key, this.#clock.elapsed() + retryMs);
  }
}

/*
 * The policies that this process knows, whether in force or not; the store has them over restarts.
 *
 * a domain is | by                                              | then
 * ------------+-------------------------------------------------+----------------------------------
 * new         | asked for, and nothing is kept over restarts    | new
 * new         | asked for                                       | looked for in the store, once
 * looked for  | the store has a policy that can be read         | known
 * looked for  | the store has none, or cannot be read           | without
 * any         | its policy was fetched                          | known, and kept in the store
 * known       | 10,000 others, or 32 MB of them, were used since | new
 * without     | 10,000 others were looked for since             | new
 */
class KnownPolicies {
  readonly #store: KeptPolicies | undefined;
  readonly #known = recentlyUsedBytes(
    maxPolicies,
    maxPolicyBytes,
    ({ characters }: Entry, domain) => characters + domain.length,
  );
  readonly #without = recentlyUsed<true>(maxWithoutPolicy);
  readonly #looking = new Map<string, Promise<Entry | undefined>>();

  constructor(store: KeptPolicies | undefined) {
    this.#store = store;
  }

  find(domain: string): Entry | Promise<Entry | undefined> | undefined {
    const entry = this.#known.get(domain);
    if (entry || !this.#store || this.#without.get(domain)) return entry;
    const search =
      this.#looking.get(domain) ??
      this.#look(this.#store, domain).finally(() => this.#looking.delete(domain));
    this.#looking.set(domain, search);
    return search;
  }

  /** The id of the policy that is known, without counting as a use. */
  idOf(domain: string): string | undefined {
    return this.#known.peek(domain)?.policy.id;
  }

  /** Never rejects: what the store cannot keep is known until a restart. */
  async keep(domain: string, entry: Entry, text: string): Promise<void> {
    this.#known.set(domain, entry);
    this.#without.delete(domain);
    // Text and numbers alone: the store may be another thread's, to which no function goes.
    const { policy, fetchedAt, expiresAt } = entry;
    await this.#store?.keep(domain, { id: policy.id, text, fetchedAt, expiresAt });
  }

  async #look(store: KeptPolicies, domain: string): Promise<Entry | undefined> {
    const row = await store.find(domain);
    const entry = row ? await entryOf(row) : null;
    if (row && entry) this.#known.set(domain, entry);
    else this.#without.set(domain, true);
    return entry ?? undefined;
  }
}

/** Policies on their way from their hosts: each once at a time, and not soon after it failed. */
class PolicyFetches {
  readonly #options: MtaStsOptions;
  readonly #kept: KnownPolicies;
  readonly #failures: RecentFailures;
  readonly #underWay = new Map<string, Promise<StsPolicy | null>>();
  readonly #stopped = new AbortController();

  constructor(options: MtaStsOptions, kept: KnownPolicies, failures: RecentFailures) {
    this.#options = options;
    this.#kept = kept;
    this.#failures = failures;
  }

  /** Fetches the policy and keeps it; null where it cannot be had. Never rejects. */
  once(domain: string, id: string, allowPrivateAddresses: boolean): Promise<StsPolicy | null> {
    const key = `${domain} ${id}`;
    if (this.#failures.has(key)) return Promise.resolve(null);
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    const fetching = this.#fetch(domain, id, allowPrivateAddresses).finally(() =>
      this.#underWay.delete(key),
    );
    this.#underWay.set(key, fetching);
    return fetching;
  }

  close(): void {
    this.#stopped.abort();
  }

  async #fetch(domain: string, id: string, allowPrivateAddresses: boolean) {
    const { clock, log } = this.#options;
    const { signal } = this.#stopped;
    try {
      const fetched = { ...this.#options, allowPrivateAddresses, signal };
      const text = await fetchPolicyText(domain, fetched);
      const { policy, maxAgeMs } = await readPolicy(id, text);
      const now = clock.now();
      const isNew = this.#kept.idOf(domain) !== id;
      const entry = {
        policy,
        fetchedAt: now,
        expiresAt: now + maxAgeMs,
        characters: text.length,
      };
      await this.#kept.keep(domain, entry, text);
      if (isNew) log?.info({ domain, id, mode: policy.mode }, 'MTA-STS: a policy is in force');
      return policy;
    } catch (error) {
      this.#failures.add(`${domain} ${id}`);
      const why = messageOf(error);
      if (!signal.aborted) log?.warn({ domain, id, why }, 'MTA-STS: a policy cannot be had');
      return null;
    }
  }
}

/** Loaded where a domain has a record: 60 ms and a schema library that most never need. */
const reader = () => import('mailauth/lib/mta-sts.js');

/** The id of the one valid record; null where there is none. @throws DnsError */
async function readId(dns: Dns, domain: string): Promise<string | null> {
  const records = await findRecords(dns, `_mta-sts.${domain}`);
  if (!records.some((record) => record.startsWith('v=STSv1'))) return null;
  const { resolvePolicy } = await reader();
  // More than one record is as good as none (RFC 8461 3.1); nothing else can be thrown here.
  const resolver = async () => records.map((record) => [record]);
  const id = await resolvePolicy(domain, { strict: true, resolver }).catch(() => false);
  return typeof id === 'string' ? id : null;
}

async function findRecords(dns: Dns, name: string): Promise<readonly string[]> {
  try {
    return await dns.txt(name);
  } catch (error) {
    if (error instanceof DnsError && !error.temporary) return [];
    throw error;
  }
}

/** A policy that an earlier process fetched; null where this version cannot read it. */
async function entryOf({ id, text, fetchedAt, expiresAt }: KeptPolicy): Promise<Entry | null> {
  const read = await readPolicy(id, text).catch(() => null);
  return read && { policy: read.policy, fetchedAt, expiresAt, characters: text.length };
}

async function readPolicy(id: string, text: string) {
  // Each `mx` is compared with all before it when it is read.
  if (text.split('\n', maxLines + 1).length > maxLines) throw new Error('the policy is too long');
  const { parsePolicy, validateMx } = await reader();
  const parsed: MTASTSPolicy & { maxAge?: number } = parsePolicy(text, { strict: true });
  const ageMs = (parsed.maxAge ?? 0) * 1000;
  const policy: StsPolicy = {
    id,
    mode: parsed.mode,
    covers: (host) => validateMx(host, parsed).valid,
  };
  return { policy, maxAgeMs: Math.min(Math.max(ageMs, shortestAgeMs), longestAgeMs) };
}
