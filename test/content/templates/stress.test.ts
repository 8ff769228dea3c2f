// Templates, brands and families that many requests change at once, on two daemons. Each request is
// answered, no row stays of a deleted template, and no transaction ran into a deadlock.
import { describe, expect, it } from 'vitest';
import { createBrand, makeBrandDefault } from '../../../src/content/brands/brands.ts';
import {
  addMember,
  createFamily,
  deleteFamily,
  removeMember,
} from '../../../src/content/families/families.ts';
import { duplicateTemplate } from '../../../src/content/templates/create.ts';
import { publishTemplate } from '../../../src/content/templates/publish.ts';
import { deleteTemplate, updateTemplate } from '../../../src/content/templates/templates.ts';
import { saveWorkspace, stageFiles } from '../../../src/content/templates/workspace/workspace.ts';
import type { App } from '../../../src/core/app.ts';
import { ConflictError, ResourceNotFoundError } from '../../../src/platform/errors.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { standingOf, tablesWith } from './standing.ts';
import { filesOf, guardOf, makeTemplate } from './workspace/fixtures.ts';

const writers = 8;
const changesOfEach = 12;

/** Counts the transactions of an app that ran again, after a deadlock. */
function countReruns({ store }: App): () => number {
  const { write } = store;
  let reruns = 0;
  const counting: Store['write'] = (work, durability) => {
    let runs = 0;
    return write((trx) => {
      runs += 1;
      if (runs > 1) reruns += 1;
      return work(trx);
    }, durability);
  };
  Object.assign(store, { write: counting });
  return () => reruns;
}

/** Refusals that a client of busy resources expects. */
function isExpected(error: unknown): boolean {
  return error instanceof ResourceNotFoundError || error instanceof ConflictError;
}

describe.each(bothStores)('concurrent changes of templates, brands and families on %s', (store) => {
  const test = eachApp({ store });

  it('end without a deadlock, a failure or a half', async () => {
    const { caller } = test;
    const apps = [test.app, await test.another()];
    const reruns = apps.map(countReruns);
    const random = seededRandom(33);
    const pick = <T>(from: readonly T[]) => from[Math.floor(random.float() * from.length)] as T;
    const templates: string[] = [];
    for (let count = 0; count < 3; count++) templates.push(await makeTemplate(test.app, caller));
    const families: string[] = [];
    for (const name of ['One', 'Two'])
      families.push((await createFamily(test.app, caller, { name })).id);
    for (const slug of ['a', 'b']) await createBrand(test.app, caller, { slug, name: slug });

    const changes: ((app: App) => Promise<unknown>)[] = [
      async (app) => {
        const id = pick(templates);
        const files = filesOf(`word ${random.float()}`);
        await stageFiles(app, caller, id, { ...(await guardOf(app, caller, id)), files });
        await saveWorkspace(app, caller, id, await guardOf(app, caller, id));
      },
      (app) => publishTemplate(app, caller, pick(templates)),
      (app) => updateTemplate(app, caller, pick(templates), { name: `name ${random.float()}` }),
      async (app) => {
        const { id } = await duplicateTemplate(app, caller, pick(templates), {});
        templates.push(id);
      },
      (app) => deleteTemplate(app, caller, pick(templates)),
      (app) => makeBrandDefault(app, caller, pick(['a', 'b'])),
      (app) => addMember(app, caller, { familyId: pick(families), templateId: pick(templates) }),
      (app) => removeMember(app, caller, { familyId: pick(families), templateId: pick(templates) }),
      async (app) => {
        await deleteFamily(app, caller, pick(families));
        families.push((await createFamily(app, caller, { name: 'Next' })).id);
      },
    ];
    const failures: unknown[] = [];
    const work = async (writer: number) => {
      for (let count = 0; count < changesOfEach; count++) {
        await pick(changes)(apps[writer % apps.length] as App).catch((error: unknown) => {
          if (!isExpected(error)) failures.push(error);
        });
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => work(writer)));

    expect(failures).toEqual([]);
    expect(reruns.map((count) => count())).toEqual([0, 0]);
    for (const id of templates) {
      const found = await tablesWith(test.app, id);
      if (found.length > 0) await standingOf(test.app, id);
    }
  });

  // SQLite has one writer: it knows no deadlock.
  it.runIf(store === 'postgres')('of one template and its deletion wait in one order', async () => {
    const { app, caller } = test;
    const other = await test.another();
    const reruns = [app, other].map(countReruns);
    const { write } = app.store;
    for (let round = 0; round < 10; round++) {
      const id = await makeTemplate(app, caller);
      const guard = await guardOf(app, caller, id);
      let deletion: Promise<unknown> | undefined;
      const deleting: Store['write'] = (work, durability) =>
        write((trx) => {
          deletion ??= deleteTemplate(other, caller, id);
          return work(trx);
        }, durability);
      Object.assign(app.store, { write: deleting });
      const staged = stageFiles(app, caller, id, { ...guard, files: filesOf('second') });
      await staged.catch((error: unknown) => {
        if (!isExpected(error)) throw error;
      });
      await deletion;
      Object.assign(app.store, { write });
      expect(await tablesWith(app, id)).toEqual([]);
    }
    expect(reruns.map((count) => count())).toEqual([0, 0]);
  });
});
