// A real DNS server on loopback, over UDP and TCP. It answers from zones that the test sets, like a
// recursive resolver (it follows CNAMEs and sets RA), and fails on demand.
import { createSocket, type RemoteInfo } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import {
  type Answer,
  AUTHENTIC_DATA,
  decode,
  encode,
  type Question,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  type TlsaData,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

/** The records of a name. TXT is split into strings of 255 bytes; MX '.' is the null MX. */
export interface ZoneRecords {
  A?: readonly string[];
  AAAA?: readonly string[];
  CAA?: readonly { flags?: number; tag: string; value: string }[];
  CNAME?: readonly string[];
  MX?: readonly { exchange: string; preference?: number }[];
  NS?: readonly string[];
  PTR?: readonly string[];
  /** The obsolete record type SPF (RFC 7208 3.1). */
  SPF?: readonly string[];
  TLSA?: readonly TlsaData[];
  TXT?: readonly string[];
}

export type ZoneType = keyof ZoneRecords;

/**
 * Faults of a name:
 * - servfail, refused, nxdomain, formerr: that answer; formerr only to questions with EDNS;
 * - bogus: SERVFAIL, but the records for questions that leave out DNSSEC (CD);
 * - timeout: silence; truncate: cut off over UDP, whole over TCP;
 * - malformed: bytes that end within a record; loop: a CNAME to another name and back;
 * - alias: a CNAME to a name without records;
 * - forged: answers with a wrong id, and to a wrong question, come before the right one.
 */
export type DnsFault =
  | 'servfail'
  | 'bogus'
  | 'refused'
  | 'nxdomain'
  | 'formerr'
  | 'timeout'
  | 'truncate'
  | 'malformed'
  | 'loop'
  | 'alias'
  | 'forged';

export interface DnsQuery {
  name: string;
  type: string;
  transport: 'udp' | 'tcp';
  /** True if the question had EDNS0 with the bits DO and AD. */
  dnssec: boolean;
}

export interface DnsServer {
  /** Address for `dns.servers`: "127.0.0.1:port". */
  readonly address: string;
  readonly queries: readonly DnsQuery[];
  /** Sets all records of a name and type, with the AD bit and the TTL (300 s). */
  set<T extends ZoneType>(
    name: string,
    type: T,
    records: NonNullable<ZoneRecords[T]>,
    options?: { authenticated?: boolean; ttlSeconds?: number },
  ): void;
  /** Answers for every name below `name` that has no records itself. */
  wildcard<T extends ZoneType>(name: string, type: T, records: NonNullable<ZoneRecords[T]>): void;
  /** Makes `times` queries for a name fail, or all queries; undefined ends the fault. */
  fault(name: string, fault: DnsFault | undefined, times?: number): void;
  close(): Promise<void>;
}

interface Entry {
  answers: Answer[];
  authenticated: boolean;
}

interface Reply {
  rcode: number;
  answers: Answer[];
  authenticated: boolean;
}

const rcodeOf = { formerr: 1, servfail: 2, nxdomain: 3, refused: 5 } as const;

const fold = (name: string) => name.toLowerCase().replace(/\.$/, '');

function chunks(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const count = Math.max(1, Math.ceil(bytes.length / 255));
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * 255, (i + 1) * 255));
}

/** Encodes a record of the type SPF, which dns-packet does not know. */
function oneString(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}

/** Starts a server with these zones; names outside of them do not exist. */
export async function startDnsServer(zones: Record<string, ZoneRecords> = {}): Promise<DnsServer> {
  const entries = new Map<string, Map<string, Entry>>();
  const faults = new Map<string, { fault: DnsFault; left: number }>();
  const queries: DnsQuery[] = [];

  const set: DnsServer['set'] = (name, type, records, options = {}) => {
    const { authenticated = false, ttlSeconds: ttl = 300 } = options;
    const answers = records.map((record): Answer => {
      const data =
        type === 'TXT'
          ? chunks(String(record))
          : type === 'SPF'
            ? oneString(String(record))
            : record;
      return { name, type, ttl, class: 'IN', data } as Answer;
    });
    const types = entries.get(fold(name)) ?? new Map<string, Entry>();
    entries.set(fold(name), types.set(type, { answers, authenticated }));
  };
  for (const [name, records] of Object.entries(zones)) {
    for (const [type, values] of Object.entries(records)) set(name, type as ZoneType, values);
  }

  /** Answers from the zones, and follows CNAMEs. */
  function resolve(name: string, type: string): Reply {
    const answers: Answer[] = [];
    let authenticated = true;
    let at = fold(name);
    for (const seen = new Set<string>(); !seen.has(at); ) {
      seen.add(at);
      const types = entries.get(at) ?? wildcardOf(at);
      if (!types) {
        const exists = [...entries.keys()].some((known) => known.endsWith(`.${at}`));
        return { rcode: exists ? 0 : rcodeOf.nxdomain, answers, authenticated: false };
      }
      const found = types.get(type);
      const alias = type === 'CNAME' ? undefined : types.get('CNAME');
      answers.push(...((found ?? alias)?.answers ?? []));
      authenticated &&= (found ?? alias)?.authenticated ?? false;
      const next = found ? undefined : alias?.answers[0];
      if (next?.type !== 'CNAME') break;
      at = fold(next.data);
    }
    return { rcode: 0, answers, authenticated };
  }

  function wildcardOf(name: string): Map<string, Entry> | undefined {
    const types = entries.get(`*.${name.slice(name.indexOf('.') + 1)}`);
    if (!types) return undefined;
    const named = (entry: Entry): Entry => ({
      ...entry,
      answers: entry.answers.map((answer) => ({ ...answer, name })),
    });
    return new Map([...types].map(([type, entry]) => [type, named(entry)]));
  }

  function alias(name: string): Reply {
    const answers: Answer[] = [{ name, type: 'CNAME', data: `alias.${name}` }];
    return { rcode: 0, answers, authenticated: false };
  }

  function loop(name: string): Reply {
    const pair = (from: string, to: string): Answer => ({ name: from, type: 'CNAME', data: to });
    const answers = [pair(name, `loop.${name}`), pair(`loop.${name}`, name)];
    return { rcode: 0, answers, authenticated: false };
  }

  function takeFault(name: string): DnsFault | undefined {
    const entry = faults.get(fold(name));
    if (!entry || entry.left <= 0) return undefined;
    entry.left -= 1;
    return entry.fault;
  }

  /** Returns the answers to a query: none, a single answer, or forged answers before it. */
  function handle(bytes: Buffer, transport: 'udp' | 'tcp'): Buffer[] {
    const query = decode(bytes);
    const question = query.questions?.[0];
    if (!question) return [];
    const extension = query.additionals?.find((record) => record.type === 'OPT');
    const dnssec = extension?.type === 'OPT' && extension.flag_do && query.flag_ad;
    queries.push({ name: question.name, type: question.type, transport, dnssec });
    const id = query.id ?? 0;
    const fault = takeFault(question.name);
    const limit =
      transport === 'tcp' ? 65_535 : extension?.type === 'OPT' ? extension.udpPayloadSize : 512;
    const right = () => fitted(id, question, resolve(question.name, question.type), limit);
    switch (fault) {
      case 'timeout':
        return [];
      case 'servfail':
      case 'refused':
      case 'nxdomain':
        return [message(id, question, failure(rcodeOf[fault]))];
      case 'bogus':
        return query.flag_cd ? [right()] : [message(id, question, failure(rcodeOf.servfail))];
      case 'formerr':
        return extension ? [message(id, undefined, failure(rcodeOf.formerr))] : [right()];
      case 'truncate':
        return transport === 'udp' ? [fitted(id, question, empty, 0)] : [right()];
      case 'malformed':
        return [message(id, question, filler(question.name)).subarray(0, -3)];
      case 'loop':
        return [message(id, question, loop(question.name))];
      case 'alias':
        return [message(id, question, alias(question.name))];
      case 'forged': {
        const other = { ...question, name: `not.${question.name}` };
        const lie = filler(question.name);
        return [message(id ^ 1, question, lie), message(id, other, lie), right()];
      }
      case undefined:
        return [right()];
    }
  }

  const udp = createSocket('udp4');
  const open = new Set<Socket>();
  const tcp = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (read: Buffer) => {
      received = Buffer.concat([received, read]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        for (const answer of handle(received.subarray(2, end), 'tcp')) {
          const length = Buffer.alloc(2);
          length.writeUInt16BE(answer.length);
          socket.write(Buffer.concat([length, answer]));
        }
        received = received.subarray(end);
      }
    });
  });
  udp.on('message', (bytes: Buffer, from: RemoteInfo) => {
    for (const answer of handle(bytes, 'udp')) udp.send(answer, from.port, from.address);
  });
  const port = await listenOnBoth();

  /** Tries a new port if the system's UDP port is used for TCP. */
  async function listenOnBoth(): Promise<number> {
    for (let tries = 0; tries < 20; tries++) {
      await new Promise<void>((resolve, reject) => {
        tcp.once('error', reject).listen(0, '127.0.0.1', resolve);
      });
      const address = tcp.address();
      const wanted = typeof address === 'object' && address ? address.port : 0;
      const bound = await new Promise<boolean>((resolve) => {
        udp.once('error', () => resolve(false));
        udp.bind(wanted, '127.0.0.1', () => resolve(true));
      });
      if (bound) return wanted;
      await new Promise((resolve) => tcp.close(resolve));
    }
    throw new Error('no port that is free for both UDP and TCP');
  }

  return {
    address: `127.0.0.1:${port}`,
    queries,
    set,
    wildcard: (name, type, records) => set(`*.${name}`, type, records),
    fault(name, fault, times = Number.POSITIVE_INFINITY) {
      if (fault === undefined) faults.delete(fold(name));
      else faults.set(fold(name), { fault, left: times });
    },
    async close() {
      for (const socket of open) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ]);
    },
  };
}

const empty: Reply = { rcode: 0, answers: [], authenticated: false };

function failure(rcode: number): Reply {
  return { ...empty, rcode };
}

function filler(name: string): Reply {
  return { ...empty, answers: [{ name, type: 'A', ttl: 300, data: '192.0.2.66' }] };
}

function message(
  id: number,
  question: Question | undefined,
  { rcode, answers, authenticated }: Reply,
  flags = 0,
): Buffer {
  return encode({
    type: 'response',
    id,
    flags:
      RECURSION_DESIRED |
      RECURSION_AVAILABLE |
      rcode |
      flags |
      (authenticated ? AUTHENTIC_DATA : 0),
    questions: question ? [question] : [],
    answers,
  });
}

/** Encodes a reply within `limit` bytes. Truncates a longer reply and sets the TC bit. */
function fitted(id: number, question: Question, reply: Reply, limit: number): Buffer {
  const whole = message(id, question, reply);
  return whole.length <= limit ? whole : message(id, question, empty, TRUNCATED_RESPONSE);
}
