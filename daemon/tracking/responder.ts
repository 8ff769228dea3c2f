// The name server for DNS challenges (RFC 8555 8.4): UDP and TCP (RFC 7766) at `tracking.acme.dns`.
// Answers are hardly longer than questions, so the server is useless for amplification.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { App } from '../../src/core/app.ts';
import { challengeZoneOf } from '../../src/outbound/tracking/custom/certificates/challenges.ts';
import { codeOf, UnreachableError } from '../../src/platform/errors.ts';
import { answerOf, serverFailure, type Zone } from '../../src/platform/net/dns-zone.ts';

/** Most questions that wait for the store. Further questions are dropped; resolvers repeat them. */
const mostWaiting = 200;
const mostConnections = 50;
/** Most unanswered questions of a connection. */
const mostUnanswered = 20;
const quietMs = 10_000;
const mostQuestionBytes = 600;

export interface DnsResponder {
  port: number;
  close(): Promise<void>;
}

/** Listens on UDP and TCP. @throws UnreachableError if that fails. */
export async function startDnsResponder(
  app: App,
  at: { host: string; port: number },
): Promise<DnsResponder> {
  const handle = answering(app, challengeZoneOf(app));
  const tcp = tcpServer(handle);
  const udp = createSocket(isIPv6(at.host) ? 'udp6' : 'udp4');
  udp.on('message', (bytes, { address, port }) => {
    void handle(bytes).then((given) => {
      // The socket may already be closed.
      if (given) udp.send(given, port, address, () => {});
    });
  });
  try {
    const port = await listenOnBoth(udp, tcp.server, at);
    app.boundPorts.add(port);
    udp.on('error', (error) =>
      app.log.warn({ err: error }, 'the name server for challenges failed'),
    );
    return {
      port,
      async close() {
        tcp.destroyAll();
        await Promise.all([
          new Promise<void>((resolve) => udp.close(() => resolve())),
          new Promise<void>((resolve) => tcp.server.close(() => resolve())),
        ]);
      },
    };
  } catch (error) {
    tcp.server.close();
    udp.close();
    const text = `Cannot listen at tracking.acme.dns ${at.host}:${at.port}: ${codeOf(error)}`;
    throw new UnreachableError(text, { cause: error });
  }
}

type Handle = (bytes: Buffer) => Promise<Buffer | null>;

function answering(app: App, zone: Zone): Handle {
  let waiting = 0;
  return async (bytes) => {
    if (waiting >= mostWaiting) return null;
    waiting++;
    try {
      return await answerOf(zone, bytes);
    } catch (error) {
      app.log.error({ err: error }, 'a DNS question could not be answered');
      return serverFailure(bytes);
    } finally {
      waiting--;
    }
  };
}

function tcpServer(handle: Handle): { server: Server; destroyAll(): void } {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    // Uses the real clock, as this only frees unused connections.
    socket.setTimeout(quietMs, () => socket.destroy());
    let received: Buffer = Buffer.alloc(0);
    let last = Promise.resolve();
    let unanswered = 0;
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= 2) {
        const length = received.readUInt16BE(0);
        if (length > mostQuestionBytes || unanswered >= mostUnanswered) {
          socket.destroy();
          return;
        }
        if (received.length < 2 + length) return;
        const question = received.subarray(2, 2 + length);
        received = received.subarray(2 + length);
        unanswered++;
        last = last.then(async () => {
          write(socket, await handle(question));
          unanswered--;
        });
      }
    });
  });
  server.maxConnections = mostConnections;
  return {
    server,
    destroyAll: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

function write(socket: Socket, message: Buffer | null): void {
  if (!message || socket.destroyed) return;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  socket.write(Buffer.concat([length, message]));
}

function bound(what: UdpSocket | Server, start: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    what.once('error', reject).once('listening', () => {
      what.off('error', reject);
      resolve();
    });
    start();
  });
}

/**
 * Listens with UDP and TCP on the same port. With port 0 the system chooses a TCP port; rejects if
 * this port is in use for UDP.
 */
async function listenOnBoth(
  udp: UdpSocket,
  tcp: Server,
  { host, port }: { host: string; port: number },
): Promise<number> {
  await bound(tcp, () => tcp.listen(port, host));
  const address = tcp.address();
  const given = typeof address === 'object' && address ? address.port : port;
  await bound(udp, () => udp.bind(given, host));
  return given;
}
