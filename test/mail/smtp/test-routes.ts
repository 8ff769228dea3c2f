// Routes to the servers of a test.
import type { DirectRoute, RelayRoute } from '../../../src/mail/smtp/route.ts';

/** Makes a route to the mail hosts of example.test, with `changes`. */
export function direct(port: number, changes: Partial<DirectRoute> = {}): DirectRoute {
  return {
    kind: 'direct',
    domain: 'example.test',
    port,
    allowPrivateAddresses: true,
    requireTls: false,
    ...changes,
  };
}

/** Makes a route to a server on 127.0.0.1, in plaintext by default. */
export function relay(port: number, changes: Partial<RelayRoute> = {}): RelayRoute {
  return {
    kind: 'relay',
    host: '127.0.0.1',
    port,
    secure: false,
    requireTls: false,
    username: null,
    password: null,
    ...changes,
  };
}
