// The server that a command asks in place of the store beside it: `--server URL` or SVC_SERVER,
// with the API key in SVC_API_KEY (docs/remote.md).
import { UnauthorizedError } from '../../../src/platform/errors.ts';
import { UsageError } from '../output/failure.ts';

/** Topics whose commands ignore SVC_SERVER: each works on this machine alone. */
const localTopics: readonly string[] = ['daemon', 'init', 'config', 'openapi'];

/** The address and the key of a server. */
export interface Server {
  url: string;
  key: string;
}

/** The parsed flags of a command that concern the server. */
export interface ServerFlags {
  server?: string | undefined;
  org?: string | undefined;
}

/** Properties of a command that decide whether it asks a server. */
interface Asking {
  id: string;
  /** Whether the command only calls routes of the API. */
  asksServer: boolean;
  /** Whether `--server` was typed. SVC_SERVER gives the same flag. */
  isTyped: boolean;
}

function nameOf(id: string): string {
  return `svc ${id.replaceAll(':', ' ')}`;
}

/** Returns the error for a command, or part of a command, that works only on a local store. */
export function withoutRoute(what: string, url: string): UsageError {
  return new UsageError(
    `${what} has no route of the API, so it cannot ask ${url}. ` +
      'Run it on the machine of the daemon, without --server and SVC_SERVER',
  );
}

/**
 * Returns the address of the server for this command; undefined to use the local store.
 * @throws UsageError for a command without a route, an address that is unsafe, and for `--org`
 */
export async function serverFor(flags: ServerFlags, asking: Asking): Promise<string | undefined> {
  const { server, org } = flags;
  if (!server) return undefined;
  const [topic = ''] = asking.id.split(':');
  if (!asking.isTyped && localTopics.includes(topic)) return undefined;
  if (!asking.asksServer) throw withoutRoute(nameOf(asking.id), server);
  const url = await readServerUrl(server);
  if (org !== undefined) {
    throw new UsageError(
      `leave out --org ${org} and SVC_ORG beside ${server}: the key in SVC_API_KEY belongs to ` +
        'its organization',
    );
  }
  return url;
}

async function readServerUrl(text: string): Promise<string> {
  const expected = 'expected an address such as https://mail.example.com';
  if (!URL.canParse(text)) throw new UsageError(`--server ${text}: ${expected}`);
  const { protocol, hostname, username, password, search, hash, href } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new UsageError(`--server ${text}: ${expected}`);
  }
  if (username + password + search + hash !== '') {
    throw new UsageError(
      '--server: expected the address alone, without a login, query or fragment; ' +
        'the key belongs in SVC_API_KEY',
    );
  }
  const { isLoopbackHost } = await import('../../../src/platform/net/network-address.ts');
  if (protocol === 'http:' && !isLoopbackHost(hostname.replaceAll(/[[\]]/g, ''))) {
    throw new UsageError(
      `--server ${text}: expected https://, as http:// shows the key and all mail on the way; ` +
        'only an address of this machine may be http://',
    );
  }
  return href.replace(/\/$/, '');
}

/** Returns the server with the key of the environment. @throws UnauthorizedError without a key */
export function serverAt(url: string): Server {
  const key = process.env.SVC_API_KEY ?? '';
  if (key !== '') return { url, key };
  throw new UnauthorizedError(`An API key is missing: set SVC_API_KEY to a key of ${url}`);
}
