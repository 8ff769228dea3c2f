// The HTTP face of a test app, without a socket: the real routes and the real authenticator. It
// checks every answer against the schema of the route and the OpenAPI document. An answer that does
// not fit throws here, before the assertions of the test.

import type { Method } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { type HttpFace, httpFace } from './http-face.ts';

/** An answer. `body` is the parsed JSON; a test knows the shape. */
export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Record<string, unknown>;
  body: Body;
}

export interface RequestOptions {
  /** Sent as JSON; a string or bytes are sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
  /** A key in place of the key of the api; null sends no key. */
  apiKey?: string | null;
  /** Address of the client; by default 127.0.0.1. */
  remoteAddress?: string;
}

export interface HttpApi {
  request<Body>(method: Method, url: string, options?: RequestOptions): Promise<Answer<Body>>;
  get<Body>(url: string, options?: RequestOptions): Promise<Answer<Body>>;
  post<Body>(url: string, body: unknown, options?: RequestOptions): Promise<Answer<Body>>;
  delete<Body>(url: string, options?: RequestOptions): Promise<Answer<Body>>;
  /** Downloads a link without a key. Uses only the path of `url`. */
  download(url: string): Promise<Answer<Buffer>>;
  /** Requests the bytes of a route. */
  bytes(url: string): Promise<Answer<Buffer>>;
  /** Returns the same API with a different key. */
  as(apiKey: string): HttpApi;
  /** Closes the face, but not the app. */
  close(): Promise<void>;
}

/** Returns the API over an app; requests use `apiKey` by default. */
export function httpApi({ app, apiKey }: { app: App; apiKey: string }): HttpApi {
  return clientOf(httpFace(app), apiKey);
}

function isJson(headers: Record<string, unknown>): boolean {
  return String(headers['content-type']).startsWith('application/json');
}

function clientOf(server: HttpFace, ownKey: string): HttpApi {
  const { faults } = server;
  async function request<Body>(
    method: Method,
    url: string,
    { body, headers = {}, apiKey = ownKey, remoteAddress }: RequestOptions = {},
  ): Promise<Answer<Body>> {
    const response = await server.inject({
      method,
      url,
      ...(remoteAddress !== undefined && { remoteAddress }),
      headers: {
        ...(apiKey !== null && { 'x-api-key': apiKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    });
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return {
      status: response.statusCode,
      headers: response.headers,
      body: (isJson(response.headers) ? response.json() : response.body) as Body,
    };
  }
  return {
    request,
    get: (url, options) => request('GET', url, options),
    post: (url, body, options) => request('POST', url, { ...options, body }),
    delete: (url, options) => request('DELETE', url, options),
    async download(url) {
      const response = await server.inject({ method: 'GET', url: new URL(url).pathname });
      if (faults.length > 0) throw new Error(faults.join('\n'));
      const { statusCode: status, headers, rawPayload: body } = response;
      return { status, headers, body };
    },
    async bytes(url) {
      const response = await server.inject({
        method: 'GET',
        url,
        headers: { 'x-api-key': ownKey },
      });
      if (faults.length > 0) throw new Error(faults.join('\n'));
      const { statusCode: status, headers, rawPayload: body } = response;
      return { status, headers, body };
    },
    as: (apiKey) => clientOf(server, apiKey),
    close: () => server.close(),
  };
}
