// Restoring an earlier commit (specification 4.6): staged at once, saved as a new commit, and
// repeatable.
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type {
  History,
  RestoreResult,
  WorkspaceView,
} from '../../../../src/content/templates/workspace/schema.ts';
import { stores } from '../../../support/command.ts';
import { eachApi } from '../../../support/each-app.ts';
import { filesOf, makeTemplate, save, saveBody, stage } from './fixtures.ts';

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

describe.each(stores)('a restore on %s', (store) => {
  const { test, api } = eachApi({ store });
  let id = '';
  let path: `/v1/templates/${string}` = '/v1/templates/';
  let first = '';
  let second = '';
  beforeEach(async () => {
    id = await makeTemplate(test.app, test.caller);
    path = `/v1/templates/${id}/workspace`;
    first = (await api.get<WorkspaceView>(path)).body.workspace.baseCommit;
    await stage(test.app, test.caller, id, { 'partials/new.html': 'new' });
    second = await saveBody(test.app, test.caller, id, 'second');
  });

  const restore = (body: object) => api.post<RestoreResult>(`${path}/restore`, body);
  const input = (commit: string, key = 'r') => ({
    expectedRevision: '4',
    commit,
    idempotencyKey: key,
  });
  const show = async () => (await api.get<WorkspaceView>(path)).body;
  const historyOf = async () => (await api.get<History>(`${path}/history`)).body.items;

  it('stages the files of the commit and answers with its source', async () => {
    const { status, body } = await restore(input(first));
    expect(status).toBe(200);
    expect(body.source).toEqual({ digest: digestOf('<p>first</p>'), content: '<p>first</p>' });
    expect(body.view.files).toEqual(filesOf('first'));
    expect(body.view.workspace).toMatchObject({
      revision: '5',
      baseCommit: second,
      overlay: filesOf('first'),
    });
    expect(await show()).toEqual(body.view);
  });

  it('names the commit in the provenance', async () => {
    const { body } = await restore(input(first));
    expect(body.view.workspace.provenance.references).toEqual([
      { kind: 'commit', digest: `sha1:${first}`, locator: `${id}@${first}` },
    ]);
  });

  it('replaces staged files', async () => {
    await stage(test.app, test.caller, id, { 'body.html': 'staged', 'other.txt': 'x' });
    const { body } = await restore({ ...input(first), expectedRevision: '5' });
    expect(body.view.files).toEqual(filesOf('first'));
  });

  it('is appended to the history by a later save', async () => {
    const before = await historyOf();
    await restore(input(first));
    const { workspace } = await save(test.app, test.caller, id);
    const after = await historyOf();
    expect(after.slice(1)).toEqual(before);
    expect(after[0]).toMatchObject({
      commit: workspace.baseCommit,
      parents: [second],
      message: `Restore ${first}`,
    });
    expect((await show()).files).toEqual(filesOf('first'));
  });

  it('of the head is appended by a save too', async () => {
    await restore(input(second));
    await save(test.app, test.caller, id);
    expect((await historyOf()).length).toBe(3);
  });

  it('gives a repeat its first answer, also after later saves', async () => {
    const made = await restore(input(first));
    await save(test.app, test.caller, id);
    await saveBody(test.app, test.caller, id, 'third');
    expect(await restore(input(first))).toMatchObject({ status: 200, body: made.body });
    expect((await show()).files['body.html']).toBe('<p>third</p>');
  });

  it('with the key of another restore answers 409', async () => {
    await restore(input(first));
    expect(await restore(input(second))).toMatchObject({
      status: 409,
      body: { resource: 'idempotency-key' },
    });
  });

  it('at a stale revision answers 409', async () => {
    const stale = await restore({ ...input(first), expectedRevision: '3' });
    expect(stale).toMatchObject({ status: 409, body: { resource: 'workspace' } });
    expect((await show()).workspace.overlay).toEqual({});
  });

  it('of an unknown commit answers 404', async () => {
    expect(await restore(input('0'.repeat(40)))).toMatchObject({ status: 404 });
  });

  it('of an unknown commit answers 404 before a stale revision answers 409', async () => {
    const both = { ...input('0'.repeat(40)), expectedRevision: '3' };
    expect(await restore(both)).toMatchObject({ status: 404 });
  });

  it('of a commit of another template answers 404', async () => {
    const other = await makeTemplate(test.app, test.caller, filesOf('other'));
    const commit = await saveBody(test.app, test.caller, other, 'other again');
    expect(await restore(input(commit))).toMatchObject({
      status: 404,
      body: { resource: 'commit', id: commit },
    });
  });

  it.each([
    ['expectedRevision', { commit: 'a'.repeat(40), idempotencyKey: 'k' }],
    ['commit', { expectedRevision: '4', commit: 'A'.repeat(40), idempotencyKey: 'k' }],
    ['idempotencyKey', { expectedRevision: '4', commit: 'a'.repeat(40), idempotencyKey: '' }],
  ])('without a valid %s answers 422', async (field, body) => {
    const answer = await restore(body);
    expect(answer.status).toBe(422);
    expect(Object.keys((answer.body as { fields?: object }).fields ?? {})).toEqual([field]);
  });
});
