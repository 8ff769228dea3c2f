// The open connections of the HTTP face: counted, bounded, and which of them goes when there are too
// many. A connection is idle while no request of it is in work: also while headers dribble in.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../src/runtime/clock.ts';

/** Kept free for the store, the queue and incoming mail, all of which open files and sockets too. */
const otherFiles = 512;
const leastConnections = 128;

/** `most`, or fewer where this process may not open so many files. */
export function affordableConnections(most: number, mostFiles = openFilesLimit()): number {
  return Math.min(most, Math.max(leastConnections, mostFiles - otherFiles));
}

/** How many files this process may have open; Node raises the soft limit to the hard one itself. */
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
  /** For an answer to be taken, once it waits in our memory for a client that does not read. */
  answerTimeoutMs: number;
}

interface ConnectionOptions extends ConnectionLimits {
  clock: Clock;
  onCount: (open: number) => void;
  /** One was cut because there were too many. */
  onCrowded: () => void;
}

export interface Connections {
  /** A request of this connection is in work until its answer has left. */
  work(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Ends those that are not in work. Node ends only those that it takes for idle: not one on which
   * nothing was ever said (browsers open them ahead of need), or on which headers dribble in.
   */
  closeIdle(): void;
}

/**
 * Watches the connections of `server`. One too many costs the one that has been idle for longest,
 * which is the new one itself where all others are in work.
 */
export function trackConnections(server: Server, options: ConnectionOptions): Connections {
  const { clock, mostConnections, answerTimeoutMs, onCount, onCrowded } = options;
  /** With the number of their requests in work (pipelining: more than one). */
  const open = new Map<Socket, number>();
  /** In the order in which they became idle. */
  const idle = new Set<Socket>();

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
        // All was written: what the system has not taken waits for a slow reader.
        if (socket.writableLength === 0) return;
        const cancel = clock.after(answerTimeoutMs, () => socket.destroy());
        response.once('close', cancel);
      });
      response.once('close', () => {
        const left = (open.get(socket) ?? 0) - 1;
        if (left < 0) return;
        open.set(socket, left);
        if (left === 0) idle.add(socket);
      });
    },
    closeIdle() {
      for (const socket of idle) socket.destroy();
    },
  };
}
