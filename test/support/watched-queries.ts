// The SQL statements of the service, recorded at the drivers: text and values of every statement
// that runs while watched, on every connection of this process.
import Database from 'better-sqlite3';
import pg from 'pg';

export interface Query {
  text: string;
  values: readonly unknown[];
  /** Number of runs of the statement. */
  times: number;
}

type Run = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Replaces a method of a driver by a function that first reports the call. Returns a function that
 * restores the method.
 */
function tap(target: object, name: string, tell: (self: unknown, args: unknown[]) => void) {
  const holder = target as Record<string, Run>;
  const original = holder[name] as Run;
  holder[name] = function (...args) {
    tell(this, args);
    return original.apply(this, args);
  };
  return () => {
    holder[name] = original;
  };
}

/** Returns the bytes of all values of these rows. */
function bytesOf(rows: unknown): number {
  return ((Array.isArray(rows) ? rows : [rows]) as object[]).reduce((sum, row) => {
    for (const value of Object.values(row ?? {})) {
      sum += Buffer.isBuffer(value) ? value.length : Buffer.byteLength(String(value));
    }
    return sum;
  }, 0);
}

/** Counts the bytes of rows that SQLite returns until `stop`, over all statements. */
export function watchBytes(): { take(): number; stop(): void } {
  let bytes = 0;
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'));
  const holder = statement as Record<string, Run>;
  const originals = (['all', 'get'] as const).map((name) => [name, holder[name] as Run] as const);
  for (const [name, original] of originals) {
    holder[name] = function (...args) {
      const rows = original.apply(this, args);
      bytes += bytesOf(rows);
      return rows;
    };
  }
  return {
    take() {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
    stop() {
      for (const [name, original] of originals) holder[name] = original;
    },
  };
}

const verbs = /^\s*(select|insert|update|delete|with)\b/i;
/** Asks a server by the clock whether it is alive (postgres/changes.ts): a test meets it or not. */
const aliveQuestion = 'select 1';

/** Watches until `stop`. `take` returns the statements since the last call, each text once. */
export function watchQueries(): { take(): Query[]; stop(): void } {
  const seen = new Map<string, Query>();
  const see = (text: unknown, values: readonly unknown[]) => {
    if (typeof text !== 'string' || !verbs.test(text) || text === aliveQuestion) return;
    seen.set(text, { text, values, times: 1 + (seen.get(text)?.times ?? 0) });
  };
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'));
  const untap = [
    ...['all', 'get', 'run'].map((name) =>
      tap(statement, name, (self, [values]) => {
        const { source } = self as { source: string };
        see(source, Array.isArray(values) ? values : []);
      }),
    ),
    tap(pg.Client.prototype, 'query', (_self, [asked]) => {
      const { text = asked, values = [] } = (asked ?? {}) as Partial<Query>;
      see(text, values);
    }),
  ];
  return {
    take() {
      const taken = [...seen.values()];
      seen.clear();
      return taken;
    },
    stop() {
      for (const one of untap) one();
    },
  };
}
