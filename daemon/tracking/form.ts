// The body of a form: bounded bytes, with a short time-out.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../src/platform/runtime/clock.ts';

/** Most bytes of a form by default: enough for the pages that recipients open. */
const usualBytes = 4_096;
const longestMs = 10_000;
const mostFields = 1_000;
const separator = 0x26;

/** Returns whether a form has at most 1,000 fields: a field costs more than its bytes. */
function hasFewFields(body: Buffer): boolean {
  let at = -1;
  for (let count = 0; count < mostFields; count += 1) {
    at = body.indexOf(separator, at + 1);
    if (at < 0) return true;
  }
  return false;
}

/**
 * Returns the body of a form. Null for a body that is too large, has too many fields, is
 * incomplete, or takes longer than 10 s.
 */
export function readForm(
  request: IncomingMessage,
  clock: Clock,
  mostBytes = usualBytes,
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (body: Buffer | null) => {
      cancel();
      request.off('data', onData);
      resolve(body);
      request.resume();
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > mostBytes) end(null);
    };
    const cancel = clock.after(longestMs, () => end(null));
    request.on('data', onData).once('end', () => {
      const body = Buffer.concat(chunks);
      end(hasFewFields(body) ? body : null);
    });
    request.once('error', () => end(null)).once('close', () => end(null));
  });
}
