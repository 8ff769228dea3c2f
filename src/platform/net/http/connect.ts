// Connects to the origin of a URL. A guard checks every address of the host. The checked address is
// dialled, without a second look-up.
import { connect, isIP, type Socket } from 'node:net';
import { messageOf } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Connector, dialSocket } from '../dial.ts';
import type { Dns } from '../dns.ts';
import { isPublicAddress } from '../network-address.ts';
import { handshake } from '../tls-handshake.ts';
import { HttpError } from './answer.ts';

/** Most addresses of a host that are tried in turn. */
const mostAddresses = 3;
const portOf: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Destination of a connection. */
export interface Target {
  isSecure: boolean;
  /** Host as a name in A-labels, or an address without brackets. */
  host: string;
  port: number;
}

/**
 * Decides to which targets connections are allowed. Each function returns the reason for a refusal;
 * null to allow the target.
 */
export interface AddressGuard {
  /** Checks a target before the look-up. */
  hostProblem(target: Target): string | null;
  /** Checks all addresses of a target after the look-up. */
  addressProblem(target: Target, addresses: readonly string[]): string | null;
}

/** Dependencies of outgoing HTTP. Tests replace the TCP connection by `connect`. */
export interface HttpParts {
  dns: Dns;
  clock: Clock;
  connect?: Connector | undefined;
}

export function targetOf(url: URL): Target {
  const port = url.port === '' ? portOf[url.protocol] : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return { isSecure: url.protocol === 'https:', host, port: port ?? 0 };
}

/** Tells whether a host is a name of this machine (RFC 6761 6.3). */
export function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

/** Returns the addresses of a host, IPv4 first. Rejects as `dns` does. */
export async function addressesOf(
  { dns }: Pick<HttpParts, 'dns'>,
  host: string,
): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  // Local names are never looked up in the DNS (RFC 6761 6.3).
  if (isLocalName(host)) return ['127.0.0.1', '::1'];
  const { ipv4, ipv6 } = await dns.addresses(host);
  return [...ipv4, ...ipv6];
}

/** Guard that refuses names of this machine, and targets with an address that is not public. */
export const publicOnly: AddressGuard = {
  hostProblem: ({ host }) => (isLocalName(host) ? `names this machine (${host})` : null),
  addressProblem({ host }, addresses) {
    const refused = addresses.find((address) => !isPublicAddress(address));
    if (refused === undefined) return null;
    return refused === host
      ? `has the address ${refused}, which is not public`
      : `leads to ${refused} (${host}), which is not public`;
  },
};

interface Opening {
  target: Target;
  guard: AddressGuard;
  /** Time limit in ms for all TCP connections together, and again for the TLS handshake. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * Opens a connection to the target; for https with TLS and a verified certificate. @throws
 * HttpError
 */
export async function openConnection(parts: HttpParts, opening: Opening): Promise<Socket> {
  const { target, guard, timeoutMs } = opening;
  const { host } = target;
  const refusal = guard.hostProblem(target);
  if (refusal !== null) throw new HttpError('refused-address', refusal);
  const addresses = await addressesOf(parts, host).catch((error: unknown) => {
    throw new HttpError('dns', messageOf(error));
  });
  const problem = guard.addressProblem(target, addresses);
  if (problem !== null) throw new HttpError('refused-address', problem);
  const socket = await dialOneOf(parts, addresses.slice(0, mostAddresses), opening);
  socket.setNoDelay(true);
  if (!target.isSecure) return socket;
  const { clock } = parts;
  return handshake({ socket, host, verifyCertificate: true, clock, timeoutMs }).catch(
    (error: unknown) => {
      throw new HttpError('tls', messageOf(error));
    },
  );
}

async function dialOneOf(
  parts: HttpParts,
  addresses: readonly string[],
  { target: { port }, timeoutMs: allMs, signal }: Opening,
): Promise<Socket> {
  const { clock } = parts;
  const connector = parts.connect ?? connect;
  const timeoutMs = allMs / addresses.length;
  let problem = 'its name has no address';
  for (const address of addresses) {
    try {
      return await dialSocket({ address, port, connector, clock, timeoutMs, signal });
    } catch (error) {
      problem = `${isIP(address) === 6 ? `[${address}]` : address}:${port}: ${messageOf(error)}`;
    }
  }
  throw new HttpError('connect', problem);
}
