// A proxy that fails like a network: it cuts connections, or accepts bytes and passes none on. The
// server itself still serves all clients without the proxy.
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Number of connections ever made. */
  readonly connections: number;
  /** Cuts open connections. Until `mend`, it also cuts new connections at once. */
  cut(): void;
  /**
   * Passes no more bytes over open connections until `mend`, without closing them. New connections
   * work.
   */
  freeze(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy before the server at this port of loopback. */
export async function tcpProxy(serverPort: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const frozen: (() => void)[] = [];
  const pairs = new Map<Socket, Socket>();
  let isCut = false;
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(serverPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        pairs.delete(client);
        client.destroy();
        upstream.destroy();
      });
    }
    pairs.set(client, upstream);
    client.pipe(upstream);
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const destroyAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    get connections() {
      return connections;
    },
    cut() {
      isCut = true;
      destroyAll();
    },
    freeze() {
      for (const [client, upstream] of pairs) {
        for (const socket of [client, upstream]) {
          socket.unpipe();
          socket.pause();
        }
        frozen.push(() => {
          client.pipe(upstream);
          upstream.pipe(client);
        });
      }
    },
    mend() {
      isCut = false;
      for (const thaw of frozen.splice(0)) thaw();
    },
    close() {
      destroyAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Returns the URL with the port of the proxy, on loopback. */
export function throughProxy(url: string, { port }: TcpProxy): string {
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  // The tools of libpq do not read + as a space.
  return through.href.replaceAll('+', '%20');
}
