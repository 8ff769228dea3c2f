// The TLS side of an SMTP connection: the handshake over an open socket, for STARTTLS (RFC 3207) and
// for TLS from the first byte (RFC 8314).
import { isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { Clock } from '../clock.ts';

export interface HandshakeOptions {
  socket: Socket;
  /** The name that the certificate must carry when it is verified; also sent as SNI. */
  host: string;
  verifyCertificate: boolean;
  clock: Clock;
  timeoutMs: number;
}

/** Resolves with the encrypted socket. Rejects with an Error (and destroys it) on any failure. */
export function handshake(options: HandshakeOptions): Promise<TLSSocket> {
  const { socket, host, verifyCertificate, clock, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      host,
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: verifyCertificate,
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
      cancel();
      secured.off('error', fail).off('close', onClose);
      resolve(secured);
    });
  });
}

/** Version and cipher as the attempt history shows them: `TLSv1.3 TLS_AES_256_GCM_SHA384`. */
export function describeTls(socket: TLSSocket): string {
  const cipher = socket.getCipher();
  return `${socket.getProtocol() ?? 'TLS'} ${cipher.standardName ?? cipher.name}`;
}
