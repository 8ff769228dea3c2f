// DANE for SMTP (RFC 7672): looks up the TLSA records of a mail host and checks the certificate of
// the host against them. The caller ensures that the MX and address answers are authenticated.
// way.ts decides which TLS a host without usable records needs.

import { createHash, X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { messageOf } from '../../platform/errors.ts';
import { type Dns, DnsError, type TlsaRecord } from '../../platform/net/dns.ts';

/** TLSA records and names that a certificate must match. */
export interface DaneReference {
  /** Usable records only; never empty. */
  records: readonly TlsaRecord[];
  /** Server name to send (SNI): the name that has the records (RFC 7672 8.1). */
  serverName: string;
  /** Names of which the certificate must have one, for records of usage 2 (RFC 7672 3.2.2). */
  names: readonly string[];
}

/**
 * `none`: the host publishes no authenticated records. `unusable`: none of its records can be
 * checked, which requires TLS without proof (RFC 7672 2.2). `failed`: the records cannot be looked
 * up now, so the host must not be used.
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
/** Longest chain of CNAMEs that is followed. */
const maxAliases = 8;

/**
 * Returns false for usages 0 and 1, which SMTP does not use (RFC 7672 3.1.3), for unknown values,
 * and for hashes of the wrong length, which never match.
 */
function isUsable({ usage, selector, matchingType, certificate }: TlsaRecord): boolean {
  if (usage !== trustAnchor && usage !== endEntity) return false;
  if (selector !== 0 && selector !== 1) return false;
  if (matchingType === 1 || matchingType === 2) {
    return certificate.length === hashes[matchingType].bytes;
  }
  return matchingType === 0 && certificate.length > 0;
}

/**
 * Follows at most 8 CNAMEs of the host, and returns the last name. The CNAMEs are authenticated if
 * the addresses of the last name are.
 */
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
 * Returns the requirements of DANE for `host`. The MX and address answers must be authenticated.
 * `domain` is the recipient domain of the MX. Never rejects because of a DNS answer.
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

/** Returns the certificates leaf first, as the server sent them. */
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

/**
 * Returns true if each certificate is signed by the next, which must be a CA, and none is expired.
 */
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
 * Returns the reason why the server of an encrypted connection does not match the records, or null.
 * For usage 3 only the key counts, not names or dates (RFC 7672 3.1.1). For usage 2 chain, dates
 * and name count too; path length and name constraints of intermediate CAs are not checked.
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
    // An unreadable certificate from the server does not match.
    return `a certificate of the server cannot be read: ${messageOf(error)}`;
  }
}
