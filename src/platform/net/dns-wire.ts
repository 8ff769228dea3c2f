// DNS messages as bytes (RFC 1035, 6891): encodes a question, and decodes an answer with a limited
// number of records. Also checks names in text form. Only this file uses dns-packet. Opens no
// sockets.
import {
  type Answer,
  AUTHENTIC_DATA,
  CHECKING_DISABLED,
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
  /** Queried name in lower case, without a trailing dot. */
  name: string;
  type: RecordType;
  /** Whether to offer EDNS0 (larger answers, DNSSEC); some old servers refuse it. */
  edns: boolean;
  /** Whether to accept an answer with wrong DNSSEC signatures (CD, RFC 4035 3.2.2). */
  isUnchecked?: boolean;
}

export interface WireAnswer {
  rcode: number;
  truncated: boolean;
  /**
   * Whether the server reports validated DNSSEC (AD). This is only as trustworthy as the path to
   * the server.
   */
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

/** Largest UDP answer that no path fragments (DNS flag day 2020). */
const udpPayloadBytes = 1232;
/** Most records read in an answer: 200 of the requested type, with signatures and CNAMEs. */
const maxRecords = 416;

const headerBytes = 12;
const truncatedFlag = 0x0200;
/** Bits of QR and of the opcode. */
const kindMask = 0xf800;
const answerToQuery = 0x8000;

export function encodeQuestion({
  id,
  name,
  type,
  edns,
  isUnchecked = false,
}: WireQuestion): Buffer {
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
    flags: RECURSION_DESIRED | AUTHENTIC_DATA | (isUnchecked ? CHECKING_DISABLED : 0),
    questions: [{ type, name, class: 'IN' }],
    additionals: edns ? [extension] : [],
  });
}

/**
 * Parses `bytes` as the answer to `question`. Returns undefined for the answer to a different
 * question (late, or forged), and only the header of a truncated answer. Writes to `bytes`.
 * @throws Error if the bytes have the id of the question but cannot be parsed.
 */
export function decodeAnswer(bytes: Buffer, question: WireQuestion): WireAnswer | undefined {
  if (bytes.length < headerBytes || bytes.readUInt16BE(0) !== question.id) return undefined;
  const flags = bytes.readUInt16BE(2);
  if ((flags & kindMask) !== answerToQuery) return undefined;
  const truncated = (flags & truncatedFlag) !== 0;
  const rcode = flags & 0xf;
  const questionCount = bytes.readUInt16BE(4);
  // A server that cannot or will not answer may omit the question section.
  if (questionCount === 0 && isFailure(rcode)) return empty(rcode, bytes.length);
  if (questionCount !== 1) return undefined;
  // Later sections, and records beyond the limit, are skipped without parsing.
  bytes.writeUInt16BE(truncated ? 0 : Math.min(bytes.readUInt16BE(6), maxRecords), 6);
  bytes.writeUInt32BE(0, 8);
  const packet = decode(bytes);
  // dns-packet reads addresses beyond the end without an error, so this is checked here.
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

/** Folds a name for comparison: without a trailing dot, and ASCII in lower case (RFC 4343). */
export function foldName(name: string): string {
  return name.replace(/\.$/, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/**
 * Tells whether a name may be queried: labels of 1 to 63 printable ASCII characters, at most 253 in
 * all (RFC 1035 2.3.4).
 */
export function isQueryName(name: string): boolean {
  return name.length <= 253 && /^(?:[!-\-/-~]{1,63}\.)*[!-\-/-~]{1,63}$/.test(name);
}

/**
 * Tells whether a name suits hosts and services: only letters, digits, hyphens, underscores and
 * dots.
 */
export function isHostName(name: string): boolean {
  return isQueryName(name) && /^[a-zA-Z0-9_.-]+$/.test(name);
}
