// TLS of an SMTP connection: the handshake over an open socket, for STARTTLS (RFC 3207) and for TLS
// from the first byte (RFC 8314), and the check of the certificate.
import type { TLSSocket } from 'node:tls';
import { type HandshakeOptions, handshake } from '../../../platform/net/tls-handshake.ts';
import { type DaneReference, findDaneProblem } from '../dane.ts';
import type { PeerCertificate } from '../outcome.ts';
import { printable } from './reply.ts';

const mostCertificates = 5;
const longestSubject = 200;

interface SecureOptions extends HandshakeOptions {
  /** TLSA records that verify the certificate instead of the certificate authorities. */
  dane?: DaneReference | undefined;
}

/** Resolves with the encrypted socket. A failure destroys the socket and rejects. */
export function secure({ dane, ...options }: SecureOptions): Promise<TLSSocket> {
  if (!dane) return handshake(options);
  const { clock } = options;
  const findProblem = (secured: TLSSocket) => {
    const problem = findDaneProblem(secured, dane, clock.now());
    return problem === null ? null : `DANE: ${problem}`;
  };
  return handshake({ ...options, host: dane.serverName ?? options.host, findProblem });
}

/** Returns version and cipher as shown in the attempt history: `TLSv1.3 TLS_AES_256_GCM_SHA384`. */
export function describeTls(socket: TLSSocket): string {
  const cipher = socket.getCipher();
  return `${socket.getProtocol() ?? 'TLS'} ${cipher.standardName ?? cipher.name}`;
}

/** Returns the certificates of the server, leaf first: five at most. */
export function certificatesOf(socket: TLSSocket): PeerCertificate[] {
  const shown: PeerCertificate[] = [];
  let next = socket.getPeerX509Certificate();
  while (next && shown.length < mostCertificates) {
    const names = /^CN=(.*)$/m.exec(next.subject) ?? /=(.*)$/m.exec(next.subject);
    const sha256 = next.fingerprint256.replaceAll(':', '').toLowerCase();
    shown.push({ subject: printable(names?.[1] ?? '').slice(0, longestSubject), sha256 });
    next = next.issuerCertificate;
  }
  return shown;
}

/** Describes how the identity of the server is proven. */
export function describeProof(socket: TLSSocket, dane: DaneReference | undefined): string {
  if (dane) return 'certificate proven by DANE';
  if (socket.authorized) return 'certificate proven';
  return `certificate not proven: ${String(socket.authorizationError)}`;
}
