// Reads the next contacts of a run before the transaction that judges them.

import type { App } from '../../core/app.ts';
import { matchesAmong } from '../../people/contacts/condition-queries.ts';
import { findIdFurther } from '../../people/contacts/queries.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import { OverdueError, unlessOverdue } from '../../platform/store/aside.ts';
import type { Question } from './judge.ts';
import { askedOf, selectIncluded } from './queries.ts';
import type { AudienceSnapshot } from './schema.ts';

/** Most contacts that a read compares with the queries of contact groups. */
const mostExamined = 5_000;
/** Factor for the size of the next read after an overdue read; `growth`: after a read in time. */
const nextShare = 0.1;
const growth = 1.5;
/** Most entries of `sizesOf`. */
const mostKept = 1_000;

/** Contacts that a read of an audience may examine, by run, for runs with overdue reads. */
const sizesOf = perApp((_app: App) => recentlyUsed<number>(mostKept));

/**
 * Reads at most `most` contacts, or fewer if that takes too long: down to a single contact.
 * @throws OverdueError if even a single contact takes too long
 */
async function readInTime<T>(
  app: App,
  name: string,
  most: number,
  read: (count: number) => Promise<T>,
): Promise<T> {
  const sizes = sizesOf(app);
  for (let size = Math.min(most, sizes.get(name) ?? most); ; size = Math.ceil(size * nextShare)) {
    const found = await unlessOverdue(read(size));
    if (found !== null) {
      if (size < most) sizes.set(name, Math.ceil(size * growth));
      return found;
    }
    sizes.set(name, size);
    if (size === 1) throw new OverdueError();
  }
}

interface Asked {
  runId: string;
  /** Id after which to read; null to read from the first contact. */
  after: string | null;
  until: string;
  limit: number;
}

/** Candidates by id. */
interface Candidates {
  ids: string[];
  /** Last id of the read range (`until` at the end): `ids` has all candidates up to this id. */
  reached: string;
}

/**
 * Reads contacts that the audience includes, by id, outside of the event loop. judge.ts may still
 * leave them out. A read may find no contact although the audience has more: continue after
 * `reached`. @throws OverdueError; CapacityError as `Store.aside` does. Both are temporary.
 */
export async function readCandidates(
  app: App,
  organizationId: string,
  audience: AudienceSnapshot,
  { runId, after, until, limit }: Asked,
): Promise<Candidates> {
  const start = after ?? '';
  return readInTime(app, `candidates ${runId}`, mostExamined, (examined) =>
    app.store.aside(organizationId, async (db) => {
      const isScanned = audience.queries.length > 0;
      const further = isScanned
        ? await findIdFurther(db, organizationId, start, until, examined - 1)
        : undefined;
      const range = { after: start, until: further ?? until };
      const ids = await selectIncluded(db, organizationId, audience, range, limit);
      return { ids, reached: ids.length < limit ? range.until : (ids.at(-1) ?? range.until) };
    }),
  );
}

/**
 * Reads which of these contacts match a query of the audience, outside of the event loop: a query
 * can take a millisecond for each contact, too long for a transaction. If all of them take too
 * long, the answer covers only the first contacts. @throws OverdueError; CapacityError as
 * `Store.aside` does. Both are temporary.
 */
export async function readMatches(
  app: App,
  { runId, organizationId }: Pick<Question, 'runId' | 'organizationId'>,
  audience: AudienceSnapshot,
  ids: readonly string[],
): Promise<{ matching: Set<string>; asked: readonly string[] }> {
  const queries = askedOf(organizationId, audience);
  if (queries.length === 0) return { matching: new Set(), asked: ids };
  return readInTime(app, `matches ${runId}`, ids.length, async (count) => {
    const asked = ids.slice(0, count);
    const found = await app.store.aside(organizationId, (db) => matchesAmong(db, queries, asked));
    return { matching: new Set(found), asked };
  });
}
