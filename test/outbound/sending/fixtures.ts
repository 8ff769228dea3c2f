// Shared by the sending tests: the HTTP face with its limits on every route, checked against the
// OpenAPI document.
import { limitsBy } from '../../../daemon/http/rate-limits.ts';
import { routes } from '../../../daemon/http/routes.ts';
import { createHttpServer } from '../../../daemon/http/server.ts';
import { admissionOf } from '../../../src/access/admission/admission.ts';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import type { Answer } from '../../support/http-client.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import type { TestApp } from '../../support/test-app.ts';

export interface ServedApi {
  post<Body = Record<string, unknown>>(
    url: string,
    body?: unknown,
    options?: { apiKey?: string; headers?: Record<string, string> },
  ): Promise<Answer<Body>>;
  close(): Promise<void>;
}

/** Serves the API as the daemon does, limits included. */
export function servedApi({ app, apiKey: ownKey }: TestApp): ServedApi {
  const authenticator = createAuthenticator(app);
  const check = openApiCheck(routes);
  const server = createHttpServer(app, {
    routes,
    authenticate: (plaintext) => authenticator.authenticate(plaintext),
    ...limitsBy(admissionOf(app)),
    isQueueRunning: () => true,
    onResponse: check.onResponse,
  });
  return {
    async post<Body>(
      url: string,
      body?: unknown,
      options: { apiKey?: string; headers?: Record<string, string> } = {},
    ) {
      const response = await server.inject({
        method: 'POST',
        url,
        headers: {
          'x-api-key': options.apiKey ?? ownKey,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      });
      if (check.faults.length > 0) throw new Error(check.faults.join('\n'));
      return {
        status: response.statusCode,
        headers: response.headers,
        body: response.json() as Body,
      };
    },
    close: () => server.close(),
  };
}
