// The DNS resolver of this service: looks up MX, address, TXT, TLSA and CAA records at the servers
// in `dns.servers`, and has methods in the form of node:dns for mailauth. Decides nothing about
// mail. Checks every answer, because answers are untrusted.
import { getServers } from 'node:dns';
import { isIPv4, isIPv6 } from 'node:net';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { createDnsAsker, DnsError, patience } from './dns-ask.ts';
import { createAnswers, createLookup, type Found, type Lookup } from './dns-lookup.ts';
import type { DnsRecord, RecordType } from './dns-wire.ts';
import { foldName, isHostName, isQueryName } from './dns-wire.ts';

export { DnsError };

export interface MxAnswer {
  /** Records by preference, lowest first. Empty for a null MX. */
  records: { exchange: string; preference: number }[];
  /** Whether the domain declares that it receives no mail (RFC 7505). */
  nullMx: boolean;
  authenticated: boolean;
}

interface AddressAnswer {
  ipv4: string[];
  ipv6: string[];
  authenticated: boolean;
}

export interface TlsaRecord {
  usage: number;
  selector: number;
  matchingType: number;
  certificate: Buffer;
}

interface TlsaAnswer {
  records: TlsaRecord[];
  authenticated: boolean;
}

/** A CAA record (RFC 8659 4.1). */
export interface CaaRecord {
  /** Whether an issuer that does not know the tag must refuse to issue. */
  isCritical: boolean;
  /** Tag in lower case: `issue`, `issuewild`, `iodef`, … */
  tag: string;
  value: string;
}

/**
 * The resolver. Names are A-labels in any case, with or without the trailing dot. `authenticated`:
 * all answers had the AD bit. At most 200 records of a type are kept. Methods reject with a
 * DnsError.
 */
export interface Dns {
  mx(name: string): Promise<MxAnswer>;
  /**
   * Looks up A and AAAA together. If the look-up of a type fails, returns the addresses of the
   * remaining type. Rejects if no address was found.
   */
  addresses(name: string): Promise<AddressAnswer>;
  /** Returns the TXT records, each with the strings joined. */
  txt(name: string): Promise<string[]>;
  /**
   * Returns the TLSA records: none if the name or the type is missing. Rejects only for a failed
   * look-up.
   */
  tlsa(name: string): Promise<TlsaAnswer>;
  /**
   * Returns the CAA records of exactly this name, after CNAMEs; none if the name or the type is
   * missing.
   */
  caa(name: string): Promise<CaaRecord[]>;
  /**
   * Resolves A, AAAA, CNAME, MX, NS, PTR and TXT as `resolve` of node:dns/promises does; errors
   * have the same codes (ENOTFOUND, ENODATA, …).
   * @throws TypeError for a different type.
   */
  resolve(name: string, type: string): Promise<unknown[]>;
  /**
   * Resolves as `resolve` does, with short time-outs for a waiting client: gives up on a silent
   * server after 1.5 s instead of 8 s.
   */
  resolveSoon(name: string, type: string): Promise<unknown[]>;
  /** Aborts all pending look-ups; later look-ups reject. */
  close(): void;
}

interface DnsOptions {
  /** Servers as `IP`, `IPv4:port` or `[IPv6]:port`; if empty, the servers of the system. */
  servers: readonly string[];
  clock: Clock;
  random: Random;
}

/** Creates the resolver. It opens no socket before the first question. */
export function createDns({ servers, clock, random }: DnsOptions): Dns {
  const used = servers.length > 0 ? servers : getServers();
  const asker = createDnsAsker({ servers: used, clock, random });
  const answers = createAnswers();
  const cached = createLookup(asker.ask, clock, answers);
  const hurried = createLookup(
    (name, type) => asker.ask(name, type, patience.short),
    clock,
    answers,
  );
  const lookup: Lookup = async (name, type) => cached(hostName(name), type);
  return {
    mx: async (name) => readMx(name, await lookup(name, 'MX')),
    addresses: (name) => findAddresses(lookup, name),
    txt: async (name) => (await lookup(name, 'TXT')).records.map((r) => textChunks(r).join('')),
    tlsa: (name) => findTlsa(lookup, name),
    caa: (name) => findCaa(lookup, name),
    resolve: (name, type) => resolveOver(cached, name, type),
    resolveSoon: (name, type) => resolveOver(hurried, name, type),
    close: () => asker.close(),
  };
}

async function resolveOver(lookup: Lookup, name: string, type: string): Promise<unknown[]> {
  const shape = shapes[type.toUpperCase()];
  if (!shape) throw new TypeError(`resolve does not know records of type ${type}`);
  const values = (await lookup(queryName(name), shape.type)).records.flatMap(shape.read);
  if (values.length > 0) return values;
  throw new DnsError('malformed', `${type} ${name}`, 'no record of it can be read');
}

function queryName(name: string): string {
  const folded = foldName(name);
  if (!isQueryName(folded)) throw badName(name);
  return folded;
}

function hostName(name: string): string {
  const folded = foldName(name);
  if (!isHostName(folded)) throw badName(name);
  return folded;
}

function badName(name: string): DnsError {
  const shown = JSON.stringify(name.slice(0, 253));
  const options = { temporary: false, code: 'EBADNAME' };
  return new DnsError('malformed', shown, 'not a domain name', options);
}

function readMx(name: string, { records, authenticated }: Found): MxAnswer {
  const all = records.flatMap((record) => (record.type === 'MX' ? [record.data] : []));
  if (all.every(({ exchange }) => exchange === '.')) {
    return { records: [], nullMx: true, authenticated };
  }
  const usable = all
    .filter(({ exchange }) => isHostName(exchange))
    .map(({ exchange, preference = 0 }) => ({ exchange, preference }))
    .sort((a, b) => a.preference - b.preference);
  if (usable.length === 0) {
    const options = { temporary: false };
    throw new DnsError('malformed', `MX ${name}`, 'no record of it names a host', options);
  }
  return { records: usable, nullMx: false, authenticated };
}

async function findAddresses(lookup: Lookup, name: string): Promise<AddressAnswer> {
  const answers = await Promise.allSettled([lookup(name, 'A'), lookup(name, 'AAAA')]);
  const found = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const records = found.flatMap((each) => each.records);
  const ipv4 = records.flatMap(addressOf('A'));
  const ipv6 = records.flatMap(addressOf('AAAA'));
  if (ipv4.length + ipv6.length > 0) {
    return { ipv4, ipv6, authenticated: found.every((each) => each.authenticated) };
  }
  const errors = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  throw worstOf(errors) ?? new DnsError('malformed', `A ${name}`, 'no record of it is an address');
}

/**
 * Returns the error to throw: first an unexpected error, then a temporary DnsError, then an error
 * that proves that the name exists. Undefined without errors.
 */
function worstOf(errors: readonly unknown[]): unknown {
  const known = errors.filter((error) => error instanceof DnsError);
  const unknown = errors.find((error) => !(error instanceof DnsError));
  const temporary = known.find((error) => error.temporary);
  return unknown ?? temporary ?? known.find(({ kind }) => kind === 'no-data') ?? known[0];
}

async function findTlsa(lookup: Lookup, name: string): Promise<TlsaAnswer> {
  try {
    const { records, authenticated } = await lookup(name, 'TLSA');
    const tlsa = records.flatMap((record) => (record.type === 'TLSA' ? [record.data] : []));
    // Copies, because a slice would keep the whole message in memory.
    const copies = tlsa.map((data) => ({ ...data, certificate: Buffer.from(data.certificate) }));
    return { records: copies, authenticated };
  } catch (error) {
    if (isMissing(error)) return { records: [], authenticated: false };
    throw error;
  }
}

/** Tells whether an error means a missing name, or no record of the type (NXDOMAIN, NODATA). */
export function isMissing(error: unknown): boolean {
  return error instanceof DnsError && ['not-found', 'no-data'].includes(error.kind);
}

async function findCaa(lookup: Lookup, name: string): Promise<CaaRecord[]> {
  try {
    const { records } = await lookup(name, 'CAA');
    return records.flatMap((record) => {
      if (record.type !== 'CAA') return [];
      const { flags = 0, tag, value } = record.data;
      return [{ isCritical: (flags & 0x80) !== 0, tag: tag.toLowerCase(), value: String(value) }];
    });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Returns a function that reads the address of a record. It drops addresses of the wrong length,
 * which the wire format allows.
 */
function addressOf(type: 'A' | 'AAAA'): (record: DnsRecord) => string[] {
  const isAddress = type === 'A' ? isIPv4 : isIPv6;
  return (record) => (record.type === type && isAddress(record.data) ? [record.data] : []);
}

function textChunks(record: DnsRecord): string[] {
  if (record.type !== 'TXT') return [];
  const chunks = Array.isArray(record.data) ? record.data : [record.data];
  return chunks.map((chunk) => (typeof chunk === 'string' ? chunk : chunk.toString('utf8')));
}

function targetOf(record: DnsRecord): string[] {
  const names = record.type === 'CNAME' || record.type === 'NS' || record.type === 'PTR';
  return names && isHostName(record.data) ? [record.data] : [];
}

/**
 * Functions by type that convert DNS records into the values of node:dns. A null MX has the
 * exchange ''.
 */
const shapes: Record<string, { type: RecordType; read: (record: DnsRecord) => unknown[] }> = {
  A: { type: 'A', read: addressOf('A') },
  AAAA: { type: 'AAAA', read: addressOf('AAAA') },
  CNAME: { type: 'CNAME', read: targetOf },
  NS: { type: 'NS', read: targetOf },
  PTR: { type: 'PTR', read: targetOf },
  TXT: { type: 'TXT', read: (record) => [textChunks(record)] },
  MX: {
    type: 'MX',
    read(record) {
      if (record.type !== 'MX') return [];
      const { exchange, preference = 0 } = record.data;
      return [{ exchange: exchange === '.' ? '' : exchange, priority: preference }];
    },
  },
};
