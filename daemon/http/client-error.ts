// What is so broken that no request came of it: bytes that are not HTTP, headers without end, a
// request that never finished. Answered on the bare socket in the API's error form, then closed.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MalformedRequestError, type RefusalReason } from '../../src/errors.ts';
import { jsonContentType } from './errors.ts';

const late = 'ERR_HTTP_REQUEST_TIMEOUT';
const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'The chunk extensions are too large',
  [late]: 'The request did not arrive in time',
};

/**
 * Answers 400 if nothing was said yet on this socket, and closes it. Returns what to count; null
 * where no request was refused, as on a connection that was opened ahead of need and not used.
 */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  requestId: string,
): RefusalReason | null {
  if (error.code === 'ECONNRESET' || !socket.writable || hasAnswered(socket)) {
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
  return socket.bytesRead === 0 ? null : reason;
}

/** A second answer in the middle of the first would be taken for part of it. Node keeps it here. */
function hasAnswered(socket: Socket): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse | null };
  return response?.headersSent === true;
}
