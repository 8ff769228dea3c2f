// Asks the API within the process, with a key.
import type { HttpServer } from '../http/server.ts';
import type { ToolRequest } from './tools.ts';

/** An answer of the API. */
export interface ToolAnswer {
  status: number;
  type: string;
  body: Buffer;
}

export type Send = (request: ToolRequest) => Promise<ToolAnswer>;

/** Returns a function that sends with this key, as a client at `address`. */
export function sendTo(inject: HttpServer['inject'], key: string, address: string): Send {
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
