// All rows of a template, which must agree: history, branch, workspace, versions, events, audit and
// answers.
import { sql } from 'kysely';
import { expect } from 'vitest';
import { decodeCommit, decodeTree, oidOf } from '../../../src/content/git/objects.ts';
import { mainRef, readObjects } from '../../../src/content/git/repository.ts';
import type { App } from '../../../src/core/app.ts';
import type { Db } from '../../../src/platform/store/db.ts';

/** Columns that name a template. */
const columns = [
  ['templates', 'id'],
  ['template_versions', 'template_id'],
  ['template_workspaces', 'template_id'],
  ['workspace_answers', 'template_id'],
  ['git_objects', 'repository_id'],
  ['git_refs', 'repository_id'],
] as const;

/** Returns the tables with a row of a template. */
export async function tablesWith({ store: { db } }: App, id: string): Promise<string[]> {
  const found: string[] = [];
  for (const [table, column] of columns) {
    const { rows } = await sql`select 1 from ${sql.table(table)}
      where ${sql.ref(column)} = ${id} limit 1`.execute(db);
    if (rows.length > 0) found.push(table);
  }
  return found;
}

/** Actions of the audit that change a workspace, and whether each keeps an answer under a key. */
const workspaceActions: Readonly<Record<string, boolean>> = {
  'template.staged': true,
  'template.saved': true,
  'template.restored': true,
  'template.pushed': false,
  'template.bundled': false,
};

export interface Standing {
  /** Messages of the commits of main, oldest first. */
  commits: string[];
  /** Places in the history that versions name, oldest version first. */
  versions: number[];
  revision: number;
  /** Staged files by path. */
  overlay: Record<string, string | null>;
  /** Keys with an answer. */
  answers: string[];
}

interface Row {
  oid: string;
  type: string;
  position: number | null;
}

const countTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** Returns the ids of all objects that the head of main reaches. */
async function reachable(db: Db, id: string, head: string): Promise<Set<string>> {
  const seen = new Set<string>();
  let next = [head];
  while (next.length > 0) {
    const bodies = await readObjects(db, id, next);
    expect([...bodies.keys()].sort(), 'named objects are stored').toEqual([...next].sort());
    const named: string[] = [];
    for (const [oid, { type, body }] of bodies) {
      expect(oidOf(type as 'blob', body)).toBe(oid);
      seen.add(oid);
      if (type === 'commit') {
        const { tree, parents } = decodeCommit(oid, body);
        named.push(tree, ...parents);
      }
      if (type === 'tree') named.push(...decodeTree(oid, body).map((entry) => entry.oid));
    }
    next = [...new Set(named)].filter((oid) => !seen.has(oid));
  }
  return seen;
}

/**
 * Expects an unbroken chain of commits without other objects; returns its commits, oldest first.
 */
async function historyOf(db: Db, id: string): Promise<{ oid: string; message: string }[]> {
  const { rows: refs } = await sql<{ name: string; oid: string; commits: number }>`
    select name, oid, commits from git_refs where repository_id = ${id}`.execute(db);
  const { rows: objects } = await sql<Row>`
    select oid, type, position from git_objects where repository_id = ${id}`.execute(db);
  const commits = objects
    .filter(({ type }) => type === 'commit')
    .sort((a, b) => Number(a.position) - Number(b.position));
  const head = commits.at(-1)?.oid ?? '';
  expect(commits.map(({ position }) => Number(position))).toEqual(countTo(commits.length));
  expect(refs.map((ref) => ({ ...ref, commits: Number(ref.commits) }))).toEqual([
    { name: mainRef, oid: head, commits: commits.length },
  ]);
  const reached = await reachable(db, id, head);
  expect(objects.map(({ oid }) => oid).sort()).toEqual([...reached].sort());
  const oids = commits.map(({ oid }) => oid);
  const bodies = await readObjects(db, id, oids);
  return oids.map((oid, index) => {
    const { parents, message } = decodeCommit(oid, bodies.get(oid)?.body ?? Buffer.of());
    expect(parents).toEqual(oids.slice(Math.max(0, index - 1), index));
    return { oid, message: message.trimEnd() };
  });
}

/** Reads all rows of a template, and expects them to agree. */
export async function standingOf({ store: { db } }: App, id: string): Promise<Standing> {
  const commits = await historyOf(db, id);
  const oids = commits.map(({ oid }) => oid);
  const {
    rows: [workspace],
  } = await sql<{ revision: number; base_commit: string; overlay: string }>`
    select revision, base_commit, overlay from template_workspaces
    where template_id = ${id}`.execute(db);
  const { rows: audit } = await sql<{ action: string; details: string }>`
    select action, details from audit_entries where resource_id = ${id}`.execute(db);
  const { rows: answers } = await sql<{ idempotency_key: string }>`
    select idempotency_key from workspace_answers where template_id = ${id} order by 1`.execute(db);
  const changes = audit.filter(({ action }) => action in workspaceActions);
  expect(workspace?.base_commit).toBe(oids.at(-1));
  expect(Number(workspace?.revision)).toBe(1 + changes.length);
  expect(answers.length).toBe(changes.filter(({ action }) => workspaceActions[action]).length);

  const { rows: versions } = await sql<{ id: string; number: number; commit_hash: string }>`
    select id, number, commit_hash from template_versions
    where template_id = ${id} order by number`.execute(db);
  const numbers = countTo(versions.length);
  const {
    rows: [template],
  } = await sql`select version_id, version_number, next_version from templates
    where id = ${id}`.execute(db);
  const { rows: events } = await sql<{ data: string; facts: string }>`
    select data, facts from resource_events
    where subject = ${id} and event_type = 'template.published'`.execute(db);
  const published = audit.filter(({ action }) => action === 'template.published');
  const named = versions.map(({ number, commit_hash: commit }) => ({ version: number, commit }));
  expect(named.map(({ version }) => version)).toEqual(numbers);
  expect(template).toEqual({
    version_id: versions.at(-1)?.id ?? null,
    version_number: versions.at(-1)?.number ?? null,
    next_version: versions.length + 1,
  });
  // Ids of two daemons have no order within a millisecond.
  const inOrder = (told: { version: number; commit: string }[]) =>
    told.sort((a, b) => a.version - b.version);
  const audited = published.map(({ details }) => {
    const { version, commit } = JSON.parse(details);
    return { version, commit };
  });
  const logged = events.map(({ data, facts }) => ({
    version: JSON.parse(data).version,
    commit: JSON.parse(facts).commit,
  }));
  expect(inOrder(audited)).toEqual(named);
  expect(inOrder(logged)).toEqual(named);
  for (const { commit } of named) expect(oids).toContain(commit);
  return {
    commits: commits.map(({ message }) => message),
    versions: named.map(({ commit }) => oids.indexOf(commit) + 1),
    revision: Number(workspace?.revision),
    overlay: JSON.parse(workspace?.overlay ?? ''),
    answers: answers.map((row) => row.idempotency_key),
  };
}
