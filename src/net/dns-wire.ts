// DNS messages as bytes (RFC 1035, 6891): one question out, one answer in, bounded before it is read.
// Also the names that it may ask for: A-labels in text form. The only doorway to dns-packet; knows no
// sockets.
import {
  type Answer,
  AUTHENTIC_DATA,
  decode,
  encode,
  type OptAnswer,
  RECURSION_DESIRED,
  type RecordType,
} from 'dns-packet';

export type { RecordType };

/** A resource record of the answer section, class IN. */
export type DnsRecord = Exclude<Answer, OptAnswer>;

export interface WireQuestion {
  id: number;
  /** Lower case, without a dot at the end. */
  name: string;
  type: RecordType;
  /** Whether to offer EDNS0 (larger answers, DNSSEC); some old servers refuse it. */
  edns: boolean;
}

export interface WireAnswer {
  rcode: number;
  truncated: boolean;
  /** The server vouches for DNSSEC (AD). As trustworthy as the way to the server. */
  authenticated: boolean;
  records: DnsRecord[];
  byteCount: number;
}

export const rcodes = {
  formatError: 1,
  serverFailure: 2,
  nxDomain: 3,
  notImplemented: 4,
  refused: 5,
};

/** What passes every path unfragmented (DNS flag day 2020). */
const udpPayloadBytes = 1232;
/** Read of one answer: room for 200 records of the type asked for, with signatures and CNAMEs. */
const maxRecords = 416;

const headerBytes = 12;
const truncatedFlag = 0x0200;
/** QR and the opcode. */
const kindMask = 0xf800;
const answerToQuery = 0x8000;

export function encodeQuestion({ id, name, type, edns }: WireQuestion): Buffer {
  const extension: OptAnswer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: udpPayloadBytes,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0x8000,
    flag_do: true,
    options: [],
  };
  return encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [{ type, name, class: 'IN' }],
    additionals: edns ? [extension] : [],
  });
}

/**
 * Reads `bytes` as the answer to `question`; undefined when they answer something else (late, or
 * forged). Of a truncated answer only the header counts. May write to `bytes`.
 * @throws Error when they claim to be the answer and cannot be read.
 */
export function decodeAnswer(bytes: Buffer, question: WireQuestion): WireAnswer | undefined {
  if (bytes.length < headerBytes || bytes.readUInt16BE(0) !== question.id) return undefined;
  const flags = bytes.readUInt16BE(2);
  if ((flags & kindMask) !== answerToQuery) return undefined;
  const truncated = (flags & truncatedFlag) !== 0;
  const rcode = flags & 0xf;
  const questionCount = bytes.readUInt16BE(4);
  // Servers that cannot or will not answer may leave the question out.
  if (questionCount === 0 && isFailure(rcode)) return empty(rcode, bytes.length);
  if (questionCount !== 1) return undefined;
  // What is not asked for is not parsed: later sections, and records beyond the limit.
  bytes.writeUInt16BE(truncated ? 0 : Math.min(bytes.readUInt16BE(6), maxRecords), 6);
  bytes.writeUInt32BE(0, 8);
  const packet = decode(bytes);
  // Addresses are read past the end without complaint.
  if (decode.bytes > bytes.length) throw new RangeError('a record goes beyond the message');
  const [echo] = packet.questions ?? [];
  if (echo?.type !== question.type || foldName(echo.name) !== question.name) return undefined;
  const records = (packet.answers ?? []).filter(
    (record): record is DnsRecord => record.type !== 'OPT' && record.class === 'IN',
  );
  return {
    rcode,
    truncated,
    authenticated: packet.flag_ad,
    records,
    byteCount: bytes.length,
  };
}

function isFailure(rcode: number): boolean {
  return rcode !== 0 && rcode !== rcodes.nxDomain;
}

function empty(rcode: number, byteCount: number): WireAnswer {
  return { rcode, truncated: false, authenticated: false, records: [], byteCount };
}

/** Names compare without regard to ASCII case (RFC 4343); the dot at the end says nothing. */
export function foldName(name: string): string {
  return name.replace(/\.$/, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** May be asked for: labels of 1 to 63 printable ASCII characters, 253 in all (RFC 1035 2.3.4). */
export function isQueryName(name: string): boolean {
  return name.length <= 253 && /^(?:[!-\-/-~]{1,63}\.)*[!-\-/-~]{1,63}$/.test(name);
}

/** A name that hosts and services have: letters, digits, hyphens and underscores alone. */
export function isHostName(name: string): boolean {
  return isQueryName(name) && /^[a-zA-Z0-9_.-]+$/.test(name);
}
