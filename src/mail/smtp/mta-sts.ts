// MTA-STS (RFC 8461): the policy in force for a recipient domain. Keeps policies until they expire,
// in memory and in the store (src/outbound/queue/carrier/kept-policies.ts). way.ts applies them to
// hosts. Only this file imports mailauth's reader of MTA-STS.
import type { MTASTSPolicy } from 'mailauth';
import { messageOf } from '../../platform/errors.ts';
import type { Connector } from '../../platform/net/dial.ts';
import { type Dns, DnsError } from '../../platform/net/dns.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { recentlyUsed, recentlyUsedBytes } from '../../platform/runtime/recently-used.ts';
import type { KeptPolicies, KeptPolicy } from './mta-sts-fetch.ts';
import { fetchPolicyText } from './mta-sts-fetch.ts';

export interface StsPolicy {
  id: string;
  mode: 'enforce' | 'testing' | 'none';
  /** Returns true if the policy lists the host. */
  covers(host: string): boolean;
}

export interface MtaSts {
  /**
   * Returns the policy in force for a recipient domain (A-labels, lower case). Returns null if the
   * domain has no policy, or if it can be neither fetched nor found in the store. Never rejects;
   * waits at most 60 s for a fetch.
   */
  policyOf(domain: string, allowPrivateAddresses: boolean): Promise<StsPolicy | null>;
  /** Aborts every running fetch. */
  close(): void;
}

export interface MtaStsOptions {
  dns: Dns;
  clock: Clock;
  connector: Connector;
  /** Log of fetched policies and failed fetches. */
  log?: StsLog | undefined;
  /** Store of policies; without it a restart forgets them. */
  policies?: KeptPolicies | undefined;
}

/** Functions of the logger that this module uses. */
export interface StsLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

interface Entry {
  policy: StsPolicy;
  fetchedAt: number;
  expiresAt: number;
  /** Length of the policy text, in characters. */
  characters: number;
}

/** Most domains with a policy in memory; beyond, the least recently used are dropped. */
const maxPolicies = 10_000;
const maxPolicyBytes = 32 * 1024 * 1024;
const maxFailures = 10_000;
const maxWithoutPolicy = 10_000;
const maxLines = 1_000;
/** Lower bound of `max_age`: a shorter age would cause a fetch for every message. */
const shortestAgeMs = 5 * 60_000;
/** Upper bound of `max_age` (RFC 8461 3.2): a year. */
const longestAgeMs = 31_557_600_000;
/**
 * Age at which a policy in use is fetched again (or at half of `max_age`, if earlier). So an
 * attacker must block fetches for the whole remaining time to let a policy expire.
 */
const refreshMs = 24 * 3_600_000;
/** Time before a failed look-up or fetch is tried again (RFC 8461 3.3). */
const retryMs = 5 * 60_000;

/*
 * kept for domain | TXT record                   | policy in force
 * ----------------+------------------------------+----------------------------------------------
 * nothing         | no id, or no answer          | none
 * nothing         | an id                        | the fetched policy; none if the fetch fails
 * a policy        | the same id                  | the kept policy; past half of `max_age` also refetched
 * a policy        | a new id                     | the fetched policy; the kept policy if the fetch fails
 * a policy        | no id, or no answer          | the kept policy, until `max_age` has passed
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
  // If the time of the fetch is in the future, the clock was set back and the age is unknown, so
  // the policy is fetched again.
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
 * Recent failures, which are not retried yet: the look-up of a domain (key `domain`), or the fetch
 * of a policy of the domain (key `domain id`). Uses the steady clock, so that a clock that is set
 * back cannot extend the time without protection.
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
 * The policies that this process knows, in force or expired; the store keeps them over restarts.
 *
 * state of a domain | event                                            | next state
 * ------------------+--------------------------------------------------+-------------------------------
 * new               | queried, and no store is configured              | new
 * new               | queried                                          | looked for in the store, once
 * looked for        | the store returns a readable policy              | known
 * looked for        | the store returns no readable policy             | without
 * any               | the policy was fetched                           | known, and kept in the store
 * known             | 10,000 more, or 32 MB of them, were used since   | new
 * without           | 10,000 more were looked for since                | new
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

  /** Returns the id of a domain's policy in memory, without counting as a use. */
  idOf(domain: string): string | undefined {
    return this.#known.peek(domain)?.policy.id;
  }

  /**
   * Stores a fetched policy. Never rejects: if the store fails, the policy lasts until a restart.
   */
  async keep(domain: string, entry: Entry, text: string): Promise<void> {
    this.#known.set(domain, entry);
    this.#without.delete(domain);
    // Passes only text and numbers, because the store may be in a different thread, which cannot
    // receive functions.
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

/** Running fetches of policies: at most one for each policy, and none soon after a failure. */
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

  /** Fetches and stores the policy; null if the fetch fails or failed recently. Never rejects. */
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
    const { clock, connector, dns, log } = this.#options;
    const { signal } = this.#stopped;
    try {
      const fetching = { dns, clock, connect: connector, allowPrivateAddresses, signal };
      const text = await fetchPolicyText(domain, fetching);
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
      if (!signal.aborted) log?.warn({ domain, id, why }, 'MTA-STS: a policy cannot be fetched');
      return null;
    }
  }
}

/**
 * Imports the reader once a domain has a record: it costs 60 ms and a schema library that most
 * processes never need.
 */
const reader = () => import('mailauth/lib/mta-sts.js');

/**
 * Returns the id of the MTA-STS record; null if the domain has no valid record, or several records.
 * @throws DnsError if the look-up fails for now
 */
async function readId(dns: Dns, domain: string): Promise<string | null> {
  const records = await findRecords(dns, `_mta-sts.${domain}`);
  if (!records.some((record) => record.startsWith('v=STSv1'))) return null;
  const { resolvePolicy } = await reader();
  // Several records count as none (RFC 8461 3.1). No further error can occur here.
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

/** Reads a stored policy of an earlier process; returns null if this version cannot read it. */
async function entryOf({ id, text, fetchedAt, expiresAt }: KeptPolicy): Promise<Entry | null> {
  const read = await readPolicy(id, text).catch(() => null);
  return read && { policy: read.policy, fetchedAt, expiresAt, characters: text.length };
}

async function readPolicy(id: string, text: string) {
  // The reader compares each `mx` with all previous lines, so their number is limited.
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
