// The TLS side of an SMTP connection: the handshake over an open socket, for STARTTLS (RFC 3207) and for TLS
// from the first byte (RFC 8314), and the check of the certificate.
import { isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type DaneReference, findDaneProblem } from './dane.ts';
import type { PeerCertificate } from './outcome.ts';
import { printable } from './reply.ts';

const mostCertificates = 5;
const longestSubject = 200;

export interface HandshakeOptions {
  socket: Socket;
  /** Name that a verified certificate must carry; also sent as SNI. */
  host: string;
  /** Verifies by the certificate authorities of this machine. */
  verifyCertificate: boolean;
  /** Verifies by these TLSA records instead. */
  dane?: DaneReference | undefined;
  clock: Clock;
  timeoutMs: number;
}

/*
 * One context serves all connections: a new one costs 200 of the 800 µs of a connection (P-256, TLS 1.3,
 * measured on loopback), because it loads all certificate authorities. Resumed sessions would save 80 µs
 * more, under 1 µs per message at 100 messages a connection. They are not used, because a resumed session
 * shows no certificate to check.
 */
let shared: SecureContext | undefined;

/** Resolves with the encrypted socket. On any failure destroys it and rejects with an Error. */
export function handshake(options: HandshakeOptions): Promise<TLSSocket> {
  const { socket, host, verifyCertificate, dane, clock, timeoutMs } = options;
  const serverName = dane?.serverName ?? host;
  shared ??= createSecureContext();
  const secureContext = shared;
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      host,
      secureContext,
      ...(isIP(serverName) === 0 && { servername: serverName }),
      rejectUnauthorized: verifyCertificate && !dane,
    });
    const cancel = clock.after(timeoutMs, () => {
      fail(new Error(`no TLS handshake within ${timeoutMs / 1000} s`));
    });
    const onClose = () => fail(new Error('the server closed the connection'));
    function fail(error: Error) {
      cancel();
      secured.destroy();
      reject(error);
    }
    secured.on('error', fail).once('close', onClose);
    secured.once('secureConnect', () => {
      const problem = dane ? findDaneProblem(secured, dane, clock.now()) : null;
      if (problem !== null) return fail(new Error(`DANE: ${problem}`));
      cancel();
      secured.off('error', fail).off('close', onClose);
      resolve(secured);
    });
  });
}

/** Returns version and cipher as shown in the attempt history: `TLSv1.3 TLS_AES_256_GCM_SHA384`. */
export function describeTls(socket: TLSSocket): string {
  const cipher = socket.getCipher();
  return `${socket.getProtocol() ?? 'TLS'} ${cipher.standardName ?? cipher.name}`;
}

/** Returns the certificates that the server showed, its own first: five at most. */
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

/** Describes in words how the identity of the server is proven. */
export function describeProof(socket: TLSSocket, dane: DaneReference | undefined): string {
  if (dane) return 'certificate proven by DANE';
  if (socket.authorized) return 'certificate proven';
  return `certificate not proven: ${String(socket.authorizationError)}`;
}
