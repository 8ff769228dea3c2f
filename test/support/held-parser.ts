// A mail parser that waits for the test: what happens while a mail is parsed needs no slow mail.
import type { App } from '../../src/core/app.ts';

/** The held calls of a parser. */
export interface HeldParser {
  /** Count of calls since the parser is held. */
  readonly calls: number;
  /** Lets all held calls go on, and holds no later one. */
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
