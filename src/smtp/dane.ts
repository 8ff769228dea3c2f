// DANE for SMTP (RFC 7672): the TLSA records of a mail host, and whether what it shows in the TLS
// handshake matches them. That MX and address answers are authenticated is the caller's condition;
// what a host without usable records must show instead is way.ts.

import { createHash, X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { messageOf } from '../errors.ts';
import { type Dns, DnsError, type TlsaRecord } from '../net/dns.ts';

/** What a certificate has to match. */
export interface DaneReference {
  /** Usable ones alone; never empty. */
  records: readonly TlsaRecord[];
  /** For SNI: the name that the records were found at (RFC 7672 8.1). */
  serverName: string;
  /** For records of usage 2 the certificate must carry one of these (RFC 7672 3.2.2). */
  names: readonly string[];
}

/**
 * `none`: the host publishes nothing that is authenticated. `unusable`: it does, but nothing that we
 * can check, which demands TLS without proof (RFC 7672 2.2). `failed`: not to be known now, so that
 * the host must not be used.
 */
export type DaneAnswer =
  | { kind: 'none' }
  | { kind: 'unusable' }
  | { kind: 'usable'; reference: DaneReference }
  | { kind: 'failed'; why: string };

const trustAnchor = 2;
const endEntity = 3;
const hashes = { 1: { name: 'sha256', bytes: 32 }, 2: { name: 'sha512', bytes: 64 } } as const;
const maxChain = 10;
/** A certificate of a host is seldom above 4 KB; the whole chain may be in the records. */
const maxAliases = 8;

/** Usages 0 and 1 mean nothing for SMTP (RFC 7672 3.1.3); what is of a wrong length never matches. */
function isUsable({ usage, selector, matchingType, certificate }: TlsaRecord): boolean {
  if (usage !== trustAnchor && usage !== endEntity) return false;
  if (selector !== 0 && selector !== 1) return false;
  if (matchingType === 1 || matchingType === 2) {
    return certificate.length === hashes[matchingType].bytes;
  }
  return matchingType === 0 && certificate.length > 0;
}

/** The end of the host's CNAMEs, which are as authenticated as the addresses at their end. */
async function expand(dns: Dns, host: string): Promise<string> {
  let name = host;
  for (let step = 0; step < maxAliases; step += 1) {
    try {
      const [target] = await dns.resolve(name, 'CNAME');
      if (typeof target !== 'string') return name;
      name = target.toLowerCase().replace(/\.$/, '');
    } catch (error) {
      if (error instanceof DnsError && !error.temporary) return name;
      throw error;
    }
  }
  return name;
}

async function findRecords(dns: Dns, host: string, port: number) {
  const names = [...new Set([await expand(dns, host), host])];
  for (const name of names) {
    const { records, authenticated } = await dns.tlsa(`_${port}._tcp.${name}`);
    if (authenticated && records.length > 0) return { records, name };
  }
  return null;
}

/**
 * What DANE demands of `host`, whose MX and address answers were authenticated. `domain` is the
 * recipient domain that led there. Never rejects for what the DNS says.
 */
export async function findDane(
  dns: Dns,
  { host, port, domain }: { host: string; port: number; domain: string },
): Promise<DaneAnswer> {
  try {
    const found = await findRecords(dns, host, port);
    if (!found) return { kind: 'none' };
    const records = found.records.filter(isUsable);
    if (records.length === 0) return { kind: 'unusable' };
    const names = [...new Set([found.name, host, domain])];
    return { kind: 'usable', reference: { records, serverName: found.name, names } };
  } catch (error) {
    if (error instanceof DnsError) return { kind: 'failed', why: error.message };
    throw error;
  }
}

/** Leaf first, as the server sent them. */
function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let peer: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  const seen = new Set<string>();
  while (peer?.raw && !seen.has(peer.fingerprint256) && chain.length < maxChain) {
    seen.add(peer.fingerprint256);
    chain.push(new X509Certificate(peer.raw));
    peer = peer.issuerCertificate;
  }
  return chain;
}

function matches({ selector, matchingType, certificate }: TlsaRecord, shown: X509Certificate) {
  const selected =
    selector === 0 ? shown.raw : shown.publicKey.export({ type: 'spki', format: 'der' });
  const hash = matchingType === 1 || matchingType === 2 ? hashes[matchingType].name : null;
  const value = hash ? createHash(hash).update(selected).digest() : selected;
  return value.equals(certificate);
}

function isValidAt(certificate: X509Certificate, now: number): boolean {
  return certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime();
}

/** Each is signed by the next, which is a CA's; none is expired. */
function isSignedUpTo(chain: readonly X509Certificate[], now: number): boolean {
  return chain.every((certificate, index) => {
    const issuer = chain[index + 1];
    if (!isValidAt(certificate, now)) return false;
    if (!issuer) return true;
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  });
}

function judgeAnchored(
  chain: readonly X509Certificate[],
  names: readonly string[],
  records: readonly TlsaRecord[],
  now: number,
): string | null {
  const [leaf] = chain;
  const anchorAt = chain.findIndex(
    (certificate, index) => index > 0 && records.some((record) => matches(record, certificate)),
  );
  if (!leaf || anchorAt === -1) return 'no certificate of the server matches its TLSA records';
  if (!isSignedUpTo(chain.slice(0, anchorAt + 1), now)) {
    return 'the certificates up to the one of the TLSA record are broken or expired';
  }
  if (names.some((name) => leaf.checkHost(name) !== undefined)) return null;
  return `the certificate is for none of ${names.join(', ')}`;
}

/**
 * Why the server of an encrypted connection is not the one that the records describe, or null. For
 * usage 3 the key alone counts, whatever names and dates stand in the certificate (RFC 7672 3.1.1);
 * for usage 2 chain, dates and name count too. Path length and name constraints of the CAs in between
 * are not looked at.
 */
export function findDaneProblem(
  socket: TLSSocket,
  { records, names }: DaneReference,
  now: number,
): string | null {
  try {
    const chain = chainOf(socket);
    const [leaf] = chain;
    if (!leaf) return 'the server showed no certificate';
    const isOwn = records.some((record) => record.usage === endEntity && matches(record, leaf));
    if (isOwn) return null;
    const anchors = records.filter(({ usage }) => usage === trustAnchor);
    return judgeAnchored(chain, names, anchors, now);
  } catch (error) {
    // Certificates are strangers' bytes: what cannot be read does not match.
    return `a certificate of the server cannot be read: ${messageOf(error)}`;
  }
}
