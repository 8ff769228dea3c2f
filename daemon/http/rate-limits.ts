// The send rate limit over HTTP: admission (specification 8.1), and headers with the remaining
// limit. src/access/admission decides about both.
import type { Admission } from '../../src/access/admission/admission.ts';
import type { HttpServerOptions } from './server.ts';

/**
 * Returns the server options that limit sends. The headers are the separate fields of
 * draft-ietf-httpapi-ratelimit-headers-06, which most clients and gateways read. Few read the
 * single `RateLimit` field of later drafts. A plan without a limit has no headers.
 */
export function limitsBy(
  admission: Admission,
): Required<Pick<HttpServerOptions, 'admit' | 'limitHeaders'>> {
  return {
    admit: (caller, { name, drawsOnSendRate }) =>
      admission.admit(caller, name, { isBatch: drawsOnSendRate === 'batch' }),
    limitHeaders(caller) {
      const state = admission.stateOf(caller);
      if (!state) return {};
      return {
        'ratelimit-limit': String(state.limit),
        'ratelimit-remaining': String(state.remaining),
        'ratelimit-reset': String(state.resetSeconds),
      };
    },
  };
}
