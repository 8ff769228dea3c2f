// The requests of one connection in their turns, and the memory for answers that clients do not
// take, over real sockets. Clients of other addresses of this machine stand for other sites.
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answerPoolOf,
  type CountedResponse,
  reserveAnswer,
} from '../../daemon/http/answer-memory.ts';
import { type Connections, trackConnections } from '../../daemon/http/connections.ts';
import { createHttpListener, standardSocketLimits } from '../../daemon/http/http-listener.ts';
import { type EmptyTestApp, emptyTestApp } from '../support/test-app.ts';
import { rawConnection } from './raw-socket.ts';

const site = '127.0.0.0/24';
const megabyte = 1_000_000;
const mostInWork = 8;

let test: EmptyTestApp;
let server: Server;
let connections: Connections;
let url: string;
/** Answers a request; each test sets its own. */
let handle: (response: CountedResponse, path: string) => void;
const accepted: Socket[] = [];
const clients: Socket[] = [];

beforeEach(async () => {
  test = await emptyTestApp();
  connections = trackConnections(test.app, { mostConnections: 100, answerTimeoutMs: 300_000 });
  server = createHttpListener(standardSocketLimits, connections, {
    requestTimeoutSeconds: 30,
    handle: (request, response) => handle(response as CountedResponse, request.url ?? ''),
  });
  server.on('connection', (socket) => accepted.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  for (const socket of clients.splice(0)) socket.destroy();
  server.closeAllConnections();
  accepted.length = 0;
  await new Promise((resolve) => server.close(resolve));
  await test.close();
});

const get = (path: string, last = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`;

interface Client {
  socket: Socket;
  isOpen: boolean;
  received: number;
  /** Bytes after which the client stops reading. */
  mostRead: number;
}

/** Opens a connection, asks once, and reads nothing before `resume`. */
async function slowClient(path: string, localAddress = '127.0.0.1'): Promise<Client> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress });
  clients.push(socket);
  const client: Client = { socket, isOpen: true, received: 0, mostRead: Infinity };
  socket.pause();
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    client.received += bytes.length;
    if (client.received >= client.mostRead) socket.pause();
  });
  socket.write(get(path));
  await new Promise((resolve) => socket.once('connect', resolve));
  const at = `${localAddress}:${socket.localPort}`;
  await expect.poll(() => accepted.some((one) => nameOf(one) === at)).toBe(true);
  const served = accepted.find((one) => nameOf(one) === at);
  served?.once('close', () => {
    client.isOpen = false;
  });
  return client;
}

const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress}:${remotePort}`;
const held = (name = site) => answerPoolOf(test.app).heldBy(name);

describe('the requests of one connection', () => {
  it('run eight at a time, in their order', async () => {
    const waiting: { path: string; response: CountedResponse }[] = [];
    handle = (response, path) => waiting.push({ path, response });
    const paths = Array.from({ length: 2_000 }, (_, at) => `/${at}`);
    const raw = rawConnection(
      url,
      paths.map((path) => get(path, path === '/1999' ? 'Connection: close\r\n' : '')).join(''),
    );
    for (let at = 0; at < paths.length; at++) {
      const most = Math.min(at + mostInWork, paths.length);
      while (waiting.length < most) await nextTurn();
      expect(waiting.length).toBe(most);
      waiting[at]?.response.end(`[${at}]`);
    }
    const answers = (await raw.untilClosed()).match(/\[\d+\]/g);
    expect(answers).toEqual(paths.map((path) => `[${path.slice(1)}]`));
    expect(waiting.map(({ path }) => path)).toEqual(paths);
  });

  it('are read no further while any is queued', async () => {
    const waiting: CountedResponse[] = [];
    handle = (response) => waiting.push(response);
    const raw = rawConnection(url, get('/').repeat(300_000));
    while (waiting.length < mostInWork) await nextTurn();
    const [socket] = accepted;
    await expect.poll(() => socket?.isPaused()).toBe(true);
    const before = socket?.bytesRead;
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    expect([socket?.bytesRead, waiting.length]).toEqual([before, mostInWork]);
    expect(before).toBeLessThanOrEqual(2 * 65_536);
    raw.socket.destroy();
  });

  it('count as memory while they are queued, and no longer than the connection', async () => {
    const waiting: CountedResponse[] = [];
    handle = (response) => waiting.push(response);
    const raw = rawConnection(url, get('/').repeat(1_008));
    await expect.poll(() => held()).toBe(1_000 * 4_096);
    raw.socket.destroy();
    // A paused socket shows its end by an answer that cannot be written.
    for (const response of waiting) response.end('late');
    await expect.poll(() => held()).toBe(0);
  });
});

describe('answers that their clients do not take', () => {
  const eight = Buffer.alloc(8 * megabyte);

  beforeEach(() => {
    handle = (response, path) => response.end(path === '/small' ? 'small' : eight);
  });

  it('of one site hold no more than its share', async () => {
    const slow: Client[] = [];
    for (let count = 0; count < 12; count++) slow.push(await slowClient('/'));
    await expect.poll(() => slow.filter(({ isOpen }) => isOpen).length).toBe(5);
    expect(held()).toBeLessThanOrEqual(45 * megabyte);
    const { values } = await test.app.metrics.refused.get();
    const cut = values.find(({ labels }) => labels.reason === 'capacity-answers');
    expect(cut?.value).toBe(7);
  });

  it('of many sites hold no more than the pool', async () => {
    const sites = Array.from({ length: 12 }, (_, at) => `127.0.${at + 1}.1`);
    for (const address of sites) {
      await slowClient('/', address);
      await slowClient('/', address);
    }
    const sum = sites.reduce((bytes, address) => bytes + held(address.replace(/1$/, '0/24')), 0);
    expect(sum).toBeGreaterThan(32 * megabyte);
    expect(sum).toBeLessThanOrEqual(64 * megabyte);
  });

  it('are cut before an answer that is being taken', async () => {
    const reads = await slowClient('/');
    const stalled: Client[] = [];
    for (let count = 0; count < 4; count++) stalled.push(await slowClient('/'));
    await test.clock.advance(900);
    reads.mostRead = megabyte;
    reads.socket.resume();
    await expect.poll(() => reads.socket.isPaused()).toBe(true);
    await test.clock.advance(900);
    const late = await slowClient('/');
    await expect.poll(() => stalled.filter(({ isOpen }) => !isOpen).length).toBe(1);
    expect([reads.isOpen, late.isOpen]).toEqual([true, true]);
  });

  it('give their memory back once they are taken', async () => {
    const client = await slowClient('/');
    await expect.poll(() => held()).toBeGreaterThan(0);
    client.socket.resume();
    await expect.poll(() => held()).toBe(0);
    expect(test.clock.nextTimerAt()).toBeUndefined();
  });

  it('leave memory to another site', async () => {
    for (let count = 0; count < 12; count++) await slowClient('/');
    const other = await slowClient('/small', '127.0.9.1');
    other.socket.resume();
    await expect.poll(() => other.received).toBeGreaterThan(0);
    expect(other.isOpen).toBe(true);
  });

  it('refuse a file to their site instead of being cut in their first second', async () => {
    const refusals: unknown[] = [];
    handle = (response) => {
      try {
        reserveAnswer(response, 15 * megabyte);
      } catch (error) {
        refusals.push(error);
      }
      response.end(eight);
    };
    for (let count = 0; count < 3; count++) await slowClient('/');
    expect(refusals).toEqual([]);
    await slowClient('/');
    await expect.poll(() => refusals).toMatchObject([{ reason: 'capacity-answers', status: 503 }]);
  });
});

it('a connection whose answer is just being sent is closed after it', async () => {
  handle = (response) => {
    // The answer is written, and its connection not yet idle.
    response.once('finish', () => connections.closeIdle());
    response.end('answered');
  };
  const raw = rawConnection(url, get('/'));
  expect(await raw.untilClosed()).toContain('answered');
});
