// The open connections of an HTTP server: counts, limits, and the choice of a connection to close
// when there are too many. A connection is idle while no request on it is in progress, even while
// headers dribble in. Of the requests of a connection, few are in work at once; answer-memory.ts
// counts their answers.
//
//   request             | by                                    | then
//   --------------------+---------------------------------------+------------------------------
//   parsed              | fewer than 8 of the connection        | in work
//   parsed              | 8 are in work                         | queued; the socket is paused
//   queued, the first   | an earlier answer is closed           | in work
//   queued, the last    | it is in work                         | the socket is read again
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { App } from '../../src/core/app.ts';
import { AnswerAccount, type CountedResponse } from './answer-memory.ts';

/**
 * Files kept free for the store, the queue and incoming mail, which also open files and sockets.
 */
const otherFiles = 512;
const leastConnections = 128;

/** Returns `most`, or fewer if this process may not open so many files. */
export function affordableConnections(most: number, mostFiles = openFilesLimit()): number {
  return Math.min(most, Math.max(leastConnections, mostFiles - otherFiles));
}

/**
 * Returns how many files this process may open; Node raises the soft limit to the hard limit
 * itself.
 */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const [, soft = ''] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return soft === '' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY; // Outside of Linux the limit is unknown.
  }
}

export interface ConnectionLimits {
  mostConnections: number;
  /** Time in which a slow client must accept an answer that waits in our memory. */
  answerTimeoutMs: number;
}

interface ConnectionOptions extends ConnectionLimits {
  onCount?: (open: number) => void;
}

export interface Connections {
  /** Counts the connections of a server. */
  watch(server: Server): void;
  /**
   * Runs `handle` on a request, at once or in turn. A client may send thousands of requests
   * together, and Node parses all requests in the 64 KB that it has read.
   */
  serve(request: IncomingMessage, response: CountedResponse, handle: () => void): void;
  /**
   * Ends all connections without a request in progress, now and from now on. Node itself misses
   * connections without any byte sent (browsers open them in advance), connections on which headers
   * arrive slowly, and connections with an answer that is just being sent.
   */
  closeIdle(): void;
}

/**
 * Tracks connections. Beyond the limit it closes the connection that is idle longest, or the new
 * connection if all earlier connections are busy.
 */
export function trackConnections(
  app: App,
  { mostConnections, answerTimeoutMs, onCount = () => {} }: ConnectionOptions,
): Connections {
  const { clock, metrics } = app;
  const open = new Set<Socket>();
  /** Idle connections, in the order in which they became idle. */
  const idle = new Set<Socket>();
  /** Turns by socket. Over TLS, the socket of a request is not in `open`. */
  const turns = new WeakMap<Socket, Turns>();
  let isClosing = false;

  const opened = (socket: Socket) => {
    open.add(socket);
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
    metrics.refused.inc({ reason: 'capacity-connections' });
  };

  const turnsOf = (socket: Socket): Turns => {
    const known = turns.get(socket);
    if (known) return known;
    const onCut = () => metrics.refused.inc({ reason: 'capacity-answers' });
    const made = new Turns(socket, new AnswerAccount(app, socket, onCut), () => {
      if (isClosing) socket.end();
      else if (open.has(socket)) idle.add(socket);
    });
    turns.set(socket, made);
    return made;
  };

  return {
    watch: (server) => server.on('connection', opened),
    serve({ socket }, response, handle) {
      idle.delete(socket);
      turnsOf(socket).serve(response, () => {
        response.once('prefinish', () => {
          // At the end of an answer, bytes that the system has not accepted wait for the reader.
          if (socket.writableLength === 0) return;
          const cancel = clock.after(answerTimeoutMs, () => socket.destroy());
          response.once('close', cancel);
        });
        handle();
      });
    },
    closeIdle() {
      isClosing = true;
      for (const socket of idle) socket.destroy();
    },
  };
}

/** Most requests of a connection that are in work at once. */
const mostInWork = 8;

interface Queued {
  response: CountedResponse;
  handle: () => void;
}

/** Runs the requests of a connection in the order of their arrival. */
class Turns {
  readonly #socket: Socket;
  readonly #account: AnswerAccount;
  readonly #onIdle: () => void;
  readonly #queue: Queued[] = [];
  #inWork = 0;

  constructor(socket: Socket, account: AnswerAccount, onIdle: () => void) {
    this.#socket = socket;
    this.#account = account;
    this.#onIdle = onIdle;
    // Pauses again: Node resumes a socket when a request is complete or an answer is taken.
    socket.on('resume', () => this.#pauseIfQueued());
    socket.once('close', () => {
      this.#queue.length = 0;
      account.close();
    });
  }

  serve(response: CountedResponse, handle: () => void): void {
    if (this.#inWork < mostInWork) {
      this.#begin({ response, handle });
      return;
    }
    this.#queue.push({ response, handle });
    this.#pauseIfQueued();
    this.#account.setQueued(this.#queue.length);
  }

  #begin({ response, handle }: Queued): void {
    this.#inWork += 1;
    this.#account.begin(response);
    response.once('close', () => this.#end(response));
    handle();
  }

  #end(response: CountedResponse): void {
    this.#inWork -= 1;
    const next = this.#queue.shift();
    if (next) {
      this.#begin(next);
      if (this.#queue.length === 0) this.#socket.resume();
    }
    this.#account.end(response, this.#queue.length);
    if (this.#inWork === 0) this.#onIdle();
  }

  #pauseIfQueued(): void {
    if (this.#queue.length > 0) this.#socket.pause();
  }
}
