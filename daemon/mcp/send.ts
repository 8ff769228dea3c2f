// Asks the API within the process, with a key.
import type { Method } from '../../src/core/api/route.ts';
import type { ToolRequest } from './tools.ts';

/** An answer of the API. */
export interface ToolAnswer {
  status: number;
  type: string;
  body: Buffer;
}

/** The part of an HTTP server that answers without a socket. */
type Inject = (request: {
  method: Method;
  url: string;
  remoteAddress: string;
  headers: Record<string, string>;
  payload?: string;
}) => Promise<{ statusCode: number; headers: Record<string, unknown>; rawPayload: Buffer }>;

export type Send = (request: ToolRequest) => Promise<ToolAnswer>;

/** Returns a function that sends with this key, as a client at `address`. */
export function sendTo(inject: Inject, key: string, address: string): Send {
  return async ({ method, url, headers, payload }) => {
    const answer = await inject({
      ...{ method, url, remoteAddress: address },
      headers: { ...headers, 'x-api-key': key },
      ...(payload !== undefined && { payload }),
    });
    const type = String(answer.headers['content-type'] ?? '');
    return { status: answer.statusCode, type, body: answer.rawPayload };
  };
}
