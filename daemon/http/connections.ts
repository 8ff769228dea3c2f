// The open connections of the HTTP server: counts, limits, and the choice of the one to close when there are
// too many. A connection is idle while none of its requests is in progress, even while headers dribble in.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../src/platform/runtime/clock.ts';

/** Files kept free for the store, the queue and incoming mail, which also open files and sockets. */
const otherFiles = 512;
const leastConnections = 128;

/** Returns `most`, or fewer if this process may not open so many files. */
export function affordableConnections(most: number, mostFiles = openFilesLimit()): number {
  return Math.min(most, Math.max(leastConnections, mostFiles - otherFiles));
}

/** Returns how many files this process may open; Node raises the soft limit to the hard one itself. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const [, soft = ''] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return soft === '' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY; // No Linux.
  }
}

export interface ConnectionLimits {
  mostConnections: number;
  /** Time in which a slow client must accept an answer that waits in our memory. */
  answerTimeoutMs: number;
}

interface ConnectionOptions extends ConnectionLimits {
  clock: Clock;
  onCount: (open: number) => void;
  /** Called after a connection was closed because there were too many. */
  onCrowded: () => void;
}

export interface Connections {
  /** Marks the connection as busy until its answer is sent. */
  work(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Ends all connections without a request in progress, now and from now on. Node itself misses those that never sent
   * anything (browsers open them in advance), those on which headers dribble in, and those with an answer that is just
   * being sent.
   */
  closeIdle(): void;
}

/**
 * Watches the connections of `server`. One too many closes the longest idle one: the new one itself if all
 * others are busy.
 */
export function trackConnections(server: Server, options: ConnectionOptions): Connections {
  const { clock, mostConnections, answerTimeoutMs, onCount, onCrowded } = options;
  /** Maps each connection to its number of requests in progress (more than one with pipelining). */
  const open = new Map<Socket, number>();
  /** Idle connections, in the order in which they became idle. */
  const idle = new Set<Socket>();
  let isClosing = false;

  server.on('connection', (socket: Socket) => {
    open.set(socket, 0);
    idle.add(socket);
    onCount(open.size);
    socket.once('close', () => {
      open.delete(socket);
      idle.delete(socket);
      onCount(open.size);
    });
    if (open.size <= mostConnections) return;
    const [oldest] = idle;
    oldest?.destroy();
    onCrowded();
  });

  return {
    work({ socket }, response) {
      const requests = open.get(socket);
      if (requests === undefined) return;
      open.set(socket, requests + 1);
      idle.delete(socket);
      response.once('prefinish', () => {
        // All bytes are written; those that the system has not accepted wait for a slow reader.
        if (socket.writableLength === 0) return;
        const cancel = clock.after(answerTimeoutMs, () => socket.destroy());
        response.once('close', cancel);
      });
      response.once('close', () => {
        const left = (open.get(socket) ?? 0) - 1;
        if (left < 0) return;
        open.set(socket, left);
        if (left > 0) return;
        if (isClosing) socket.end();
        else idle.add(socket);
      });
    },
    closeIdle() {
      isClosing = true;
      for (const socket of idle) socket.destroy();
    },
  };
}
