// Queries DNS for a diagnosis: exact answers of a server, with aliases and times to live. Equal
// questions are sent once, and all questions end at the same deadline. To send mail, dns.ts is used
// instead.
import { getServers } from 'node:dns';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { createDnsAsker, type DnsAsker, DnsError } from './dns-ask.ts';
import { type DnsRecord, foldName, isQueryName, type RecordType, rcodes } from './dns-wire.ts';

/** Types of records that a diagnosis reads. SPF is an obsolete type (RFC 7208 3.1). */
export type ProbedType = Extract<RecordType, 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'TXT'> | 'SPF';

/** A DNS question of a diagnosis. */
export interface ProbeQuestion {
  type: ProbedType;
  name: string;
  /** Addresses of the servers to ask; the configured resolver if missing. */
  servers?: readonly string[];
  /** Whether to ask the resolver for an answer without DNSSEC checks. */
  isUnchecked?: boolean;
}

/**
 * Answer to a question. An MX value has the form `10 host`; the strings of a TXT record are joined.
 */
export interface ProbeAnswer {
  kind: 'found' | 'no-data' | 'not-found' | 'refused' | 'failed' | 'silent';
  values: readonly string[];
  /** Target of the CNAME of the name; null without a CNAME. */
  alias: string | null;
  /** Seconds for which the answer may be cached; null without a record. */
  ttlSeconds: number | null;
  /** Reason that no answer came; null for an answer, even without records. */
  problem: string | null;
}

export interface Probe {
  /**
   * Sends a question, or returns the earlier answer to an equal question. Rejects only for an
   * internal error.
   */
  ask(question: ProbeQuestion): Promise<ProbeAnswer>;
  /** Ends all pending questions. Later questions get no answer. */
  close(): void;
}

interface ProbeOptions {
  /** Servers in the form of `createDns`. */
  servers: readonly string[];
  clock: Clock;
  random: Random;
  /** Time in ms after which all questions end without an answer. */
  deadlineMs: number;
  /** Most questions that may be sent. */
  mostQuestions: number;
  /** Time-out of a server that the caller names, in ms. */
  authorityMs: number;
}

const mostValues = 20;
const longestValue = 4_000;
/** Most CNAMEs from a name to the records. */
const longestChain = 12;
const mostAuthorities = 3;

/** Creates a probe. It opens no socket before the first question. */
export function createProbe(options: ProbeOptions): Probe {
  const { clock, random, deadlineMs, mostQuestions, authorityMs } = options;
  const used = options.servers.length > 0 ? options.servers : getServers();
  const askers = new Map<string, DnsAsker>();
  const answers = new Map<string, Promise<ProbeAnswer>>();
  let asked = 0;
  let isOver = false;
  const close = () => {
    isOver = true;
    cancel();
    for (const asker of askers.values()) asker.close();
  };
  const cancel = clock.after(deadlineMs, close);

  const askerOf = (servers: readonly string[]): DnsAsker => {
    const key = servers.join(' ');
    const asker = askers.get(key) ?? createDnsAsker({ servers, clock, random });
    askers.set(key, asker);
    return asker;
  };

  const send = async ({
    type,
    name,
    servers,
    isUnchecked,
  }: ProbeQuestion): Promise<ProbeAnswer> => {
    const folded = foldName(name);
    if (!isQueryName(folded)) return without('not-found', `${name.slice(0, 80)} is not a name`);
    if (isOver) return without('silent', `no time was left to ask for ${type} ${folded}`);
    if (asked >= mostQuestions) {
      return without('silent', `${mostQuestions} questions were asked before ${type} ${folded}`);
    }
    asked += 1;
    const asker = askerOf(servers?.slice(0, mostAuthorities) ?? used);
    const timeouts = servers === undefined ? undefined : [authorityMs];
    try {
      const answer = await asker.ask(folded, type as RecordType, timeouts, isUnchecked);
      return readAnswer(answer.records, type, folded, answer.rcode === rcodes.nxDomain);
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      const kinds = { timeout: 'silent', refused: 'refused' } as const;
      const kind = kinds[error.kind as keyof typeof kinds] ?? 'failed';
      return without(kind, error.message);
    }
  };

  return {
    ask(question) {
      const key = questionKey(question);
      const known = answers.get(key);
      if (known !== undefined) return known;
      const answer = send(question);
      answers.set(key, answer);
      return answer;
    },
    close,
  };
}

/** Returns a key that is the same for equal questions. */
export function questionKey({ type, name, servers, isUnchecked }: ProbeQuestion): string {
  return `${type} ${foldName(name)} ${servers?.join(' ') ?? ''} ${isUnchecked ?? false}`;
}

function without(kind: ProbeAnswer['kind'], problem: string | null): ProbeAnswer {
  return { kind, values: [], alias: null, ttlSeconds: null, problem };
}

function readAnswer(
  records: readonly DnsRecord[],
  type: ProbedType,
  name: string,
  isMissing: boolean,
): ProbeAnswer {
  const byOwner = Map.groupBy(records, (record) => foldName(record.name));
  let at = name;
  let alias: string | null = null;
  let ttlSeconds: number | null = null;
  for (let step = 0; step < longestChain; step++) {
    const own = byOwner.get(at) ?? [];
    const found = own.filter((record) => String(record.type) === type);
    ttlSeconds = leastTtl(ttlSeconds, own);
    if (found.length > 0) {
      const values = found.slice(0, mostValues).map((one) => textOf(one).slice(0, longestValue));
      return { kind: 'found', values, alias, ttlSeconds, problem: null };
    }
    const next = own.find((record) => record.type === 'CNAME');
    if (next?.type !== 'CNAME') break;
    alias ??= foldName(next.data);
    at = foldName(next.data);
  }
  return { ...without(isMissing ? 'not-found' : 'no-data', null), alias, ttlSeconds };
}

function leastTtl(before: number | null, records: readonly DnsRecord[]): number | null {
  return records.reduce<number | null>((least, { ttl = 0 }) => {
    const seconds = ttl > 0x7fffffff ? 0 : ttl;
    return least === null ? seconds : Math.min(least, seconds);
  }, before);
}

function textOf(record: DnsRecord): string {
  if (record.type === 'MX') return `${record.data.preference ?? 0} ${record.data.exchange}`;
  const data: unknown = 'data' in record ? record.data : '';
  const chunks = Array.isArray(data) ? data : [data];
  return chunks
    .map((chunk: unknown) => (Buffer.isBuffer(chunk) ? chunk.toString('utf8') : String(chunk)))
    .join('');
}
