// A DNS server on loopback with the records of the domains under test: TXT and MX that a test sets
// at any time, NXDOMAIN for all other names, SERVFAIL for names in `down`.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet';

const longestString = 255;
const serverFailure = 2;
const nameError = 3;

export interface Zone {
  /** Address for `dns.servers`. */
  server: string;
  /** Records by `TXT name` or `MX name`; MX values are `10 host`. */
  records: Map<string, string[]>;
  /** Names answered with SERVFAIL; `*` means all. */
  down: Set<string>;
  /** Every queried name, in order. */
  asked: string[];
  /** Holds back all answers until `release`. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

function answers(name: string, type: string, values: readonly string[]): Answer[] {
  return values.map((value) => {
    if (type === 'TXT') {
      const strings = value.match(new RegExp(`.{1,${longestString}}`, 'gs')) ?? [''];
      return { name, type: 'TXT', ttl: 0, data: strings };
    }
    const [preference, exchange = ''] = value.split(' ');
    return { name, type: 'MX', ttl: 0, data: { preference: Number(preference), exchange } };
  });
}

function respond(query: Packet, zone: Pick<Zone, 'records' | 'down'>): Packet {
  const question = query.questions?.[0];
  const name = question?.name.toLowerCase() ?? '';
  const type = question?.type ?? 'TXT';
  const isDown = zone.down.has(name) || zone.down.has('*');
  const exists = [...zone.records.keys()].some((key) => key.endsWith(` ${name}`));
  const rcode = isDown ? serverFailure : exists ? 0 : nameError;
  const found = isDown ? [] : (zone.records.get(`${type} ${name}`) ?? []);
  return {
    type: 'response',
    id: query.id ?? 0,
    flags: AUTHORITATIVE_ANSWER | rcode,
    questions: query.questions ?? [],
    answers: answers(name, type, found),
  };
}

/** Starts the server. */
export async function startZone(): Promise<Zone> {
  const socket = createSocket('udp4');
  const records = new Map<string, string[]>();
  const down = new Set<string>();
  const asked: string[] = [];
  let waiting: (() => void)[] | null = null;
  socket.on('message', (bytes, { address, port }) => {
    const query = decode(bytes);
    asked.push(query.questions?.[0]?.name.toLowerCase() ?? '');
    const answer = () => socket.send(encode(respond(query, { records, down })), port, address);
    if (waiting) waiting.push(answer);
    else answer();
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    records,
    down,
    asked,
    hold() {
      waiting = [];
    },
    release() {
      const answers = waiting ?? [];
      waiting = null;
      for (const answer of answers) answer();
    },
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
