// Looks up DNS records by name and type: follows CNAMEs, caches answers for their TTL, and shares a
// query among equal concurrent questions. Does not interpret the records.
import type { LRUCache } from 'lru-cache';
import type { Clock } from '../runtime/clock.ts';
import { recentlyUsedBytes } from '../runtime/recently-used.ts';
import type { DnsAsker } from './dns-ask.ts';
import { DnsError, type DnsErrorKind } from './dns-ask.ts';
import {
  type DnsRecord,
  foldName,
  isQueryName,
  type RecordType,
  rcodes,
  type WireAnswer,
} from './dns-wire.ts';

export interface Found {
  /** 1 to 200 records, all of the requested type. */
  records: readonly DnsRecord[];
  /** Whether every answer of the CNAME chain was authenticated (AD). */
  authenticated: boolean;
}

/** Looks up a valid name in the form of `foldName`. Rejects with a DnsError. */
export type Lookup = (name: string, type: RecordType) => Promise<Found>;

const maxRecordsKept = 200;
/** Most CNAMEs from a name to the records; BIND follows 16, Unbound 11. */
const maxChain = 12;
const maxTtlMs = 3_600_000;
const negativeTtlMs = 60_000;
const maxCacheEntries = 10_000;
const maxCacheBytes = 16 * 1024 * 1024;

type Outcome = { found: Found } | { error: DnsError };
/** A cached outcome. `expiresAtMs` is by `clock.elapsed()`. */
type Entry = { outcome: Outcome; expiresAtMs: number; byteCount: number };

/** Cached answers, bounded in entries and bytes. */
export type Answers = LRUCache<string, Entry>;

export function createAnswers(): Answers {
  const bytesOf = ({ byteCount }: Entry, key: string) => byteCount + key.length;
  return recentlyUsedBytes(maxCacheEntries, maxCacheBytes, bytesOf);
}

/** Creates a look-up that sends queries only for answers missing in `answers`. */
export function createLookup(ask: DnsAsker['ask'], clock: Clock, answers: Answers): Lookup {
  const underWay = new Map<string, Promise<Outcome>>();

  async function find(key: string, name: string, type: RecordType): Promise<Outcome> {
    const { outcome, ttlMs, byteCount } = await resolveFresh(ask, name, type);
    if (ttlMs > 0) {
      const expiresAtMs = clock.elapsed() + ttlMs;
      answers.set(key, { outcome, expiresAtMs, byteCount });
    }
    return outcome;
  }

  return async (name, type) => {
    const key = `${type} ${name}`;
    const kept = answers.get(key);
    let outcome = kept && kept.expiresAtMs > clock.elapsed() ? kept.outcome : undefined;
    if (!outcome) {
      const asked = underWay.get(key) ?? find(key, name, type).finally(() => underWay.delete(key));
      underWay.set(key, asked);
      outcome = await asked;
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.found;
  };
}

interface Fresh {
  outcome: Outcome;
  /** Time in ms for which the outcome may be cached; 0 if it must not be cached. */
  ttlMs: number;
  byteCount: number;
}

async function resolveFresh(ask: DnsAsker['ask'], asked: string, type: RecordType): Promise<Fresh> {
  const chain = new Set([asked]);
  let authenticated = true;
  let ttlMs = maxTtlMs;
  let byteCount = 0;
  const lasting = (kind: DnsErrorKind, why: string): Fresh => {
    const error = new DnsError(kind, `${type} ${asked}`, why, { temporary: false });
    return { outcome: { error }, ttlMs: Math.min(ttlMs, negativeTtlMs), byteCount };
  };
  for (let name = asked; ; ) {
    const answer = await ask(name, type);
    byteCount += answer.byteCount;
    authenticated &&= answer.authenticated;
    const step = follow(answer, name, type, chain);
    ttlMs = Math.min(ttlMs, step.ttlMs);
    if (step.records.length > 0) {
      return { outcome: { found: { records: step.records, authenticated } }, ttlMs, byteCount };
    }
    if (step.stop === 'loop') return lasting('loop', `its CNAMEs lead on and on, past ${step.end}`);
    if (step.stop === 'malformed')
      return lasting('malformed', `a CNAME of ${step.end} is not a valid name`);
    if (answer.rcode === rcodes.nxDomain) return lasting('not-found', `${step.end} does not exist`);
    if (step.end === name) return lasting('no-data', `${name} has no ${type} record`);
    name = step.end;
  }
}

interface Step {
  records: DnsRecord[];
  /** Last name in the CNAME chain of this answer. */
  end: string;
  /** Reason why the CNAMEs cannot be followed further. */
  stop: 'loop' | 'malformed' | undefined;
  ttlMs: number;
}

/** Follows the CNAMEs within an answer, beginning at `name`. Adds each target to `chain`. */
function follow(answer: WireAnswer, name: string, type: RecordType, chain: Set<string>): Step {
  const byOwner = Map.groupBy(answer.records, (record) => foldName(record.name));
  let end = name;
  let ttlMs = maxTtlMs;
  for (;;) {
    const own = byOwner.get(end) ?? [];
    const records = own.filter((record) => record.type === type).slice(0, maxRecordsKept);
    ttlMs = Math.min(ttlMs, ...records.map(ttlOf));
    const alias = own.find((record) => record.type === 'CNAME');
    if (records.length > 0 || alias?.type !== 'CNAME') {
      return { records, end, stop: undefined, ttlMs };
    }
    ttlMs = Math.min(ttlMs, ttlOf(alias));
    const target = foldName(alias.data);
    if (!isQueryName(target)) return { records, end, stop: 'malformed', ttlMs };
    if (chain.has(target) || chain.size > maxChain) return { records, end, stop: 'loop', ttlMs };
    chain.add(target);
    end = target;
  }
}

/** Returns the TTL in ms. A TTL with the highest bit set counts as 0 (RFC 2181 8). */
function ttlOf({ ttl = 0 }: DnsRecord): number {
  return ttl > 0x7fffffff ? 0 : ttl * 1000;
}
