// Mail parsers that the tests of a process use in sequence: starting a worker takes longer than
// most tests. A parser that still works when its service closes is closed too.
import { createMimeParser, type MimeParser } from '../../src/mail/parse/parser.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';

/** A parser with deadlines by the clock of its current user. */
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

/** Returns the parser of a closed service, or a new parser; for `AppOverrides.createMimeParser`. */
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
