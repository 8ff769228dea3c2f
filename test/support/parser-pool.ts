// Mail parsers that the tests of one process use one after another: starting the worker of one
// takes longer than most tests. One that is at work when its service closes is closed with it.
import { createMimeParser, type MimeParser } from '../../src/mail/parse/parser.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';

/** A parser whose deadlines follow the clock of its current user. */
interface PooledParser {
  parser: MimeParser;
  follow(clock: Clock): void;
}

const free: PooledParser[] = [];

function makePooled(): PooledParser {
  let current: Clock;
  const clock: Clock = {
    now: () => current.now(),
    elapsed: () => current.elapsed(),
    after: (delayMs, run) => current.after(delayMs, run),
  };
  return {
    parser: createMimeParser({ clock }),
    follow(next) {
      current = next;
    },
  };
}

/**
 * Returns the parser of a service that closed, or a new one; for `AppOverrides.createMimeParser`.
 */
export function pooledParser({ clock }: { clock: Clock }): MimeParser {
  const pooled = free.pop() ?? makePooled();
  pooled.follow(clock);
  let { parser } = pooled;
  let atWork = 0;
  let isClosed = false;
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    atWork += 1;
    try {
      return await work;
    } finally {
      atWork -= 1;
    }
  };
  return {
    parse: (...args) => counted(parser.parse(...args)),
    readReport: (...args) => counted(parser.readReport(...args)),
    readAttachment: (...args) => counted(parser.readAttachment(...args)),
    readParts: (...args) => counted(parser.readParts(...args)),
    readWords: (...args) => counted(parser.readWords(...args)),
    readExtracts: (...args) => counted(parser.readExtracts(...args)),
    matchTexts: (...args) => counted(parser.matchTexts(...args)),
    hidesWords: (...args) => counted(parser.hidesWords(...args)),
    readText: (...args) => counted(parser.readText(...args)),
    async close() {
      if (isClosed) return;
      isClosed = true;
      if (atWork > 0) return parser.close();
      free.push(pooled);
      parser = createMimeParser({ clock });
      await parser.close();
    },
  };
}
