// Performs the TLS handshake of a client over an open socket, for HTTPS and SMTP.
import { isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/clock.ts';

export interface HandshakeOptions {
  socket: Socket;
  /** Name that a verified certificate must have; also sent as SNI. */
  host: string;
  /** Whether to verify the certificate by the certificate authorities of this machine. */
  verifyCertificate: boolean;
  /**
   * Returns the fault of the server's certificate, or null. If set, decides instead of the
   * certificate authorities.
   */
  findProblem?: ((secured: TLSSocket) => string | null) | undefined;
  clock: Clock;
  timeoutMs: number;
}

/*
 * A single context serves all connections. A new context costs 200 of the 800 µs of a connection
 * (P-256, TLS 1.3, on loopback), because it loads all certificate authorities. Resumed sessions
 * would save 80 µs more, under 1 µs per message at 100 messages a connection. They are not used,
 * because a resumed session has no certificate to check.
 */
let shared: SecureContext | undefined;

/** Resolves with the encrypted socket. A failure destroys the socket and rejects. */
export function handshake(options: HandshakeOptions): Promise<TLSSocket> {
  const { socket, host, verifyCertificate, findProblem, clock, timeoutMs } = options;
  shared ??= createSecureContext();
  const secureContext = shared;
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      host,
      secureContext,
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: verifyCertificate && !findProblem,
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
      const problem = findProblem?.(secured) ?? null;
      if (problem !== null) return fail(new Error(problem));
      cancel();
      secured.off('error', fail).off('close', onClose);
      resolve(secured);
    });
  });
}
