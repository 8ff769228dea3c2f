// The workspace of a template over HTTP: stages, saves and their refusals.
import { beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../../src/access/organizations/organizations.ts';
import { filesAt } from '../../../../src/content/git/repository.ts';
import { sweepAnswers } from '../../../../src/content/templates/workspace/retention.ts';
import type { History, WorkspaceView } from '../../../../src/content/templates/workspace/schema.ts';
import { installed } from '../../../access/keys/installation-fixtures.ts';
import { stores } from '../../../support/command.ts';
import { eachApi } from '../../../support/each-app.ts';
import type { HttpApi } from '../../../support/http-client.ts';
import { filesOf, makeTemplate, save, saveBody, stage, templateYaml } from './fixtures.ts';

describe.each(stores)('the workspace of a template on %s', (store) => {
  const { test, api } = eachApi({ store });
  let id = '';
  let path: `/v1/templates/${string}` = '/v1/templates/';
  beforeEach(async () => {
    id = await makeTemplate(test.app, test.caller);
    path = `/v1/templates/${id}/workspace`;
  });

  const show = async () => (await api.get<WorkspaceView>(path)).body;
  const putFiles = (body: unknown) => api.request<WorkspaceView>('PUT', `${path}/files`, { body });
  const revisionOf = async () => (await show()).workspace.revision;

  it('has every field of specification 2.8', async () => {
    const { workspace, files } = await show();
    const author = { userId: test.caller.keyId, via: 'api' };
    expect(workspace).toEqual({
      projectId: id,
      organizationId: test.caller.organizationId,
      ownerEpoch: 1,
      repositoryName: id,
      defaultBranch: 'main',
      baseCommit: expect.stringMatching(/^[a-f0-9]{40}$/),
      remoteHead: workspace.baseCommit,
      pendingRemoteHead: null,
      revision: '1',
      overlay: {},
      conflicts: [],
      provenance: { references: [] },
      mounts: [{ kind: 'project', root: '/project', access: 'read-write' }],
      libraryManifestDigest: expect.stringMatching(/^sha256:[a-f0-9]{64}$/),
      createdAt: '2026-01-05T12:00:00.000Z',
      updatedAt: '2026-01-05T12:00:00.000Z',
      createdBy: author,
      updatedBy: author,
    });
    expect(files).toEqual(filesOf('first'));
  });

  it('stages changed files over main', async () => {
    const files = { 'body.html': '<p>new</p>', 'partials/a.html': 'a' };
    const { status, body } = await putFiles({ expectedRevision: '1', files, idempotencyKey: 'a' });
    expect(status).toBe(200);
    expect(body.workspace).toMatchObject({ revision: '2', overlay: files });
    expect(body.files).toEqual({ ...files, 'template.yaml': templateYaml });
    expect(await show()).toEqual(body);
  });

  it('keeps the idempotency keys of an installation that never sends apart', async () => {
    const permissions = ['templates:read', 'templates:write'] as const;
    const { plaintext } = await installed(test, { permissions, sendMode: 'none' });
    const stageBy = (by: HttpApi, expectedRevision: string, text: string) =>
      by.request<WorkspaceView>('PUT', `${path}/files`, {
        body: { expectedRevision, files: { 'body.html': text }, idempotencyKey: 'a' },
      });
    const own = api.as(plaintext);
    const first = await stageBy(api, '1', 'of the organization');
    const second = await stageBy(own, '2', 'of the installation');
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await stageBy(api, '1', 'of the organization')).body).toEqual(first.body);
    expect((await stageBy(own, '2', 'of the installation')).body).toEqual(second.body);
    expect((await stageBy(own, '1', 'of the organization')).status).toBe(409);
  });

  it('stages a deletion as a missing file', async () => {
    await stage(test.app, test.caller, id, { 'body.html': null, 'body.mjml': '<mjml></mjml>' });
    expect((await show()).files).toEqual({
      'body.mjml': '<mjml></mjml>',
      'template.yaml': templateYaml,
    });
  });

  it('stages nothing for content that main has', async () => {
    await stage(test.app, test.caller, id, filesOf('other'));
    await stage(test.app, test.caller, id, filesOf('first'));
    expect((await show()).workspace.overlay).toEqual({});
  });

  it.each([
    ['../x', 'a path has no . or ..'],
    ['.git/config', 'a path has no .git'],
    ['/etc/passwd', 'a path is relative'],
    ['BODY.html', 'differs from'],
  ])('refuses to stage %s', async (name, problem) => {
    const body = { expectedRevision: '1', files: { [name]: 'x' }, idempotencyKey: 'a' };
    const answer = await putFiles(body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(problem);
    expect(await revisionOf()).toBe('1');
  });

  it('refuses the 201st file of a workspace', async () => {
    const many = (from: number, to: number) =>
      Object.fromEntries(
        Array.from({ length: to - from }, (_, i) => [`partials/${from + i}.html`, '']),
      );
    await stage(test.app, test.caller, id, many(0, 198));
    const body = { expectedRevision: '2', files: many(198, 199), idempotencyKey: 'z' };
    const answer = await putFiles(body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ fields: { files: ['a template has at most 200 files'] } });
  });

  it('answers a stale revision with 409 and the present one', async () => {
    await stage(test.app, test.caller, id, filesOf('second'));
    const body = { expectedRevision: '1', files: filesOf('third'), idempotencyKey: 'b' };
    const { status, body: error } = await putFiles(body);
    expect(status).toBe(409);
    expect(error).toMatchObject({
      _tag: 'ConflictError',
      message: 'The workspace is at revision 2, not 1: read it and repeat the change',
    });
  });

  it('commits the staged files at a save', async () => {
    await stage(test.app, test.caller, id, filesOf('second'));
    const saved = await api.post<WorkspaceView>(`${path}/save`, {
      expectedRevision: '2',
      message: 'Say it again',
      idempotencyKey: 'save',
    });
    const { baseCommit, overlay, revision } = saved.body.workspace;
    expect({ overlay, revision }).toEqual({ overlay: {}, revision: '3' });
    expect(await filesAt(test.app.store.db, id, baseCommit)).toEqual(filesOf('second'));
    const { body: history } = await api.get<History>(`${path}/history`);
    expect(history.items.map(({ message }) => message)).toEqual([
      'Say it again',
      'Create the template',
    ]);
    expect(history.items[0]).toMatchObject({ commit: baseCommit, version: null });
  });

  it('makes no commit at a save without staged files', async () => {
    await save(test.app, test.caller, id);
    const { body } = await api.get<History>(`${path}/history`);
    expect(body.items.length).toBe(1);
  });

  it('gives a repeated save its first answer, also after later saves', async () => {
    await stage(test.app, test.caller, id, filesOf('second'));
    const body = { expectedRevision: '2', idempotencyKey: 'save' };
    const first = await api.post<WorkspaceView>(`${path}/save`, body);
    await saveBody(test.app, test.caller, id, 'third');
    const again = await api.post<WorkspaceView>(`${path}/save`, body);
    expect(again).toMatchObject({ status: 200, body: first.body });
  });

  it('answers a used key with other content with 409', async () => {
    await putFiles({ expectedRevision: '1', files: filesOf('second'), idempotencyKey: 'k' });
    const other = { expectedRevision: '1', files: filesOf('third'), idempotencyKey: 'k' };
    expect(await putFiles(other)).toMatchObject({
      status: 409,
      body: { resource: 'idempotency-key' },
    });
  });

  it('allows another change with the key of a refused one', async () => {
    await putFiles({ expectedRevision: '9', files: filesOf('second'), idempotencyKey: 'k' });
    const corrected = { expectedRevision: '1', files: filesOf('second'), idempotencyKey: 'k' };
    expect((await putFiles(corrected)).status).toBe(200);
  });

  it('keeps answers for 24 hours', async () => {
    const body = { expectedRevision: '1', files: filesOf('second'), idempotencyKey: 'k' };
    await putFiles(body);
    await test.clock.advance(24 * 3_600_000 - 1);
    expect(await sweepAnswers(test.app)).toBe(0);
    expect((await putFiles(body)).status).toBe(200);
    await test.clock.advance(2);
    expect(await sweepAnswers(test.app)).toBe(1);
    expect((await putFiles(body)).status).toBe(409);
  });

  it('discards staged files', async () => {
    await stage(test.app, test.caller, id, filesOf('second'));
    const body = { expectedRevision: '2', idempotencyKey: 'd' };
    const { body: view } = await api.post<WorkspaceView>(`${path}/discard`, body);
    expect(view.workspace).toMatchObject({ overlay: {}, revision: '3' });
    expect(view.files).toEqual(filesOf('first'));
  });

  it('pages its history by cursor', async () => {
    for (const word of ['b', 'c', 'd']) await saveBody(test.app, test.caller, id, word);
    const first = await api.get<History>(`${path}/history?limit=3`);
    expect(first.body.items.length).toBe(3);
    const rest = await api.get<History>(`${path}/history?limit=3&cursor=${first.body.nextCursor}`);
    expect(rest.body.items.map(({ message }) => message)).toEqual(['Create the template']);
    expect(rest.body.nextCursor).toBeNull();
  });

  it('shows the difference between a commit and the draft', async () => {
    const { workspace } = await show();
    await saveBody(test.app, test.caller, id, 'second');
    await stage(test.app, test.caller, id, { 'body.txt': 'third\n' });
    const { body } = await api.get<Record<string, unknown>>(
      `${path}/diff?from=${workspace.baseCommit}`,
    );
    expect(body).toMatchObject({
      from: workspace.baseCommit,
      to: null,
      files: [
        { path: 'body.html', status: 'modified', isTruncated: false },
        {
          path: 'body.txt',
          status: 'added',
          diff: '--- /dev/null\n+++ b/body.txt\n@@ -0,0 +1 @@\n+third\n',
        },
      ],
    });
  });

  it('audits each change with its commit', async () => {
    const commit = await saveBody(test.app, test.caller, id, 'second');
    const { body } = await api.get<{ items: object[] }>(`/v1/audit?resource=${id}`);
    expect(body.items).toMatchObject([
      { action: 'template.saved', details: { commit } },
      { action: 'template.staged', details: { paths: 'body.html, template.yaml' } },
    ]);
  });

  it('answers 404 in another organization', async () => {
    const { id: other } = await createOrganization(test.app, { name: 'other', plan: 'free' });
    const foreign = await makeTemplate(test.app, operatorOf(other));
    expect(await api.get(`/v1/templates/${foreign}/workspace`)).toMatchObject({ status: 404 });
    const body = { expectedRevision: '1', files: {}, idempotencyKey: 'k' };
    const put = await api.request('PUT', `/v1/templates/${foreign}/workspace/files`, { body });
    expect(put.status).toBe(404);
  });
});
