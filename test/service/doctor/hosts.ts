// Servers that doctor talks to, by their addresses: each greets, refuses or is silent. Nothing
// leaves loopback.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Connector } from '../../../src/platform/net/dial.ts';

export interface Hosts {
  connector: Connector;
  /** Greeting by `address:port`; null accepts in silence. Others refuse. */
  greetings: Map<string, string | null>;
  close(): Promise<void>;
}

/** Starts the servers; `https` is the port of a server for all connections to port 443. */
export async function startHosts(https?: Connector): Promise<Hosts> {
  const greetings = new Map<string, string | null>();
  const waiting: (string | null)[] = [];
  const server: Server = createServer((socket) => {
    const greeting = waiting.shift() ?? null;
    socket.on('error', () => {});
    if (greeting !== null) socket.write(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sockets = new Set<Socket>();
  return {
    greetings,
    connector(to) {
      if (to.port === 443 && https) return https(to);
      const greeting = greetings.get(`${to.host}:${to.port}`);
      if (greeting === undefined) return connect({ host: '127.0.0.1', port: 1 });
      waiting.push(greeting);
      const socket = connect({ host: '127.0.0.1', port });
      sockets.add(socket);
      return socket;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
