// Rules for URLs of endpoints. Checks the URL when it is registered, and each address of its host
// when a connection is made, so that a registered name cannot lead to a forbidden address later.
import { isIP } from 'node:net';
import type { App } from '../core/app.ts';
import { listenersOf } from '../core/config/listeners.ts';
import { isPublicAddress, isThisMachine } from '../platform/net/network-address.ts';

const longestUrl = 2048;
/** Ports of mail and databases, which may take a POST for commands. */
const deniedPorts: ReadonlySet<number> = new Set([0, 25, 465, 587, 3306, 5432, 6379]);
const portOf: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Advice to register no private address, for the answer to a developer. */
const localAdvice =
  ': follow the events on this machine with "svc webhooks listen --forward-to URL", or set ' +
  'webhooks.allowPrivateAddresses in the configuration';

/** Destination of a connection. */
export interface Target {
  isSecure: boolean;
  /** A name in A-labels, or an address without brackets. */
  host: string;
  port: number;
}

type Surroundings = Pick<App, 'boundPorts' | 'config' | 'dns' | 'publicUrl'>;

/** Parses the URL into its stored form, or returns the problem with its text. */
function parseEndpointUrl(text: string): { url: URL } | { problem: string } {
  if (text.length > longestUrl) return { problem: `has more than ${longestUrl} characters` };
  // `URL` would drop or repair these characters; other parsers would not.
  if (/[\s\\]|\p{Cc}/u.test(text)) {
    return { problem: 'has white space, a control character or a backslash' };
  }
  if (!URL.canParse(text)) return { problem: 'is not an absolute URL' };
  const url = new URL(text);
  if (!(url.protocol in portOf)) return { problem: 'must begin with https:// or http://' };
  if (!/^https?:\/\/[^/]/i.test(text)) return { problem: 'is not an absolute URL' };
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) {
    return { problem: 'has a user name or password: use a header of the endpoint' };
  }
  if (url.href.length > longestUrl) return { problem: `has more than ${longestUrl} characters` };
  const { port } = targetOf(url);
  if (deniedPorts.has(port)) return { problem: `has port ${port}, which posts may not use` };
  return { url };
}

export function targetOf(url: URL): Target {
  const port = url.port === '' ? portOf[url.protocol] : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return { isSecure: url.protocol === 'https:', host, port: port ?? 0 };
}

/**
 * Returns the reason to refuse this URL; null if it is allowed. The text continues a sentence that
 * begins with the name of the field. Allows a name that cannot be resolved now, as each connection
 * checks again.
 */
export async function urlProblem(app: Surroundings, text: string): Promise<string | null> {
  const parsed = parseEndpointUrl(text);
  if ('problem' in parsed) return parsed.problem;
  const target = targetOf(parsed.url);
  const { allowPrivateAddresses } = app.config.webhooks;
  const problem = hostProblem(app, target);
  if (problem !== null && !allowPrivateAddresses && isLocalName(target.host)) {
    return `${problem}${localAdvice}`;
  }
  if (problem !== null) return problem;
  const isAnyAllowed = allowPrivateAddresses && !isOwnPort(app, target.port);
  if (isAnyAllowed) return null;
  const addresses = await addressesOf(app, target.host).catch(() => []);
  const refused = addressProblem(app, target, addresses);
  const isPrivate = !(allowPrivateAddresses || addresses.every(isPublicAddress));
  return refused !== null && isPrivate ? `${refused}${localAdvice}` : refused;
}

/** Returns the reason to refuse a target that needs no look-up of addresses. */
export function hostProblem(app: Surroundings, target: Target): string | null {
  const { allowPrivateAddresses } = app.config.webhooks;
  if (!allowPrivateAddresses && isLocalName(target.host))
    return `names this machine (${target.host})`;
  const isOurs = [app.config.http.publicUrl, app.publicUrl.current].some((text) => {
    if (text === null || !URL.canParse(text)) return false;
    const own = targetOf(new URL(text));
    return own.host === target.host && own.port === target.port;
  });
  return isOurs ? 'is the address of this service' : null;
}

/**
 * Returns the reason to refuse one of these addresses of the host. Refuses listeners of this service even
 * if private addresses are allowed.
 */
export function addressProblem(
  app: Surroundings,
  { host, port }: Target,
  addresses: readonly string[],
): string | null {
  const { allowPrivateAddresses } = app.config.webhooks;
  const refused = addresses.find((address) => !allowPrivateAddresses && !isPublicAddress(address));
  if (refused !== undefined) {
    return refused === host
      ? `has the address ${refused}, which is not public`
      : `leads to ${refused} (${host}), which is not public`;
  }
  const isOurs = isOwnPort(app, port) && addresses.some(isThisMachine);
  return isOurs ? 'leads to a listener of this service' : null;
}

/** The addresses of a host, IPv4 first. Rejects as `app.dns` does. */
export async function addressesOf({ dns }: Pick<App, 'dns'>, host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  // Local names are never looked up in the DNS (RFC 6761 6.3).
  if (isLocalName(host)) return ['127.0.0.1', '::1'];
  const { ipv4, ipv6 } = await dns.addresses(host);
  return [...ipv4, ...ipv6];
}

function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

/** Tells whether a port belongs to a listener of ours, as configured or, for port 0, as bound. */
function isOwnPort({ config, boundPorts }: Surroundings, port: number): boolean {
  return boundPorts.has(port) || listenersOf(config).some((one) => one.port === port);
}
