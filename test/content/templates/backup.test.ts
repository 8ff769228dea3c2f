// Backups of templates: every row comes back, and histories continue from there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Template } from '../../../src/content/templates/schema.ts';
import type {
  Diff,
  History,
  WorkspaceView,
} from '../../../src/content/templates/workspace/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

/** Tables that the wing of contents made; each is checked to have rows. */
const tables = [
  'brands',
  'git_objects',
  'git_refs',
  'template_families',
  'template_versions',
  'template_workspaces',
  'templates',
  'workspace_answers',
];

let cli: CliWorkspace;

function rowsOf(): Record<string, unknown[]> {
  const database = new Database(join(cli.directory, 'data/svc.db'), { readonly: true });
  const read = (name: string) => database.prepare(`select * from ${name} order by 1, 2`).all();
  const rows = Object.fromEntries(tables.map((name) => [name, read(name)]));
  database.close();
  return rows;
}

const json = <T>(...args: string[]) => cli.json<T>(args);
const historyOf = async () => (await json<History>('templates', 'history', 'welcome')).items;

describe('a restored backup', () => {
  let before: Record<string, unknown[]>;
  let commits: History['items'];

  beforeAll(async () => {
    cli = await initializedWorkspace();
    await json('brands', 'create', '--slug', 'acme', '--name', 'Acme');
    const family = await json<{ id: string }>('families', 'create', '--name', 'Orders');
    const body = ['--subject', 'Hello', '--html', '<p>first</p>'];
    await json('templates', 'create', '--slug', 'welcome', ...body);
    await json('families', 'add', family.id, 'welcome');
    await json('templates', 'clone', 'welcome', 'folder');
    writeFileSync(join(cli.directory, 'folder/body.html'), '<p>second</p>');
    await json('templates', 'push', 'folder', '--message', 'second');
    await json('templates', 'publish', 'welcome');
    commits = await historyOf();
    await json('templates', 'restore', 'welcome', commits[1]?.commit ?? '', '--stage');
    before = rowsOf();
    await json('backup', 'backup.db');
    await json('templates', 'delete', 'welcome', '--yes');
    await json('families', 'delete', family.id, '--yes');
    await json('brands', 'delete', 'acme', '--yes');
    await json('restore', 'backup.db', '--yes');
  });
  afterAll(() => cli.close());

  it('has every row of templates, families and brands', () => {
    expect(tables.filter((name) => before[name]?.length === 0)).toEqual([]);
    expect(rowsOf()).toEqual(before);
  });

  it('lists and compares the commits', async () => {
    expect(await historyOf()).toEqual(commits);
    const [second, first] = commits.map(({ commit }) => commit);
    const diff = ['templates', 'diff', 'welcome', '--from', first ?? '', '--to', second ?? ''];
    expect((await json<Diff>(...diff)).files).toMatchObject([
      { path: 'body.html', status: 'modified', diff: expect.stringContaining('+<p>second</p>') },
    ]);
  });

  it('has the staged files of before', async () => {
    const { files } = await json<Diff>('templates', 'diff', 'welcome');
    expect(files).toMatchObject([{ diff: expect.stringContaining('+<p>first</p>') }]);
  });

  it('saves restored files as a commit on the history', async () => {
    const args = ['templates', 'restore', 'welcome', commits[1]?.commit ?? ''];
    const { workspace } = await json<WorkspaceView>(...args);
    const [newest, ...rest] = await historyOf();
    expect(newest).toMatchObject({
      commit: workspace.baseCommit,
      parents: [commits[0]?.commit],
    });
    expect(rest).toEqual(commits);
  });

  it('publishes the next version', async () => {
    expect(await json<Template>('templates', 'publish', 'welcome')).toMatchObject({ version: 2 });
  });
});
