// Reads the next contacts of a run before the transaction that judges them.

import { matchesAmong } from '../../people/contacts/condition-queries.ts';
import { findIdFurther } from '../../people/contacts/queries.ts';
import { unlessOverdue } from '../../platform/store/aside.ts';
import type { Store } from '../../platform/store/db.ts';
import { askedOf, selectIncluded } from './queries.ts';
import type { AudienceSnapshot } from './schema.ts';

/** Most contacts that a read examines for groups by query. */
const mostExamined = 5_000;
/** Part of them that a read examines after an overdue one. */
const nextShare = 0.1;

interface Asked {
  /** Null for the first contacts. */
  after: string | null;
  until: string;
  limit: number;
}

/** Candidates by id. */
interface Candidates {
  ids: string[];
  /** All candidates up to this id are in `ids`. `until` at the end of the audience. */
  reached: string;
}

/**
 * Reads contacts that the audience includes, by id, beside the event loop. They may still be judged out
 * (judge.ts). A read may find none before the end: go on after `reached`.
 * @throws OverdueError; CapacityError as `Store.aside` does. Both are temporary.
 */
export async function readCandidates(
  store: Store,
  organizationId: string,
  audience: AudienceSnapshot,
  { after, until, limit }: Asked,
): Promise<Candidates> {
  const start = after ?? '';
  const read = (examined: number) =>
    store.aside(organizationId, async (db) => {
      const isScanned = audience.queries.length > 0;
      const further = isScanned
        ? await findIdFurther(db, organizationId, start, until, examined - 1)
        : undefined;
      const range = { after: start, until: further ?? until };
      const ids = await selectIncluded(db, organizationId, audience, range, limit);
      return { ids, reached: ids.length < limit ? range.until : (ids.at(-1) ?? range.until) };
    });
  return (await unlessOverdue(read(mostExamined))) ?? read(mostExamined * nextShare);
}

/**
 * Reads which of these contacts match a query of the audience, beside the event loop: a query can take a millisecond
 * for each contact, which no transaction has. If all of them take too long, the answer is about the first ones only.
 * @throws OverdueError; CapacityError as `Store.aside` does. Both are temporary.
 */
export async function readMatches(
  store: Store,
  organizationId: string,
  audience: AudienceSnapshot,
  ids: readonly string[],
): Promise<{ matching: Set<string>; asked: readonly string[] }> {
  const queries = askedOf(organizationId, audience);
  if (queries.length === 0) return { matching: new Set(), asked: ids };
  const read = async (asked: readonly string[]) => ({
    matching: new Set(await store.aside(organizationId, (db) => matchesAmong(db, queries, asked))),
    asked,
  });
  const first = () => ids.slice(0, Math.ceil(ids.length * nextShare));
  return (await unlessOverdue(read(ids))) ?? read(first());
}
