// Decides whether a certificate is valid for a host: our own certificate, or that of a proxy in
// front. The clock of the App decides about the time, not OpenSSL.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { App } from '../../../../core/app.ts';
import { messageOf } from '../../../../platform/errors.ts';
import { dialSocket } from '../../../../platform/net/dial.ts';
import type { Dns } from '../../../../platform/net/dns.ts';
import { trackingTarget } from '../target.ts';

/** Start and end in ms since 1970. */
export interface Validity {
  from: number;
  until: number;
}

export type CertificateFinding =
  | { found: 'valid'; validity: Validity }
  | { found: 'expired'; validity: Validity; message: string }
  | { found: 'mismatch'; message: string }
  /** No server presents a certificate. */
  | { found: 'none'; message: string };

const lookMs = 5_000;
const mostAddresses = 3;

function validityOf(certificate: X509Certificate): Validity {
  return { from: Date.parse(certificate.validFrom), until: Date.parse(certificate.validTo) };
}

function judge(certificate: X509Certificate, hostname: string, now: number): CertificateFinding {
  // Reads only alternative names: browsers ignore the subject (RFC 9110 4.3.4).
  if (certificate.checkHost(hostname, { subject: 'never' }) === undefined) {
    const names = (certificate.subjectAltName ?? 'none').slice(0, 200);
    return { found: 'mismatch', message: `the certificate is not for ${hostname}: ${names}` };
  }
  const validity = validityOf(certificate);
  const at = (ms: number) => new Date(ms).toISOString();
  if (validity.until <= now) {
    return { found: 'expired', validity, message: `the certificate expired ${at(validity.until)}` };
  }
  // Authorities set the start back by an hour, because clocks differ.
  if (validity.from <= now + 3600_000) return { found: 'valid', validity };
  return { found: 'mismatch', message: `the certificate starts ${at(validity.from)}` };
}

/** Judges the first certificate of a PEM chain that was issued for our key. */
export function judgeIssued(
  chain: string,
  keyPem: string,
  hostname: string,
  now: number,
): CertificateFinding {
  try {
    const certificate = new X509Certificate(chain);
    if (certificate.checkPrivateKey(createPrivateKey(keyPem))) {
      return judge(certificate, hostname, now);
    }
    return {
      found: 'mismatch',
      message: 'the certificate is for another key than the requested one',
    };
  } catch (error) {
    return { found: 'mismatch', message: `the certificate cannot be read: ${messageOf(error)}` };
  }
}

/** TLS errors that do not concern the trust in the chain. We check times and names ourselves. */
const judgedByUs = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function judgeShown(socket: TLSSocket, hostname: string, now: number): CertificateFinding {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return { found: 'none', message: 'no certificate was shown' };
  const finding = judge(certificate, hostname, now);
  const error: unknown = socket.authorizationError;
  const code = String((error as { code?: unknown } | null)?.code ?? error ?? '');
  if (finding.found !== 'valid' || socket.authorized || judgedByUs.has(code)) return finding;
  return { found: 'mismatch', message: `the certificate is not trusted: ${code}` };
}

async function addressesOf(dns: Dns, target: string): Promise<string[]> {
  if (isIP(target) !== 0) return [target];
  if (target === 'localhost') return ['127.0.0.1', '::1'];
  const { ipv4, ipv6 } = await dns.addresses(target);
  return [...ipv4, ...ipv6].slice(0, mostAddresses);
}

/**
 * Judges the certificate that a server at the operator's own name presents for `hostname`. Never
 * connects to an address from a customer's records. Never rejects.
 */
export async function inspectShown(
  app: App,
  dns: Dns,
  hostname: string,
  signal: AbortSignal,
): Promise<CertificateFinding> {
  const target = trackingTarget(app.config);
  const port = app.config.tracking.https.publicPort;
  let message = 'it has no address';
  try {
    for (const address of await addressesOf(dns, target)) {
      try {
        return await handshakeWith(app, { address, port, hostname, signal });
      } catch (error) {
        message = `${address}: ${messageOf(error)}`;
      }
    }
  } catch (error) {
    message = messageOf(error);
  }
  return { found: 'none', message: `${target} shows no certificate at port ${port}: ${message}` };
}

interface Look {
  address: string;
  port: number;
  hostname: string;
  signal: AbortSignal;
}

async function handshakeWith(
  app: App,
  { address, port, hostname, signal }: Look,
): Promise<CertificateFinding> {
  const { clock } = app;
  const connector = app.connect ?? connectTcp;
  const dialled = { address, port, connector, clock, timeoutMs: lookMs, signal };
  const socket = await dialSocket(dialled);
  try {
    return await new Promise<CertificateFinding>((resolve, reject) => {
      const secured = connectTls({ socket, servername: hostname, rejectUnauthorized: false });
      const cancel = clock.after(lookMs, () => fail(new Error(`no TLS in ${lookMs / 1000} s`)));
      function fail(error: Error) {
        cancel();
        reject(error);
      }
      secured.on('error', fail).once('close', () => fail(new Error('the connection was closed')));
      secured.once('secureConnect', () => {
        cancel();
        resolve(judgeShown(secured, hostname, clock.now()));
      });
    });
  } finally {
    socket.destroy();
  }
}
