// DNS messages of a small authoritative server (RFC 1035, 2308): parses a question and writes the
// answer of a zone that holds only TXT records. Opens no sockets and reads no store.
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Question } from 'dns-packet';
import { foldName, rcodes } from './dns-wire.ts';

const headerBytes = 12;
/**
 * Most bytes of a message, enough for a question with a single name. Longer messages are dropped.
 */
const mostBytes = 600;
const answerFlag = 0x8000;
const opcodeMask = 0x7800;
const recursionDesired = 0x0100;
/**
 * TTL of answers. Challenges change within minutes, so resolvers must not cache that a challenge is
 * absent.
 */
const ttlSeconds = 1;
const anyType = 'ANY';

/** A zone with a single name server. */
export interface Zone {
  /** Name in lower case, without a trailing dot. */
  name: string;
  nameServer: string;
  /** Returns the texts at a name in the zone (lower case); undefined if the name does not exist. */
  texts(name: string): Promise<readonly string[] | undefined>;
}

/** A parsed message. `question` is null if it cannot be read: then the answer is a format error. */
interface Asked {
  id: number;
  flags: number;
  question: Question | null;
}

function readQuestion(bytes: Buffer): Asked | null {
  if (bytes.length < headerBytes || bytes.length > mostBytes) return null;
  const flags = bytes.readUInt16BE(2);
  // Answers are dropped: two servers that answer answers would never stop.
  if ((flags & answerFlag) !== 0) return null;
  const id = bytes.readUInt16BE(0);
  if ((flags & opcodeMask) !== 0 || bytes.readUInt16BE(4) !== 1) {
    return { id, flags, question: null };
  }
  try {
    const head = Buffer.from(bytes);
    // Only the question section is parsed.
    head.writeUInt16BE(0, 6);
    head.writeUInt32BE(0, 8);
    const [question] = decode(head).questions ?? [];
    return { id, flags, question: question ?? null };
  } catch {
    return { id, flags, question: null };
  }
}

function respond(asked: Asked, rcode: number, answers: Answer[] = [], soa: Answer[] = []): Buffer {
  const isOurs = rcode === 0 || rcode === rcodes.nxDomain;
  return encode({
    type: 'response',
    id: asked.id,
    flags: (asked.flags & recursionDesired) | (isOurs ? AUTHORITATIVE_ANSWER : 0) | rcode,
    questions: asked.question ? [asked.question] : [],
    answers,
    authorities: soa,
  });
}

function soaOf({ name, nameServer }: Zone): Answer {
  return {
    name,
    type: 'SOA',
    ttl: ttlSeconds,
    data: {
      mname: nameServer,
      rname: `postmaster.${nameServer}`,
      serial: 1,
      refresh: 3_600,
      retry: 600,
      expire: 86_400,
      minimum: ttlSeconds,
    },
  };
}

/** Returns the records of the type at the name of the zone itself. */
function apex(zone: Zone, type: string): Answer[] {
  const nameServer: Answer = { name: zone.name, type: 'NS', ttl: 3_600, data: zone.nameServer };
  if (type === 'SOA') return [soaOf(zone)];
  if (type === 'NS') return [nameServer];
  return type === anyType ? [soaOf(zone), nameServer] : [];
}

/**
 * Answers a message; null for a message that gets no answer. Rejects if the zone cannot be read.
 */
export async function answerOf(zone: Zone, bytes: Buffer): Promise<Buffer | null> {
  const asked = readQuestion(bytes);
  if (!asked) return null;
  const { question } = asked;
  if (!question) return respond(asked, rcodes.formatError);
  const name = foldName(question.name);
  const soa = [soaOf(zone)];
  if (question.class !== 'IN') return respond(asked, rcodes.refused);
  if (name === zone.name) {
    const answers = apex(zone, question.type);
    return respond(asked, 0, answers, answers.length > 0 ? [] : soa);
  }
  if (!name.endsWith(`.${zone.name}`)) return respond(asked, rcodes.refused);
  const texts = await zone.texts(name);
  if (texts === undefined) return respond(asked, rcodes.nxDomain, [], soa);
  const isText = question.type === 'TXT' || question.type === (anyType as typeof question.type);
  const answers = texts.map((text): Answer => {
    // The name keeps the spelling of the question, because resolvers hide random bits in upper and
    // lower case.
    return { name: question.name, type: 'TXT', ttl: ttlSeconds, data: text };
  });
  return isText && answers.length > 0 ? respond(asked, 0, answers) : respond(asked, 0, [], soa);
}

/**
 * Returns the answer SERVFAIL for a failure of this server; null for a message that gets no answer.
 */
export function serverFailure(bytes: Buffer): Buffer | null {
  const asked = readQuestion(bytes);
  return asked && respond(asked, rcodes.serverFailure);
}
