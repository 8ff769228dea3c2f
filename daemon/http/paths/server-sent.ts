// The head of an answer of server-sent events.
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Time after which a disconnected client should reconnect. */
const comeBackMs = 2_000;

/** Sends the head of the answer. From here on the caller writes to the socket, not fastify. */
export function beginServerSent(reply: FastifyReply): ServerResponse {
  reply.hijack();
  const headers = reply.getHeaders() as Record<string, string>;
  reply.raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    // No request follows on the connection: a stopping daemon then waits for no idle connection.
    connection: 'close',
    // Disables buffering in nginx.
    'x-accel-buffering': 'no',
  });
  reply.raw.write(`retry: ${comeBackMs}\n\n`);
  return reply.raw;
}
