// The send rate limit as the HTTP face shows it: who is admitted (specification 8.1), and the headers
// that tell a client how much is left. Deciding is src/admission.
import type { Admission } from '../../src/admission/admission.ts';
import type { HttpServerOptions } from './server.ts';

/**
 * The part of the server's options that limits sends. The headers are the separate fields of
 * draft-ietf-httpapi-ratelimit-headers-06, which most clients and gateways know; the later drafts
 * with one structured `RateLimit` field are read by few. A plan without a limit has none.
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
