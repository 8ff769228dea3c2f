// The git repositories of templates, in the store: the branch main and the history of main, which
// only grows. Each commit has a number in the history, so that a look-up, a page of history or a
// fetch reads rows and walks no graph.
import type { Db } from '../../platform/store/db.ts';
import type { TemplateFiles } from '../rendering/compiled.ts';
import type { PackedObject, PreparedCommit } from './commit.ts';
import { inflated } from './deflate.ts';
import { badObject, type Commit, decodeCommit, decodeTree, folderMode, textOf } from './objects.ts';
import {
  deletePending,
  deleteRows,
  findObjects,
  findPlaces,
  findRef,
  insertObjects,
  insertRef,
  moveRef,
  placeCommit,
  placePending,
  type StoredObject,
  selectCommits,
} from './queries.ts';

export interface Repository {
  /** Id of the template. */
  id: string;
  organizationId: string;
}

/** Name of the only branch of a repository. */
export const mainRef = 'refs/heads/main';

/** The newest commit of main, and the number of commits in the history. */
export interface Head {
  oid: string;
  commits: number;
}

/** A commit of main with the position in the history, from 1. */
export interface PlacedCommit extends Commit {
  oid: string;
  position: number;
}

/** New commits for main: `commits` in the order of history, the new head last. */
export interface Growth {
  /** Objects of these commits, besides objects that await a merge. */
  objects: readonly PackedObject[];
  commits: readonly string[];
  /** Commits with every earlier commit among their ancestors; only the last commit if undefined. */
  closing?: ReadonlySet<string>;
  /** Whether objects that await a merge belong to these commits. */
  mergesPending?: boolean;
}

/** Stores a repository with the first commits. */
export async function createRepository(
  trx: Db,
  repository: Repository,
  growth: Growth,
): Promise<void> {
  const oid = growth.commits.at(-1) ?? '';
  const ref = { name: mainRef, oid, commits: growth.commits.length };
  const owner = { repository_id: repository.id, organization_id: repository.organizationId };
  await insertRef(trx, { ...owner, ...ref });
  await insertObjects(trx, rowsOf(repository, growth, 0));
}

/**
 * Adds commits to main if the head is still `from`. Otherwise changes nothing and returns false.
 */
export async function growMain(
  trx: Db,
  repository: Repository,
  from: Head,
  growth: Growth,
): Promise<boolean> {
  const to = growth.commits.at(-1) ?? from.oid;
  const commits = from.commits + growth.commits.length;
  const moved = await moveRef(trx, repository.id, mainRef, from.oid, to, commits);
  if (moved === 0) return false;
  await insertObjects(trx, rowsOf(repository, growth, from.commits));
  if (growth.mergesPending) {
    await placePending(trx, repository.id, commits);
    for (const [index, oid] of growth.commits.entries()) {
      await placeCommit(trx, repository.id, oid, from.commits + 1 + index);
    }
  }
  return true;
}

/** Returns the growth by a single commit on the head. */
export function growthBy({ oid, objects }: PreparedCommit): Growth {
  return { objects, commits: [oid] };
}

function rowsOf({ id, organizationId }: Repository, growth: Growth, before: number) {
  const { objects, commits, closing = new Set(commits.slice(-1)) } = growth;
  const places = new Map(commits.map((oid, index) => [oid, before + 1 + index]));
  const last = before + commits.length;
  return objects.map(({ oid, type, size, content }) => ({
    repository_id: id,
    oid,
    organization_id: organizationId,
    type,
    size,
    content,
    position: places.get(oid) ?? last,
    closes_history: Number(closing.has(oid)),
  }));
}

/** Stores objects that await a merge. */
export async function keepPending(
  trx: Db,
  { id, organizationId }: Repository,
  objects: readonly PackedObject[],
): Promise<void> {
  const rows = objects.map(({ oid, type, size, content }) => ({
    repository_id: id,
    oid,
    organization_id: organizationId,
    type,
    size,
    content,
    position: null,
    closes_history: 0,
  }));
  await insertObjects(trx, rows);
}

/**
 * Returns the commits up to `tip` that main lacks, parents first. All of them await a merge.
 */
export async function commitsBeyondMain(
  db: Db,
  repositoryId: string,
  tip: string,
): Promise<{ oid: string; parents: string[] }[]> {
  const order: { oid: string; parents: string[] }[] = [];
  const seen = new Set<string>();
  const waiting: { oid: string; parents?: string[] }[] = [{ oid: tip }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { oid, parents } = next;
    if (parents) {
      order.push({ oid, parents });
      continue;
    }
    if (seen.has(oid)) continue;
    seen.add(oid);
    if ((await placeOf(db, repositoryId, oid)) !== undefined) continue;
    const commit = await readCommit(db, repositoryId, oid);
    if (!commit) throw badObject('commit', oid, 'is missing');
    waiting.push({ oid, parents: commit.parents });
    for (const parent of commit.parents) waiting.push({ oid: parent });
  }
  return order;
}

/** Deletes the objects that await a merge, when the merge is given up. */
export function dropPending(trx: Db, repositoryId: string): Promise<void> {
  return deletePending(trx, repositoryId);
}

/** Deletes a repository with the history. */
export function deleteRepository(trx: Db, repositoryId: string): Promise<void> {
  return deleteRows(trx, repositoryId);
}

/** Returns the head of main; undefined if the repository does not exist. */
export function findHead(db: Db, repositoryId: string): Promise<Head | undefined> {
  return findRef(db, repositoryId, mainRef);
}

/** Returns the position of a commit in the history of main; undefined if main lacks the commit. */
export async function placeOf(
  db: Db,
  repositoryId: string,
  oid: string,
): Promise<number | undefined> {
  const [found] = await findPlaces(db, repositoryId, [oid]);
  return found?.type === 'commit' ? (found.position ?? undefined) : undefined;
}

/** Returns up to `limit` commits of main, newest first, all before the position `below`. */
export async function historyOf(
  db: Db,
  repositoryId: string,
  below: number,
  limit: number,
): Promise<PlacedCommit[]> {
  const rows = await selectCommits(db, repositoryId, below, limit);
  return Promise.all(
    rows.map(async ({ oid, size, content, position }) => ({
      ...decodeCommit(oid, await inflated(content, size)),
      oid,
      position: position ?? 0,
    })),
  );
}

/** Returns the bodies of objects by id; missing objects are left out. */
export async function readObjects(
  db: Db,
  repositoryId: string,
  oids: readonly string[],
): Promise<Map<string, StoredObject & { body: Buffer }>> {
  const found = oids.length === 0 ? [] : await findObjects(db, repositoryId, oids);
  const bodies = new Map<string, StoredObject & { body: Buffer }>();
  for (const row of found) {
    bodies.set(row.oid, { ...row, body: await inflated(row.content, row.size) });
  }
  return bodies;
}

async function readCommit(db: Db, repositoryId: string, oid: string): Promise<Commit | undefined> {
  const found = (await readObjects(db, repositoryId, [oid])).get(oid);
  return found?.type === 'commit' ? decodeCommit(oid, found.body) : undefined;
}

/** Returns the ids of the files of a tree by path. */
async function blobsOf(
  db: Db,
  repositoryId: string,
  treeOid: string,
): Promise<Map<string, string>> {
  const blobs = new Map<string, string>();
  let folders = [{ path: '', oid: treeOid }];
  while (folders.length > 0) {
    const bodies = await readObjects(
      db,
      repositoryId,
      folders.map(({ oid }) => oid),
    );
    const inner: typeof folders = [];
    for (const { path, oid } of folders) {
      const tree = bodies.get(oid);
      if (!tree) throw badObject('tree', oid, 'is missing');
      for (const entry of decodeTree(oid, tree.body)) {
        const at = path + entry.name;
        if (entry.mode === folderMode) inner.push({ path: `${at}/`, oid: entry.oid });
        else blobs.set(at, entry.oid);
      }
    }
    folders = inner;
  }
  return blobs;
}

/** Returns the files of a commit by path; undefined if the repository lacks the commit. */
export async function filesAt(
  db: Db,
  repositoryId: string,
  commitOid: string,
): Promise<TemplateFiles | undefined> {
  const commit = await readCommit(db, repositoryId, commitOid);
  if (!commit) return undefined;
  const blobs = await blobsOf(db, repositoryId, commit.tree);
  const bodies = await readObjects(db, repositoryId, [...new Set(blobs.values())]);
  const paths = [...blobs.keys()].sort();
  return Object.fromEntries(
    paths.map((path) => {
      const oid = blobs.get(path) ?? '';
      const text = textOf(bodies.get(oid)?.body ?? Buffer.of(0));
      if (text === undefined) throw badObject('blob', oid, 'is missing or no text');
      return [path, text];
    }),
  );
}
