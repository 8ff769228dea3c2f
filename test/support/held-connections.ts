// Connections that only cost the server: idle connections, kept alive after an answer, and slow
// connections, which send a byte of their request at intervals. Linux only: counts open files.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

export interface HeldConnections {
  /** Returns the number of idle connections that the server has not closed. */
  idle(): number;
  slow(): number;
  close(): void;
}

export interface HeldOptions {
  idle: number;
  slow: number;
  /** Key for the slow connections. It may send, so the server waits for their bodies. */
  apiKey: string;
}

const batch = 250;
const byteEveryMs = 500;
/** Further open files of this process and the daemon. */
const otherFiles = 600;

/** Returns the reason why a process cannot hold this many connections here; null if it can. */
export function heldConnectionsObstacle(count: number): string | null {
  const needed = count + otherFiles;
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    // At its start, Node raises the soft limit to the hard limit.
    const [, hard = ''] = /^Max open files +\d+ +(\d+)/m.exec(limits) ?? [];
    if (hard === '' || Number(hard) >= needed) return null;
    return `the hard limit of open files is ${hard}, ${needed} are needed`;
  } catch {
    return 'there is no /proc/self/limits to read the limit of open files from';
  }
}

/** Opens the connections to the loopback `port`; resolves when all are in their state. */
export async function holdConnections(
  port: number,
  { idle, slow, apiKey }: HeldOptions,
): Promise<HeldConnections> {
  const idleSockets = new Set<Socket>();
  const slowSockets = new Set<Socket>();
  await inBatches(idle, () => openIdle(port, idleSockets));
  await inBatches(slow, (index) => openSlow(port, slowSockets, slowRequest(index, apiKey)));
  const drip = setInterval(() => {
    for (const socket of slowSockets) socket.write(' ');
  }, byteEveryMs);
  return {
    idle: () => idleSockets.size,
    slow: () => slowSockets.size,
    close() {
      clearInterval(drip);
      for (const socket of [...idleSockets, ...slowSockets]) socket.destroy();
    },
  };
}

async function inBatches(count: number, open: (index: number) => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += batch) {
    const size = Math.min(batch, count - done);
    await Promise.all(Array.from({ length: size }, (_, index) => open(done + index)));
  }
}

/** Half of the slow connections send a body for which the service waits, half a header. */
function slowRequest(index: number, apiKey: string): string {
  const head = `POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\n`;
  return index % 2 === 0
    ? `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
    : `${head}X-Slow: `;
}

function opened(port: number, sockets: Set<Socket>): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

async function openIdle(port: number, sockets: Set<Socket>): Promise<void> {
  const socket = await opened(port, sockets);
  const answered = new Promise((resolve, reject) => {
    socket.once('data', resolve);
    socket.once('close', () => reject(new Error('closed before its answer')));
  });
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await answered;
}

async function openSlow(port: number, sockets: Set<Socket>, request: string): Promise<void> {
  const socket = await opened(port, sockets);
  socket.resume();
  socket.write(request);
}
