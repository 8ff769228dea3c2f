// Concurrent changes of one workspace: each is stored whole, or refused as stale. 1,000 saves by 4
// writers with SVC_RACES=1000.
import { describe, expect, it } from 'vitest';
import { filesAt, historyOf } from '../../../../src/content/git/repository.ts';
import {
  saveWorkspace,
  stageFiles,
} from '../../../../src/content/templates/workspace/workspace.ts';
import type { App } from '../../../../src/core/app.ts';
import { ConflictError } from '../../../../src/platform/errors.ts';
import { stores } from '../../../support/command.ts';
import { eachApp } from '../../../support/each-app.ts';
import { guardOf, makeTemplate, stage } from './fixtures.ts';

const writers = 4;
const saves = Number(process.env.SVC_RACES ?? 40);

/** Repeats a change until it meets a fresh revision. */
async function untilFresh<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ConflictError && error.resource === 'workspace')) throw error;
    }
  }
}

describe.each(stores)('concurrent saves on %s', (store) => {
  const test = eachApp({ store });

  it('lose none of the writers’ files', async () => {
    const id = await makeTemplate(test.app, test.caller);
    const apps: App[] = [test.app, await test.another()];
    let next = 0;
    const write = async (writer: number) => {
      const app = apps[writer % apps.length] as App;
      while (next < saves) {
        const number = next++;
        const files = { [`partials/${number % 50}.html`]: `save ${number}` };
        await untilFresh(async () => {
          const guard = await guardOf(app, test.caller, id);
          await stageFiles(app, test.caller, id, { ...guard, files });
        });
        // Another writer may save it first; then this save finds nothing staged.
        await untilFresh(async () => {
          const guard = await guardOf(app, test.caller, id);
          await saveWorkspace(app, test.caller, id, guard);
        });
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));

    const { db } = test.app.store;
    const commits = await historyOf(db, id, Number.MAX_SAFE_INTEGER, saves + 10);
    const saved = new Set<string>();
    for (const [index, { oid, parents }] of commits.entries()) {
      // The chain of parents is unbroken: no commit was overwritten.
      expect(parents[0]).toBe(commits[index + 1]?.oid);
      for (const text of Object.values((await filesAt(db, id, oid)) ?? {})) saved.add(text);
    }
    const all = Array.from({ length: saves }, (_, number) => `save ${number}`);
    expect(all.filter((text) => !saved.has(text))).toEqual([]);
  }, 600_000);

  it('of one revision have one winner', async () => {
    const id = await makeTemplate(test.app, test.caller);
    await stage(test.app, test.caller, id, { 'body.html': 'x' });
    const { expectedRevision } = await guardOf(test.app, test.caller, id);
    const other = await test.another();
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) =>
        saveWorkspace(i % 2 ? other : test.app, test.caller, id, {
          expectedRevision,
          idempotencyKey: `k${i}`,
        }),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    expect((await historyOf(test.app.store.db, id, 1_000, 10)).length).toBe(2);
  });

  it('with one key have one answer', async () => {
    const id = await makeTemplate(test.app, test.caller);
    await stage(test.app, test.caller, id, { 'body.html': 'x' });
    const guard = await guardOf(test.app, test.caller, id);
    const other = await test.another();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        saveWorkspace(i % 2 ? other : test.app, test.caller, id, guard),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await historyOf(test.app.store.db, id, 1_000, 10)).length).toBe(2);
  });
});
