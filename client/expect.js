// `messages.expect`: waits for a mail longer than a single request may last.
import { pause, SvcError } from './http.js';

/** Longest wait of a request, and the reserve that it leaves before the time limit of a try. */
const longestMs = 20_000;
const reserveMs = 2_000;
/** Least time between two requests. */
const eachMs = 1_000;

function millisecondsOf(within) {
  const [, seconds] = /^(\d{1,6})s?$/.exec(String(within)) ?? [];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}

function isMissing(error) {
  return (
    error instanceof SvcError &&
    error._tag === 'ResourceNotFoundError' &&
    error.resource === 'message'
  );
}

/**
 * Repeats the request until a mail arrives or the time of `within` is over. @throws SvcError of the
 * last request
 */
export function patient(ask, defaults) {
  return async (query, options = {}) => {
    const wholeMs = millisecondsOf(query?.within ?? longestMs / 1_000);
    if (wholeMs === null) return ask(query, options);
    const { timeoutMs, signal } = { ...defaults, ...options };
    const mostMs = Math.max(0, Math.min(longestMs, timeoutMs - reserveMs));
    const end = Date.now() + wholeMs;
    for (;;) {
      const began = Date.now();
      const seconds = Math.ceil(Math.min(mostMs, Math.max(0, end - began)) / 1_000);
      try {
        return await ask({ ...query, within: `${seconds}s` }, options);
      } catch (error) {
        if (!isMissing(error) || Date.now() >= end) throw error;
      }
      await pause(Math.min(began + eachMs, end) - Date.now(), signal);
    }
  };
}
