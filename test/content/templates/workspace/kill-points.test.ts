// The service dies at each transaction of stages, saves, restores, pushes and bundles: each of them
// is stored whole or not at all, and its repeat ends it. SVC_KILL_ROUNDS repeats all points.
import { describe, expect, it } from 'vitest';
import { writeBundle } from '../../../../src/content/git/bundle.ts';
import { filesAt, findHead, type Head, historyOf } from '../../../../src/content/git/repository.ts';
import { importStream, pushFiles } from '../../../../src/content/templates/workspace/incoming.ts';
import {
  restoreCommit,
  saveWorkspace,
  showWorkspace,
  stageFiles,
} from '../../../../src/content/templates/workspace/workspace.ts';
import { stores } from '../../../support/command.ts';
import { eachApp } from '../../../support/each-app.ts';
import { moments, mortal } from '../../../support/mortal.ts';
import { filesOf, makeTemplate } from './fixtures.ts';

const rounds = Number(process.env.SVC_KILL_ROUNDS ?? 1);

describe.each(stores)('a death of the service on %s', (store) => {
  const test = eachApp({ store });

  /** The operations, each with one transaction. A repeat of all ends in the same files. */
  async function steps(id: string) {
    const { app, caller } = test;
    const { db } = app.store;
    const first = ((await findHead(db, id)) as Head).oid;
    const guard = (revision: number) => ({
      expectedRevision: String(revision),
      idempotencyKey: `at ${revision}`,
    });
    const bundle = await writeBundle(db, id, (await findHead(db, id)) as Head);
    const push = (files: Record<string, string>) => async () => {
      const head = (await findHead(db, id)) as Head;
      const commits = await historyOf(db, id, Number.MAX_SAFE_INTEGER, 100);
      if (commits.some(({ message }) => message === 'Push\n')) return;
      await pushFiles(app, caller, id, { files, commit: head.oid, message: 'Push' });
    };
    return [
      () => stageFiles(app, caller, id, { ...guard(1), files: filesOf('second') }),
      () => saveWorkspace(app, caller, id, guard(2)),
      push({ ...filesOf('second'), 'body.txt': 'pushed' }),
      () => restoreCommit(app, caller, id, { ...guard(4), commit: first }),
      () => saveWorkspace(app, caller, id, guard(5)),
      () => importStream(app, caller, id, { type: '', chunks: piecesOf(bundle) }),
    ];
  }

  async function* piecesOf(bytes: Buffer) {
    yield bytes;
  }

  /** Returns the state, after checks that it is whole. */
  async function standing(id: string, told: string) {
    const { db } = test.app.store;
    const { workspace, files } = await showWorkspace(test.app, test.caller, id);
    const head = (await findHead(db, id)) as Head;
    expect(workspace.baseCommit, told).toBe(head.oid);
    const commits = await historyOf(db, id, Number.MAX_SAFE_INTEGER, 100);
    expect(commits.map(({ position }) => position).reverse(), told).toEqual(
      Array.from({ length: head.commits }, (_, index) => index + 1),
    );
    for (const { oid } of commits) expect(await filesAt(db, id, oid), told).toBeDefined();
    return { revision: workspace.revision, commits: commits.length, files };
  }

  const points = moments.flatMap((moment) =>
    Array.from({ length: 5 }, (_, index) => ({ moment, nth: index + 1 })),
  );

  it('leaves each change whole or undone, and its repeat ends it', async () => {
    for (const point of Array.from({ length: rounds }, () => points).flat()) {
      const told = `${point.moment} transaction ${point.nth}`;
      const id = await makeTemplate(test.app, test.caller);
      const all = await steps(id);
      const { write } = test.app.store;
      const died = mortal(test.app, point).then(() => 'died' as const);
      let done = 0;
      for (const step of all) {
        if ((await Promise.race([step(), died])) === 'died') break;
        done += 1;
      }
      Object.assign(test.app.store, { write });
      expect(done, told).toBe(point.nth - 1);
      const dead = await standing(id, told);
      const isStored = point.moment === 'after';
      expect(dead.revision, told).toBe(String(1 + done + Number(isStored)));
      for (const step of all) await step();
      const end = await standing(id, told);
      expect(end, told).toEqual({ revision: '6', commits: 4, files: filesOf('first') });
    }
  }, 600_000);
});
