// A mail parser that waits for the test: so tests need no slow mail to act during a parse.
import type { App } from '../../src/core/app.ts';

/** The held calls of a parser. */
export interface HeldParser {
  /** Number of calls since the parser was held. */
  readonly calls: number;
  /** Lets all held calls continue, and holds no later call. */
  release(): void;
}

/** Holds every parse and every reading of a report by this app until `release`. */
export function holdParser({ mime }: App): HeldParser {
  const { parse, readReport } = mime;
  const { promise, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  const held =
    <Given extends unknown[], Found>(work: (...given: Given) => Promise<Found>) =>
    async (...given: Given): Promise<Found> => {
      calls += 1;
      await promise;
      return work(...given);
    };
  Object.assign(mime, { parse: held(parse), readReport: held(readReport) });
  return {
    get calls() {
      return calls;
    },
    release: resolve,
  };
}
