// Routes to the servers of a test.
import type { DirectRoute, RelayRoute } from '../../src/smtp/route.ts';

/** To the mail hosts of example.test, or of another domain. */
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

/** To a server on 127.0.0.1, in plain text unless told. */
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
