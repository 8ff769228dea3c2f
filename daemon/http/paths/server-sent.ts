// Starts a response of server-sent events.
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Time after which a disconnected client should reconnect. */
const comeBackMs = 2_000;

/** Sends the head and the retry time. The caller writes the rest to the returned response. */
export function beginServerSent(reply: FastifyReply): ServerResponse {
  reply.hijack();
  const headers = reply.getHeaders() as Record<string, string>;
  reply.raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    // Closes the connection after the stream, so that a stopping daemon need not wait for it.
    connection: 'close',
    // Disables buffering in nginx.
    'x-accel-buffering': 'no',
  });
  reply.raw.write(`retry: ${comeBackMs}\n\n`);
  return reply.raw;
}
