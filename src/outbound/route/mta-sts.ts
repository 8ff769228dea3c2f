// MTA-STS (RFC 8461): which policy of a recipient domain is in force. Keeps policies until they run
// out, in memory and over restarts (kept-policies.ts). What a policy means for a host is tls-policy.ts. The doorway to mailauth's reading of records and files.
import { LRUCache } from 'lru-cache';
import type { MTASTSPolicy } from 'mailauth';
import type { Connector } from '../../app.ts';
import type { Clock } from '../../clock.ts';
import { type Dns, DnsError } from '../../dns.ts';
import type { Random } from '../../random.ts';
import type { KeptPolicies, KeptPolicy } from './kept-policies.ts';
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
  const { dns, clock, log, policies } = options;
  const kept = new LRUCache<string, Entry>({ max: maxPolicies, maxSize: maxPolicyBytes });
  /** Domains of which nothing is kept, as far as they were looked for. */
  const unknown = new LRUCache<string, true>({ max: maxWithoutPolicy });
  const looking = new Map<string, Promise<Entry | undefined>>();
  /**
   * Until when a domain is not asked (`domain`), or one of its policies is not fetched (`domain id`);
   * by `clock.elapsed()`, so that a clock set back takes no protection away.
   */
  const failedUntil = new LRUCache<string, number>({ max: maxFailures });
  const underWay = new Map<string, Promise<StsPolicy | null>>();
  const stopped = new AbortController();

  const hasFailed = (key: string) => (failedUntil.get(key) ?? 0) > clock.elapsed();

  async function findId(domain: string): Promise<string | null> {
    if (hasFailed(domain)) return null;
    try {
      return await readId(dns, domain);
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      failedUntil.set(domain, clock.elapsed() + retryMs);
      return null;
    }
  }

  async function fetchNow(domain: string, id: string, allowPrivateAddresses: boolean) {
    try {
      const fetched = { ...options, allowPrivateAddresses, signal: stopped.signal };
      const text = await fetchPolicyText(domain, fetched);
      const { policy, maxAgeMs } = await readPolicy(id, text);
      const now = clock.now();
      const isNew = kept.peek(domain)?.policy.id !== id;
      const entry = { policy, fetchedAt: now, expiresAt: now + maxAgeMs };
      kept.set(domain, entry, { size: text.length + domain.length });
      unknown.delete(domain);
      await policies?.keep(domain, { ...entry, id, text });
      if (isNew) log?.info({ domain, id, mode: policy.mode }, 'MTA-STS: a policy is in force');
      return policy;
    } catch (error) {
      failedUntil.set(`${domain} ${id}`, clock.elapsed() + retryMs);
      const why = error instanceof Error ? error.message : String(error);
      if (!stopped.signal.aborted)
        log?.warn({ domain, id, why }, 'MTA-STS: a policy cannot be had');
      return null;
    }
  }

  function fetchOnce(domain: string, id: string, allowPrivate: boolean): Promise<StsPolicy | null> {
    const key = `${domain} ${id}`;
    if (hasFailed(key)) return Promise.resolve(null);
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const fetching = fetchNow(domain, id, allowPrivate).finally(() => underWay.delete(key));
    underWay.set(key, fetching);
    return fetching;
  }

  /** What an earlier process kept, and what of this one is no longer in memory. */
  async function findKept(domain: string): Promise<Entry | undefined> {
    const row = await policies?.find(domain);
    const entry = row ? await entryOf(row) : null;
    if (row && entry) kept.set(domain, entry, { size: row.text.length + domain.length });
    else unknown.set(domain, true);
    return entry ?? undefined;
  }

  function keptOf(domain: string): Entry | Promise<Entry | undefined> | undefined {
    const entry = kept.get(domain);
    if (entry || !policies || unknown.get(domain)) return entry;
    const search = looking.get(domain) ?? findKept(domain).finally(() => looking.delete(domain));
    looking.set(domain, search);
    return search;
  }

  return {
    async policyOf(domain, allowPrivateAddresses) {
      const id = await findId(domain);
      const entry = await keptOf(domain);
      const inForce = entry && entry.expiresAt > clock.now() ? entry : null;
      if (id === null) return inForce?.policy ?? null;
      if (inForce?.policy.id !== id) {
        return (await fetchOnce(domain, id, allowPrivateAddresses)) ?? inForce?.policy ?? null;
      }
      const { fetchedAt, expiresAt } = inForce;
      const refreshAt = fetchedAt + Math.min(refreshMs, (expiresAt - fetchedAt) / 2);
      // Fetched in the future: the clock was set back, and nobody knows how old it really is.
      const isDue = clock.now() >= refreshAt || clock.now() < fetchedAt;
      if (isDue) void fetchOnce(domain, id, allowPrivateAddresses);
      return inForce.policy;
    },
    close: () => stopped.abort(),
  };
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
  return read && { policy: read.policy, fetchedAt, expiresAt };
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
