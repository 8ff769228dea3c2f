// Asks the configured DNS servers until one answers, and says why a question has no answer. Two rounds
// over the servers: the second for those that were silent or unreadable. Caches nothing; follows no CNAME.
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
  /** The name exists, without records of the type. */
  | 'no-data'
  | 'timeout'
  /** SERVFAIL, an error code we do not know, or a server that cannot be reached. */
  | 'server-failure'
  | 'refused'
  /** The answer cannot be read (temporary), or a name asked for or pointed to is none (lasting). */
  | 'malformed'
  /** CNAMEs that lead back, or on and on. */
  | 'loop';

/** As in node:dns, so that libraries made for it understand. */
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
  /** Asking again later may help. */
  readonly temporary: boolean;
  /** The code that node:dns gives for it: ENOTFOUND, ENODATA, ESERVFAIL, … */
  readonly code: string;

  /** `question` is the type and name asked for; `why` names the server where one was asked. */
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

/** How long a server may take in each round. */
export const patience = {
  usual: [5_000, 3_000],
  /** Somebody else is waiting for what is asked: a lost question is asked again soon. */
  short: [500, 1_000],
} as const;
/** Of a longer list the rest is never reached in useful time. */
const maxServers = 8;

interface DnsAskerOptions {
  /** `IP`, `IPv4:port` or `[IPv6]:port`. */
  servers: readonly string[];
  clock: Clock;
  random: Random;
}

/** Milliseconds by round. */
type Patience = readonly number[];

export interface DnsAsker {
  /**
   * The answer of the first server that has one: NOERROR or NXDOMAIN.
   * @throws DnsError, always temporary.
   */
  ask(name: string, type: RecordType, timeoutsMs?: Patience): Promise<WireAnswer>;
  /** Ends every question under way, and refuses new ones. */
  close(): void;
}

/** Reads `IP`, `IPv4:port` or `[IPv6]:port`; 53 without a port. */
function readServer(text: string): DnsServer {
  if (isIPv6(text)) return { host: text, port: 53 };
  const [, v6, v4 = text, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { host: v6 ?? v4, port: Number(port) };
}

export function createDnsAsker({ servers, clock, random }: DnsAskerOptions): DnsAsker {
  const known = servers.slice(0, maxServers).map(readServer);
  const stopped = new AbortController();
  // One listener for each question under way: as many as there are.
  setMaxListeners(0, stopped.signal);
  const means = { clock, random, signal: stopped.signal };

  return {
    async ask(name, type, timeoutsMs: Patience = patience.usual) {
      let last = new DnsError('server-failure', `${type} ${name}`, 'no DNS server is configured');
      let left = known;
      for (const timeoutMs of timeoutsMs) {
        const again: DnsServer[] = [];
        for (const server of left) {
          try {
            return await askServer(server, { name, type, timeoutMs }, means);
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

/** One question to one server. */
interface Question {
  name: string;
  type: RecordType;
  timeoutMs: number;
}

/** What it is asked with; the signal ends it. */
interface Means {
  clock: Clock;
  random: Random;
  signal: AbortSignal;
}

/** Without EDNS where the server does not know that. @throws DnsError */
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

/** One message there and back; over TCP when UDP cuts it off. */
async function exchange(
  server: DnsServer,
  { name, type, edns, timeoutMs }: Question & { edns: boolean },
  { clock, random, signal }: Means,
): Promise<WireAnswer> {
  const attempt = (): Exchange<WireAnswer> => {
    const [high = 0, low = 0] = random.bytes(2);
    const question: WireQuestion = { id: high * 256 + low, name, type, edns };
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
