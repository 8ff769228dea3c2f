// The repository of a template in the hands of the real git: clone, history, pull, push, refused
// pushes, bundles, conflicts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpServer, type HttpServer } from '../../../../daemon/http/server.ts';
import { createAuthenticator } from '../../../../src/access/keys/authenticator.ts';
import { createKey } from '../../../../src/access/keys/keys.ts';
import { findPlaces } from '../../../../src/content/git/queries.ts';
import type { WorkspaceView } from '../../../../src/content/templates/workspace/schema.ts';
import { showWorkspace } from '../../../../src/content/templates/workspace/workspace.ts';
import { stores } from '../../../support/command.ts';
import { eachApi } from '../../../support/each-app.ts';
import { failingGit, git, hasGit, scratch } from '../../git/real-git.ts';
import { filesOf, makeTemplate, save, saveBody, stage, templateYaml } from './fixtures.ts';

const bundleType = 'application/x-git-bundle';

describe.skipIf(!hasGit).each(stores)('git clients on %s', (store) => {
  const { test, api } = eachApi({ store });
  let http: HttpServer;
  let base = '';
  let id = '';
  let dir = '';

  beforeEach(async () => {
    const authenticator = createAuthenticator(test.app);
    http = createHttpServer(test.app, {
      routes: [],
      authenticate: (plaintext) => authenticator.authenticate(plaintext),
      isQueueRunning: () => true,
    });
    base = (await http.listen()).url;
    id = await makeTemplate(test.app, test.caller);
    dir = scratch();
  });
  afterEach(() => http.close(0));

  const urlOf = (key = test.apiKey) =>
    `${base.replace('http://', `http://any:${key}@`)}/v1/templates/${id}/git`;
  const clone = async (name = 'clone', key?: string) => {
    await git(dir, 'clone', '--quiet', urlOf(key), name);
    return join(dir, name);
  };
  const commit = async (at: string, name: string, content: string, message = `Add ${name}`) => {
    writeFileSync(join(at, name), content);
    await git(at, 'add', '.');
    await git(at, 'commit', '--quiet', '-m', message);
  };
  const show = () => showWorkspace(test.app, test.caller, id);
  const putBundle = (path: string) =>
    api.request<WorkspaceView>('PUT', `/v1/templates/${id}/workspace/bundle`, {
      body: readFileSync(path),
      headers: { 'content-type': bundleType },
    });

  it('clone a repository that passes fsck --strict', async () => {
    await stage(test.app, test.caller, id, { 'partials/a.html': 'a' });
    await save(test.app, test.caller, id, 'Add a partial');
    const at = await clone();
    await git(at, 'fsck', '--strict', '--full', '--no-progress');
    expect(await git(at, 'log', '--format=%s')).toBe('Add a partial\nCreate the template');
    expect(readFileSync(join(at, 'partials/a.html'), 'utf8')).toBe('a');
  });

  it('pull only the objects of new commits', async () => {
    for (const word of ['b', 'c', 'd']) await saveBody(test.app, test.caller, id, word);
    const at = await clone();
    const countOf = async () => Number.parseInt(await git(at, 'count-objects'), 10);
    const before = await countOf();
    await saveBody(test.app, test.caller, id, 'e');
    await git(at, 'pull', '--quiet', '--ff-only');
    expect(readFileSync(join(at, 'body.html'), 'utf8')).toBe('<p>e</p>');
    // A commit, its tree and one file.
    expect(await countOf()).toBe(before + 3);
  });

  it('fetch after commits of their own', async () => {
    const at = await clone();
    for (let i = 0; i < 40; i++) await commit(at, 'body.txt', `${i}`);
    await saveBody(test.app, test.caller, id, 'e');
    await git(at, 'fetch', '--quiet');
    expect(await git(at, 'merge-base', 'main', 'origin/main')).toBe(
      await git(at, 'rev-parse', 'main~40'),
    );
  });

  it('push commits, which then are the head of the workspace', async () => {
    const at = await clone();
    for (const name of ['body.txt', 'sample.json']) await commit(at, name, '{}\n');
    await git(at, 'push', '--quiet');
    const { workspace, files } = await show();
    expect(workspace).toMatchObject({
      baseCommit: await git(at, 'rev-parse', 'HEAD'),
      revision: '2',
      updatedBy: { userId: test.caller.keyId, via: 'git' },
    });
    expect(files).toEqual({ ...filesOf('first'), 'body.txt': '{}\n', 'sample.json': '{}\n' });
    const again = await clone('again');
    await git(again, 'fsck', '--strict', '--full', '--no-progress');
    expect(await git(again, 'rev-list', '--count', 'HEAD')).toBe('3');
  });

  it('push merge commits', async () => {
    const at = await clone();
    await git(at, 'checkout', '--quiet', '-b', 'side');
    await commit(at, 'body.txt', 'side');
    await git(at, 'checkout', '--quiet', 'main');
    await commit(at, 'sample.json', '{}');
    await git(at, 'merge', '--quiet', '--no-edit', 'side');
    await git(at, 'push', '--quiet', 'origin', 'main');
    const again = await clone('again');
    expect(await git(again, 'rev-list', '--count', 'HEAD')).toBe('4');
    await saveBody(test.app, test.caller, id, 'after');
    await git(at, 'pull', '--quiet', '--ff-only', 'origin', 'main');
  });

  it('restore a pushed commit', async () => {
    const at = await clone();
    await commit(at, 'body.txt', 'one');
    await commit(at, 'body.txt', 'two');
    await git(at, 'push', '--quiet');
    const one = await git(at, 'rev-parse', 'HEAD~1');
    const { body } = await api.post<{ view: WorkspaceView }>(
      `/v1/templates/${id}/workspace/restore`,
      { expectedRevision: '2', commit: one, idempotencyKey: 'r' },
    );
    expect(body.view.files['body.txt']).toBe('one');
  });

  it('are refused a push that does not extend main', async () => {
    const at = await clone();
    await saveBody(test.app, test.caller, id, 'server');
    await commit(at, 'body.txt', 'client');
    expect(await failingGit(at, 'push')).toContain('rejected');
    const before = await show();
    expect(await failingGit(at, 'push', '--force')).toContain('non-fast-forward');
    expect(await show()).toEqual(before);
  });

  it.each([
    ['another branch', ['push', 'origin', 'main:refs/heads/other'], 'only refs/heads/main'],
    ['a tag', ['push', 'origin', 'HEAD:refs/tags/v1'], 'only refs/heads/main'],
    ['two branches', ['push', 'origin', 'main', 'main:other'], 'alone'],
    ['a deletion', ['push', 'origin', ':main'], 'remote rejected'],
  ])('are refused a push of %s', async (_what, args, words) => {
    const at = await clone();
    await commit(at, 'body.txt', 'client');
    expect(await failingGit(at, ...args)).toContain(words);
    expect((await show()).workspace.revision).toBe('1');
  });

  it.each<[string, (at: string) => Promise<unknown>, string]>([
    [
      'a symbolic link',
      async (at) => git(at, 'update-index', '--add', '--cacheinfo', `120000,${await blobIn(at)},x`),
      'files.x: a symbolic link is refused',
    ],
    [
      'a submodule',
      (at) => git(at, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`),
      'files.sub: a submodule is refused',
    ],
    [
      'a file in another case',
      async (at) =>
        git(at, 'update-index', '--add', '--cacheinfo', `100644,${await blobIn(at)},BODY.html`),
      'upper and lower case',
    ],
    [
      'a file that is no text',
      async (at) => {
        writeFileSync(join(at, 'a.png'), Buffer.of(0x89, 0x50, 0, 1));
        await git(at, 'add', 'a.png');
      },
      'files.a.png: a file is text in UTF-8',
    ],
    [
      'a file over 512 KB',
      async (at) => {
        writeFileSync(join(at, 'a.txt'), 'x'.repeat(513 * 1024));
        await git(at, 'add', 'a.txt');
      },
      'files.a.txt: a file has at most 512 KB',
    ],
  ])('are refused a push of %s, also in an earlier commit', async (_what, change, words) => {
    const at = await clone();
    await change(at);
    await git(at, 'commit', '--quiet', '-m', 'Bad');
    await git(at, 'commit', '--quiet', '--allow-empty', '-m', 'Harmless');
    await git(at, 'read-tree', 'HEAD~2');
    await git(at, 'commit', '--quiet', '-m', 'Undo');
    expect(await failingGit(at, 'push')).toContain(words);
    expect((await show()).workspace.revision).toBe('1');
    const bad = await git(at, 'rev-parse', 'HEAD');
    expect(await findPlaces(test.app.store.db, id, [bad])).toEqual([]);
  });

  const blobIn = (at: string) => git(at, 'rev-parse', 'HEAD:body.html');

  it('are refused a commit from before 1970', async () => {
    const at = await clone();
    const head = await git(at, 'cat-file', '-p', 'HEAD');
    const parent = await git(at, 'rev-parse', 'HEAD');
    const old = head
      .replaceAll(/> \d+ \+0000/g, '> -5 +0000')
      .replace(/^(tree .*)\n/, `$1\nparent ${parent}\n`);
    writeFileSync(join(at, 'old'), `${old}\n`);
    const oid = await git(at, 'hash-object', '-t', 'commit', '-w', '--literally', 'old');
    expect(await failingGit(at, 'push', 'origin', `${oid}:main`)).toContain('before 1970');
  });

  it('need a key with the right permission', async () => {
    const { key } = await createKey(test.app, test.operator, {
      name: 'reader',
      permissions: { templates: ['read'] },
    });
    const at = await clone('read', key ?? '');
    await commit(at, 'body.txt', 'x');
    expect(await failingGit(at, 'push')).toContain('403');
    const refused = await failingGit(dir, 'clone', urlOf('svc_wrong'), 'none');
    expect(refused).toContain('Authentication failed');
  });

  it('move the draft onto a push', async () => {
    const at = await clone();
    await stage(test.app, test.caller, id, { 'body.html': 'draft' });
    await commit(at, 'body.txt', 'pushed');
    await git(at, 'push', '--quiet');
    const { workspace, files } = await show();
    expect(workspace).toMatchObject({ overlay: { 'body.html': 'draft' }, conflicts: [] });
    expect(files).toMatchObject({ 'body.html': 'draft', 'body.txt': 'pushed' });
  });

  it('leave conflicts of a push with the draft, until a save resolves them', async () => {
    const at = await clone();
    await stage(test.app, test.caller, id, { 'body.html': 'draft' });
    await commit(at, 'body.html', 'pushed');
    await git(at, 'push', '--quiet');
    const path = `/v1/templates/${id}/workspace` as const;
    const { workspace } = await show();
    expect(workspace.conflicts).toEqual([
      { path: 'body.html', base: '<p>first</p>', draft: 'draft', main: 'pushed' },
    ]);
    const early = { expectedRevision: '3', idempotencyKey: 'early' };
    expect(await api.post(`${path}/save`, early)).toMatchObject({
      status: 409,
      body: {
        message: 'The draft and main both changed body.html: stage these files, then save',
      },
    });
    await stage(test.app, test.caller, id, { 'body.html': 'both' });
    await save(test.app, test.caller, id, 'Resolve');
    expect((await show()).workspace).toMatchObject({ conflicts: [], overlay: {} });
    await git(at, 'pull', '--quiet', '--ff-only');
    expect(readFileSync(join(at, 'body.html'), 'utf8')).toBe('both');
  });

  it('clone a downloaded bundle', async () => {
    await saveBody(test.app, test.caller, id, 'second');
    const { body } = await api.bytes(`/v1/templates/${id}/workspace/bundle`);
    writeFileSync(join(dir, 'a.bundle'), body);
    await git(dir, 'clone', '--quiet', 'a.bundle', 'clone');
    await git(join(dir, 'clone'), 'fsck', '--strict', '--full', '--no-progress');
    expect(await git(join(dir, 'clone'), 'rev-list', '--count', 'HEAD')).toBe('2');
  });

  it('move main by a bundle that extends it', async () => {
    const at = await clone();
    await commit(at, 'body.txt', 'x'.repeat(9_000));
    await commit(at, 'body.txt', 'x'.repeat(9_000).concat('y'));
    await git(at, 'bundle', 'create', 'a.bundle', 'origin/main..main');
    const { status, body } = await putBundle(join(at, 'a.bundle'));
    expect(status).toBe(200);
    expect(body.workspace).toMatchObject({
      baseCommit: await git(at, 'rev-parse', 'HEAD'),
      pendingRemoteHead: null,
    });
    expect(await show()).toEqual(body);
    expect((await putBundle(join(at, 'a.bundle'))).body).toEqual(body);
  });

  it('list the conflicts of a bundle, until a save merges it', async () => {
    const at = await clone();
    await commit(at, 'body.html', 'theirs');
    await commit(at, 'body.txt', 'new');
    await git(at, 'bundle', 'create', 'a.bundle', 'main');
    await saveBody(test.app, test.caller, id, 'ours');
    const { body } = await putBundle(join(at, 'a.bundle'));
    const theirs = await git(at, 'rev-parse', 'HEAD');
    expect(body.workspace).toMatchObject({
      pendingRemoteHead: theirs,
      conflicts: [
        { path: 'body.html', base: '<p>first</p>', draft: '<p>ours</p>', main: 'theirs' },
      ],
    });
    expect(body.files).toMatchObject({ 'body.html': '<p>ours</p>', 'body.txt': 'new' });
    await stage(test.app, test.caller, id, { 'body.html': '<p>both</p>' });
    const saved = await save(test.app, test.caller, id);
    expect(saved.workspace).toMatchObject({ pendingRemoteHead: null, conflicts: [] });
    await git(at, 'pull', '--quiet', '--ff-only');
    await git(at, 'fsck', '--strict', '--full', '--no-progress');
    expect(await git(at, 'log', '-1', '--format=%s')).toBe(`Merge ${theirs}`);
    expect(await git(at, 'rev-list', '--count', 'HEAD')).toBe('5');
    expect(readFileSync(join(at, 'body.html'), 'utf8')).toBe('<p>both</p>');
  });

  it('forget a pending bundle with the discarded draft', async () => {
    const at = await clone();
    await commit(at, 'body.html', 'theirs');
    await git(at, 'bundle', 'create', 'a.bundle', 'main');
    await saveBody(test.app, test.caller, id, 'ours');
    await putBundle(join(at, 'a.bundle'));
    const body = { expectedRevision: '4', idempotencyKey: 'd' };
    const path = `/v1/templates/${id}/workspace/discard` as const;
    const { body: view } = await api.post<WorkspaceView>(path, body);
    expect(view.workspace).toMatchObject({ pendingRemoteHead: null, conflicts: [], overlay: {} });
    expect(view.files).toEqual({ 'body.html': '<p>ours</p>', 'template.yaml': templateYaml });
    // It can come again, as nothing of it is left.
    expect((await putBundle(join(at, 'a.bundle'))).body.workspace.pendingRemoteHead).toBe(
      await git(at, 'rev-parse', 'HEAD'),
    );
  });

  it('are refused the bundle of another repository', async () => {
    const at = join(dir, 'other');
    await git(dir, 'init', '--quiet', '--initial-branch=main', 'other');
    await commit(at, 'body.html', 'x');
    await git(at, 'bundle', 'create', 'a.bundle', 'main');
    expect(await putBundle(join(at, 'a.bundle'))).toMatchObject({
      status: 422,
      body: { fields: { bundle: ['its main has no commit of this template below it'] } },
    });
  });
});
