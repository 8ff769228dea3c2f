// Answers input that is too broken to become a request: bytes that are not HTTP, endless headers, a
// request that never ends. The answer is written to the socket in the error form of the API; then
// the socket closes.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MalformedRequestError, type RefusalReason } from '../../src/platform/errors.ts';
import { jsonContentType } from './errors.ts';

const late = 'ERR_HTTP_REQUEST_TIMEOUT';
const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'The chunk extensions are too large',
  [late]: 'The request did not arrive in time',
};

/**
 * Answers 400 if this socket has no answer yet, and closes it. Returns the reason for the metric.
 * Without a request to refuse, returns null, and closes the socket without an answer. A browser
 * opens connections in advance, and would take an answer there as the answer to the next request.
 */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  requestId: string,
): RefusalReason | null {
  const isUnused = socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || isUnused || !socket.writable || hasAnswered(socket)) {
    socket.destroy();
    return null;
  }
  const text = reasons[error.code ?? ''] ?? 'This is not a valid HTTP request';
  const reason = error.code === late ? 'slow' : 'malformed';
  const body = JSON.stringify(new MalformedRequestError(text, 400, reason));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Connection: close',
      'Cache-Control: no-store',
      `Content-Type: ${jsonContentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'X-Content-Type-Options: nosniff',
      '',
      body,
    ].join('\r\n'),
  );
  return reason;
}

/**
 * Tells whether the response has begun: the client would read a second response as content of the
 * first. Node keeps the current response of a socket in this internal field.
 */
function hasAnswered(socket: Socket): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse | null };
  return response?.headersSent === true;
}
