import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type Connections, trackConnections } from '../../daemon/http/connections.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { rawConnection } from './raw-socket.ts';

let connections: Connections;
const server = createServer((request, response) => {
  connections.work(request, response);
  // The answer is written, and its connection not yet idle.
  response.once('finish', () => connections.closeIdle());
  response.end('answered');
});
// Longer than a test may take.
server.keepAliveTimeout = 600_000;
afterEach(() => server.closeAllConnections());

it('a connection whose answer is just being sent is closed after it', async () => {
  const nothing = () => {};
  connections = trackConnections(server, {
    ...{ clock: virtualClock(), mostConnections: 10, answerTimeoutMs: 1_000 },
    ...{ onCount: nothing, onCrowded: nothing },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const raw = rawConnection(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await raw.untilClosed()).toContain('answered');
  await new Promise((resolve) => server.close(resolve));
});
