// Finds the newest messages by the start of the subject, in bounded time: if many subjects begin
// alike, only the newest messages of the organization are searched.
import type { Db } from '../../../platform/store/db.ts';
import { findSubjects } from '../queries.ts';
import { listMessageIds } from './list-queries.ts';
import { asciiFolded, hasMoreSubjects } from './term-queries.ts';

/** Most messages of a subject that are sorted by time, and most messages read without an index. */
const mostSorted = 1_000;

/**
 * Returns ids of messages with a subject that begins with `subject`, newest first. With more than
 * 1,000 such messages, only the newest 1,000 messages of the organization are searched.
 */
export async function newestBySubject(
  db: Db,
  organizationId: string,
  subject: string,
  limit: number,
): Promise<string[]> {
  if (!(await hasMoreSubjects(db, organizationId, subject, mostSorted))) {
    return listMessageIds(db, { organizationId, subject }, limit, 0);
  }
  const newest = await listMessageIds(db, { organizationId }, mostSorted, 0);
  const subjects = await findSubjects(db, newest);
  const prefix = asciiFolded(subject);
  const fits = (id: string) => asciiFolded(subjects.get(id)?.subject ?? '').startsWith(prefix);
  return newest.filter(fits).slice(0, limit);
}
