// Connects to the origin of a URL. The guard judges every address of the host, and exactly a judged
// address is dialled: no second look-up lies between.
import { connect, isIP, type Socket } from 'node:net';
import { messageOf } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Connector, dialSocket } from '../dial.ts';
import type { Dns } from '../dns.ts';
import { isPublicAddress } from '../network-address.ts';
import { handshake } from '../tls-handshake.ts';
import { HttpError } from './answer.ts';

/** Addresses of a host to try in turn. */
const mostAddresses = 3;
const portOf: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Destination of a connection. */
export interface Target {
  isSecure: boolean;
  /** A name in A-labels, or an address without brackets. */
  host: string;
  port: number;
}

/**
 * Decides which targets may be connected to. Each function returns the reason of a refusal, or
 * null.
 */
export interface AddressGuard {
  /** Refuses a target without a look-up. */
  hostProblem(target: Target): string | null;
  /** Refuses a target by any address of the target. */
  addressProblem(target: Target, addresses: readonly string[]): string | null;
}

/** Capabilities of outgoing HTTP. `connect` replaces the TCP connection in tests. */
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

/** Tells whether a host means this machine by name (RFC 6761 6.3). */
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

/** Refuses every target that has an address which is not public. */
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
  /** Most time for the TCP connections, and for the TLS handshake, in ms. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Connects, with TLS and a verified certificate for https. @throws HttpError */
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
