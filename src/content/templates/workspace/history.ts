// The history of a template, and the differences between commits.
import { cutPage, readCursor } from '../../../core/api/cursor.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { ResourceNotFoundError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import type { Db } from '../../../platform/store/db.ts';
import { diffFiles } from '../../git/diff.ts';
import { filesAt, historyOf, placeOf } from '../../git/repository.ts';
import type { TemplateFiles } from '../../rendering/compiled.ts';
import { findVersionsOfCommits } from '../queries.ts';
import { getWorkspaceRow, openWorkspace, unlessDeleted } from './changes.ts';
import { draftOf } from './draft.ts';
import type { Diff, DiffQuery, History, HistoryQuery } from './schema.ts';

/**
 * Lists the commits of main, newest first. @throws ResourceNotFoundError, ValidationError (a
 * foreign cursor)
 */
export async function listHistory(
  app: App,
  { organizationId }: Caller,
  templateId: string,
  { limit, cursor }: HistoryQuery,
): Promise<History> {
  const { db } = app.store;
  await getWorkspaceRow(db, organizationId, templateId);
  const scope = ['template-history', templateId];
  const below = cursor === undefined ? Number.MAX_SAFE_INTEGER : readCursor(scope, cursor).at;
  const commits = await historyOf(db, templateId, below, limit + 1);
  const { shown, nextCursor } = cutPage(scope, commits, limit, ({ position: at }) => ({
    at,
    id: templateId,
  }));
  const oids = shown.map(({ oid }) => oid);
  const found = await findVersionsOfCommits(db, templateId, oids);
  const versions = new Map(found.map(({ commit_hash, number }) => [commit_hash, number]));
  return {
    items: shown.map(({ oid, parents, message, author }) => ({
      commit: oid,
      parents,
      message: message.trimEnd(),
      author: { name: author.name, email: author.email },
      date: isoTime(author.seconds * 1000),
      version: versions.get(oid) ?? null,
    })),
    nextCursor,
  };
}

async function filesOfMain(db: Db, templateId: string, commit: string): Promise<TemplateFiles> {
  const files = await unlessDeleted(db, templateId, async () => {
    const isReachable = (await placeOf(db, templateId, commit)) !== undefined;
    return isReachable ? filesAt(db, templateId, commit) : undefined;
  });
  if (!files) throw new ResourceNotFoundError('commit', commit);
  return files;
}

/** Compares two commits of main, or a commit with the draft. @throws ResourceNotFoundError */
export async function diffCommits(
  app: App,
  { organizationId }: Caller,
  templateId: string,
  { from, to }: DiffQuery,
): Promise<Diff> {
  const { db } = app.store;
  const { row, base, overlay } = await openWorkspace(db, organizationId, templateId);
  const before = from === undefined ? base : await filesOfMain(db, templateId, from);
  const after = to === undefined ? draftOf(base, overlay) : await filesOfMain(db, templateId, to);
  const files = await diffFiles(before, after);
  return { from: from ?? row.base_commit, to: to ?? null, files };
}
