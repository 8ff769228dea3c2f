// Queries the configured DNS servers until a server answers, and reports the reason for a missing
// answer. Makes two rounds: the second round repeats the query to servers that were silent or sent
// an unreadable answer. Caches nothing and follows no CNAME.
import { setMaxListeners } from 'node:events';
import { isIPv6 } from 'node:net';
import { messageOf } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import {
  askOverTcp,
  askOverUdp,
  type DnsServer,
  type Exchange,
  NoAnswer,
} from './dns-transport.ts';
import {
  decodeAnswer,
  encodeQuestion,
  type RecordType,
  rcodes,
  type WireAnswer,
  type WireQuestion,
} from './dns-wire.ts';

export type DnsErrorKind =
  /** NXDOMAIN: the name does not exist. */
  | 'not-found'
  /** NODATA: the name exists, without records of the type. */
  | 'no-data'
  | 'timeout'
  /** SERVFAIL, an unknown error code, or a server that cannot be reached. */
  | 'server-failure'
  | 'refused'
  /**
   * The answer is unreadable (temporary), or a queried name or a CNAME target is invalid
   * (permanent).
   */
  | 'malformed'
  /** A CNAME loop, or a chain that is too long. */
  | 'loop';

/** Error codes of node:dns, which libraries expect. */
const codes: Record<DnsErrorKind, string> = {
  'not-found': 'ENOTFOUND',
  'no-data': 'ENODATA',
  timeout: 'ETIMEOUT',
  'server-failure': 'ESERVFAIL',
  refused: 'EREFUSED',
  malformed: 'EBADRESP',
  loop: 'EBADRESP',
};

const temporaryKinds = new Set<DnsErrorKind>(['timeout', 'server-failure', 'refused', 'malformed']);

export class DnsError extends Error {
  readonly kind: DnsErrorKind;
  /** Whether a later query may succeed. */
  readonly temporary: boolean;
  /** Code as in node:dns: ENOTFOUND, ENODATA, ESERVFAIL, … */
  readonly code: string;

  /** `question`: queried type and name. `why`: the reason, if known with the queried server. */
  constructor(
    kind: DnsErrorKind,
    question: string,
    why: string,
    { temporary = temporaryKinds.has(kind), code = codes[kind] } = {},
  ) {
    super(`${question}: ${why}`);
    this.kind = kind;
    this.temporary = temporary;
    this.code = code;
  }
}

/** Time-outs of a server in each round, in ms. */
export const patience = {
  usual: [5_000, 3_000],
  /** For a query with a waiting client: soon repeats a question that was lost. */
  short: [500, 1_000],
} as const;
/** Most servers of the list that are queried, because callers give up before later servers. */
const maxServers = 8;

interface DnsAskerOptions {
  /** Servers as `IP`, `IPv4:port` or `[IPv6]:port`. */
  servers: readonly string[];
  clock: Clock;
  random: Random;
}

/** Time-outs in each round, in ms. */
type Patience = readonly number[];

export interface DnsAsker {
  /**
   * Returns the answer of the first server that answers: NOERROR or NXDOMAIN.
   * @throws DnsError, always temporary.
   */
  ask(
    name: string,
    type: RecordType,
    timeoutsMs?: Patience,
    isUnchecked?: boolean,
  ): Promise<WireAnswer>;
  /** Aborts all pending questions and refuses new questions. */
  close(): void;
}

/** Parses `IP`, `IPv4:port` or `[IPv6]:port`; the port defaults to 53. */
function readServer(text: string): DnsServer {
  if (isIPv6(text)) return { host: text, port: 53 };
  const [, v6, v4 = text, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { host: v6 ?? v4, port: Number(port) };
}

export function createDnsAsker({ servers, clock, random }: DnsAskerOptions): DnsAsker {
  const known = servers.slice(0, maxServers).map(readServer);
  const stopped = new AbortController();
  // Each pending question adds a listener, so Node's warning limit does not apply.
  setMaxListeners(0, stopped.signal);
  const means = { clock, random, signal: stopped.signal };

  return {
    async ask(name, type, timeoutsMs: Patience = patience.usual, isUnchecked = false) {
      let last = new DnsError('server-failure', `${type} ${name}`, 'no DNS server is configured');
      let left = known;
      for (const timeoutMs of timeoutsMs) {
        const again: DnsServer[] = [];
        for (const server of left) {
          try {
            return await askServer(server, { name, type, timeoutMs, isUnchecked }, means);
          } catch (error) {
            if (!(error instanceof DnsError) || stopped.signal.aborted) throw error;
            last = error;
            if (error.kind === 'timeout' || error.kind === 'malformed') again.push(server);
          }
        }
        left = again;
      }
      throw last;
    },
    close: () => stopped.abort(),
  };
}

/** A question, with the time-out in ms for a single server. */
interface Question {
  name: string;
  type: RecordType;
  timeoutMs: number;
  isUnchecked: boolean;
}

/** Dependencies of a query. Aborting `signal` ends the query. */
interface Means {
  clock: Clock;
  random: Random;
  signal: AbortSignal;
}

/** Queries a server; repeats without EDNS if the server does not support EDNS. @throws DnsError */
async function askServer(server: DnsServer, asked: Question, means: Means): Promise<WireAnswer> {
  const question = `${asked.type} ${asked.name}`;
  try {
    let answer = await exchange(server, { ...asked, edns: true }, means);
    if (answer.rcode === rcodes.formatError || answer.rcode === rcodes.notImplemented) {
      answer = await exchange(server, { ...asked, edns: false }, means);
    }
    if (answer.rcode === 0 || answer.rcode === rcodes.nxDomain) return answer;
    const kind = answer.rcode === rcodes.refused ? 'refused' : 'server-failure';
    const why = rcodeNames[answer.rcode] ?? `error ${answer.rcode}`;
    throw new DnsError(kind, question, `${why} from ${serverName(server)}`);
  } catch (error) {
    throw asDnsError(error, question, server);
  }
}

/** Sends a message and waits for the answer. If UDP truncates the answer, repeats over TCP. */
async function exchange(
  server: DnsServer,
  { name, type, edns, timeoutMs, isUnchecked }: Question & { edns: boolean },
  { clock, random, signal }: Means,
): Promise<WireAnswer> {
  const attempt = (): Exchange<WireAnswer> => {
    const [high = 0, low = 0] = random.bytes(2);
    const question: WireQuestion = { id: high * 256 + low, name, type, edns, isUnchecked };
    return {
      server,
      question: encodeQuestion(question),
      read: (bytes) => readAnswer(bytes, question, server),
      timeoutMs,
      clock,
      signal,
    };
  };
  const answer = await askOverUdp(attempt());
  if (!answer.truncated) return answer;
  const whole = await askOverTcp(attempt());
  if (whole.truncated) throw new Error('cut its answer off over TCP too');
  return whole;
}

const rcodeNames: Record<number, string> = {
  [rcodes.formatError]: 'FORMERR',
  [rcodes.serverFailure]: 'SERVFAIL',
  [rcodes.notImplemented]: 'NOTIMP',
  [rcodes.refused]: 'REFUSED',
};

function serverName({ host, port }: DnsServer): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

function readAnswer(
  bytes: Buffer,
  question: WireQuestion,
  server: DnsServer,
): WireAnswer | undefined {
  try {
    return decodeAnswer(bytes, question);
  } catch {
    const why = `unreadable answer from ${serverName(server)}`;
    throw new DnsError('malformed', `${question.type} ${question.name}`, why);
  }
}

function asDnsError(error: unknown, question: string, server: DnsServer): DnsError {
  if (error instanceof DnsError) return error;
  const why = messageOf(error);
  const kind = error instanceof NoAnswer ? 'timeout' : 'server-failure';
  return new DnsError(kind, question, `${serverName(server)}: ${why}`);
}
