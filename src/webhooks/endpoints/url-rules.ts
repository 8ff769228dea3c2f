// Rules for URLs of endpoints. Checks the URL when it is registered, and each address of the host
// when a connection is made, so that a registered name cannot lead to a forbidden address later.
import type { App } from '../../core/app.ts';
import { listenersOf } from '../../core/config/listeners.ts';
import {
  type AddressGuard,
  addressesOf,
  isLocalName,
  publicOnly,
  targetOf,
} from '../../platform/net/http/connect.ts';
import { isPublicAddress, isThisMachine } from '../../platform/net/network-address.ts';

const longestUrl = 2048;
/** Ports of mail and databases, which may take a POST for commands. */
const deniedPorts: ReadonlySet<number> = new Set([0, 25, 465, 587, 3306, 5432, 6379]);

/** Advice for a developer who registers a private address: no endpoint is needed. */
const localAdvice =
  ': follow the events on this machine with "svc webhooks listen --forward-to URL", or set ' +
  'webhooks.allowPrivateAddresses in the configuration';

type Surroundings = Pick<App, 'boundPorts' | 'config' | 'dns' | 'publicUrl'>;

/** Parses the URL into the stored form, or returns the problem with the URL text. */
function parseEndpointUrl(text: string): { url: URL } | { problem: string } {
  if (text.length > longestUrl) return { problem: `has more than ${longestUrl} characters` };
  // `URL` would drop or repair these characters; other parsers would not.
  if (/[\s\\]|\p{Cc}/u.test(text)) {
    return { problem: 'has white space, a control character or a backslash' };
  }
  if (!URL.canParse(text)) return { problem: 'is not an absolute URL' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { problem: 'must begin with https:// or http://' };
  if (!/^https?:\/\/[^/]/i.test(text)) return { problem: 'is not an absolute URL' };
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) {
    return { problem: 'has a user name or password: use a header of the endpoint' };
  }
  if (url.href.length > longestUrl) return { problem: `has more than ${longestUrl} characters` };
  const { port } = targetOf(url);
  if (deniedPorts.has(port)) return { problem: `has port ${port}, which posts may not use` };
  return { url };
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
  const guard = endpointGuard(app);
  const problem = guard.hostProblem(target);
  if (problem !== null && !allowPrivateAddresses && isLocalName(target.host)) {
    return `${problem}${localAdvice}`;
  }
  if (problem !== null) return problem;
  const isAnyAllowed = allowPrivateAddresses && !isOwnPort(app, target.port);
  if (isAnyAllowed) return null;
  const addresses = await addressesOf(app, target.host).catch(() => []);
  const refused = guard.addressProblem(target, addresses);
  const isPrivate = !(allowPrivateAddresses || addresses.every(isPublicAddress));
  return refused !== null && isPrivate ? `${refused}${localAdvice}` : refused;
}

/**
 * The guard of posts to endpoints. Refuses this service itself, even if private addresses are
 * allowed.
 */
export function endpointGuard(app: Surroundings): AddressGuard {
  const { allowPrivateAddresses } = app.config.webhooks;
  return {
    hostProblem(target) {
      const problem = allowPrivateAddresses ? null : publicOnly.hostProblem(target);
      if (problem !== null) return problem;
      const isOurs = [app.config.http.publicUrl, app.publicUrl.current].some((text) => {
        if (text === null || !URL.canParse(text)) return false;
        const own = targetOf(new URL(text));
        return own.host === target.host && own.port === target.port;
      });
      return isOurs ? 'is the address of this service' : null;
    },
    addressProblem(target, addresses) {
      const problem = allowPrivateAddresses ? null : publicOnly.addressProblem(target, addresses);
      if (problem !== null) return problem;
      const isOurs = isOwnPort(app, target.port) && addresses.some(isThisMachine);
      return isOurs ? 'leads to a listener of this service' : null;
    },
  };
}

/** Tells whether a port belongs to a listener of ours, as configured or, for port 0, as bound. */
function isOwnPort({ config, boundPorts }: Surroundings, port: number): boolean {
  return boundPorts.has(port) || listenersOf(config).some((one) => one.port === port);
}
