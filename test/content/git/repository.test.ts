// Repositories in the store: their objects as git reads them, the history of main, and its only way
// to grow.
import { describe, expect, it } from 'vitest';
import { type NewCommit, prepareCommit } from '../../../src/content/git/commit.ts';
import {
  createRepository,
  deleteRepository,
  filesAt,
  findHead,
  growMain,
  growthBy,
  type Head,
  historyOf,
  placeOf,
} from '../../../src/content/git/repository.ts';
import type { App } from '../../../src/core/app.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { testStart } from '../../support/test-app.ts';
import { git, hasGit, looseRepository } from './real-git.ts';

const author = { name: 'Ada <ada>\n', email: 'ada@example.com' };

function commitOf(files: NewCommit['files'], parents: string[] = [], message = 'Change') {
  return { files, parents, author, message, at: testStart };
}

describe.each(stores)('a repository on %s', (store) => {
  const test = eachApp({ store });
  const id = 'tmpl_01hzzzzzzzzzzzzzzzzzzzzzzz';

  const repository = () => ({ id, organizationId: test.caller.organizationId });
  const headOf = async (app: App) => (await findHead(app.store.db, id)) as Head;

  async function begin(files: NewCommit['files']) {
    const first = await prepareCommit(null, id, commitOf(files));
    await test.app.store.write((trx) => createRepository(trx, repository(), growthBy(first)));
    return first;
  }

  async function grow(files: NewCommit['files'], message?: string) {
    const head = await headOf(test.app);
    const next = await prepareCommit(test.app.store.db, id, commitOf(files, [head.oid], message));
    const grew = await test.app.store.write((trx) =>
      growMain(trx, repository(), head, growthBy(next)),
    );
    return { ...next, grew };
  }

  it('returns the files of each commit', async () => {
    const first = await begin({ 'body.html': '<p>1</p>', 'partials/a.html': 'é' });
    const second = await grow({ 'body.html': '<p>2</p>', 'partials/a.html': 'é' });
    const { db } = test.app.store;
    expect(await filesAt(db, id, first.oid)).toEqual({
      'body.html': '<p>1</p>',
      'partials/a.html': 'é',
    });
    expect(await filesAt(db, id, second.oid)).toMatchObject({ 'body.html': '<p>2</p>' });
  });

  it('stores an unchanged file once', async () => {
    await begin({ 'body.html': '<p>1</p>', 'partials/a.html': 'é' });
    const second = await grow({ 'body.html': '<p>2</p>', 'partials/a.html': 'é' });
    expect(second.objects.map(({ type }) => type).sort()).toEqual(['blob', 'commit', 'tree']);
  });

  it('refuses growth from a head that has moved', async () => {
    await begin({ 'body.html': '1' });
    const stale = await headOf(test.app);
    await grow({ 'body.html': '2' });
    const late = await prepareCommit(
      test.app.store.db,
      id,
      commitOf({ 'body.html': '3' }, [stale.oid]),
    );
    const grew = await test.app.store.write((trx) =>
      growMain(trx, repository(), stale, growthBy(late)),
    );
    expect(grew).toBe(false);
    expect(await filesAt(test.app.store.db, id, late.oid)).toBeUndefined();
  });

  it('lists the history newest first, page by page', async () => {
    await begin({ 'body.html': '0' });
    for (let i = 1; i < 5; i++) await grow({ 'body.html': `${i}` }, `Change ${i}`);
    const { db } = test.app.store;
    const page = await historyOf(db, id, Number.MAX_SAFE_INTEGER, 3);
    expect(page.map(({ message }) => message)).toEqual(['Change 4\n', 'Change 3\n', 'Change 2\n']);
    const rest = await historyOf(db, id, page[2]?.position ?? 0, 3);
    expect(rest.map(({ message }) => message)).toEqual(['Change 1\n', 'Change\n']);
  });

  it('finds no commit of another repository', async () => {
    const first = await begin({ 'body.html': '1' });
    const { db } = test.app.store;
    expect(await placeOf(db, id, first.oid)).toBe(1);
    expect(await placeOf(db, 'tmpl_02hzzzzzzzzzzzzzzzzzzzzzzz', first.oid)).toBeUndefined();
  });

  it('finds no place of a tree', async () => {
    const first = await begin({ 'body.html': '1' });
    const tree = first.objects.find(({ type }) => type === 'tree')?.oid ?? '';
    expect(await placeOf(test.app.store.db, id, tree)).toBeUndefined();
  });

  it('leaves nothing of a deleted repository', async () => {
    const first = await begin({ 'body.html': '1' });
    await test.app.store.write((trx) => deleteRepository(trx, id));
    expect(await findHead(test.app.store.db, id)).toBeUndefined();
    expect(await filesAt(test.app.store.db, id, first.oid)).toBeUndefined();
  });

  it.skipIf(!hasGit)('passes git fsck --strict', async () => {
    const first = await begin({ 'body.html': '1', 'partials/a.html': 'a', 'partials.txt': 'x' });
    const second = await grow({ 'body.html': '2', 'partials/a.html': 'a' }, 'Two\n\nlines\0 ');
    const oids = [...first.objects, ...second.objects].map(({ oid }) => oid);
    const dir = await looseRepository(test.app.store.db, id, second.oid, oids);
    await git(dir, 'fsck', '--strict', '--full', '--no-progress');
    expect(await git(dir, 'log', '--format=%an %ae %s', 'main')).toBe(
      'Ada ada ada@example.com Two\nAda ada ada@example.com Change',
    );
    expect(await git(dir, 'show', 'main~1:partials/a.html')).toBe('a');
  });
});
