// Servers for the tests of the client that run by `node --test`, on Node 20 and without a package.
import { createServer } from 'node:http';
import { after } from 'node:test';
import { Svc, SvcError } from '../../client/index.js';

const servers = [];
after(() => {
  for (const server of servers) server.closeAllConnections();
});

/** Starts a server; returns a client of it, and the requests that it got. */
export async function serverOf(answer, options = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      requests.push({ method: request.method, url: request.url, headers: request.headers, body });
      answer(response, requests.length, request);
    });
  });
  servers.push(server);
  server.unref();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { svc: new Svc({ url, key: 'svc_live_test', ...options }), requests, url };
}

/** Answers with JSON. */
export function json(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Returns a check for an error of the client with this tag. */
export const refused = (tag) => (error) => error instanceof SvcError && error._tag === tag;
