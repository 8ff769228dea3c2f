// A template that is deleted while a request on it runs: the request ends as before or after the
// deletion, and no row stays. The deletion comes after each statement of the request in turn.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishTemplate } from '../../../src/content/templates/publish.ts';
import { deleteTemplate } from '../../../src/content/templates/templates.ts';
import type { App } from '../../../src/core/app.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { saveFiles } from './fixtures.ts';
import { tablesWith } from './standing.ts';
import { filesOf, guardOf, makeTemplate, stage } from './workspace/fixtures.ts';

/** More than the statements of any request. */
const mostStatements = 60;

/**
 * Has `interrupt` run after the statement with this number, outside of transactions; returns the
 * undo function.
 */
function interruptAfter(app: App, nth: number, interrupt: () => Promise<unknown>) {
  const { db, write } = app.store;
  let seen = 0;
  let writes = 0;
  const interrupting = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      // SQLite has one writer: the deletion would wait for the transaction, and it for the
      // deletion.
      if (writes === 0) seen += 1;
      if (writes === 0 && seen === nth) await interrupt();
      return result;
    },
  });
  const counting: Store['write'] = async (work, durability) => {
    writes += 1;
    return write(work, durability).finally(() => {
      writes -= 1;
    });
  };
  Object.assign(app.store, { db: interrupting, write: counting });
  return () => Object.assign(app.store, { db, write });
}

type Ask = (api: HttpApi, path: string) => Promise<{ status: number }>;
type Prepare = (test: TestApp, id: string) => Promise<Ask>;

const plain =
  (ask: Ask): Prepare =>
  async () =>
    ask;

/** Requests that write; the others only read, and run on SQLite alone. */
const writes = ['stage', 'save', 'restore', 'publish', 'duplicate'];

const requests: Readonly<Record<string, Prepare>> = {
  show: plain((api, path) => api.get(`${path}/workspace`)),
  history: plain((api, path) => api.get(`${path}/workspace/history`)),
  diff: plain((api, path) => api.get(`${path}/workspace/diff`)),
  bundle: plain((api, path) => api.bytes(`${path}/workspace/bundle`)),
  clone: plain((api, path) => api.bytes(`${path}/git/info/refs?service=git-upload-pack`)),
  stage: async ({ app, caller }, id) => {
    const body = { ...(await guardOf(app, caller, id)), files: filesOf('third') };
    return (api, path) => api.request('PUT', `${path}/workspace/files`, { body });
  },
  save: async ({ app, caller }, id) => {
    await stage(app, caller, id, filesOf('third'));
    const guard = await guardOf(app, caller, id);
    return (api, path) => api.post(`${path}/workspace/save`, guard);
  },
  restore: async ({ app, caller }, id) => {
    const guard = await guardOf(app, caller, id);
    const { rows } = await sql<{ oid: string }>`select oid from git_objects
      where repository_id = ${id} and type = 'commit' and position = 1`.execute(app.store.db);
    const body = { ...guard, commit: rows[0]?.oid };
    return (api, path) => api.post(`${path}/workspace/restore`, body);
  },
  publish: plain((api, path) => api.post(`${path}/publish`, {})),
  render: async ({ app, caller }, id) => {
    await publishTemplate(app, caller, id);
    return (api, path) => api.post(`${path}/render`, {});
  },
  'render of the draft': plain((api, path) => api.post(`${path}/render`, { draft: true })),
  duplicate: plain((api, path) => api.post(`${path}/duplicate`, {})),
  versions: plain((api, path) => api.get(`${path}/versions`)),
};

describe.each(stores)('a template that is deleted meanwhile, on %s', (store) => {
  let test: TestApp;
  let victim: App;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp({ store });
    victim = await test.another();
    api = httpApi({ app: victim, apiKey: test.apiKey });
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const names = Object.keys(requests);
  const asked = store === 'sqlite' ? names : names.filter((name) => writes.includes(name));

  it.each(asked)('answers %s with success or 404, and leaves no row', async (name) => {
    const { app, caller } = test;
    const statuses: number[] = [];
    let deletion: Promise<unknown> | null = Promise.resolve();
    for (let nth = 1; deletion && nth < mostStatements; nth++) {
      const id = await makeTemplate(app, caller);
      await saveFiles(app, caller, id, filesOf('second'));
      const ask = await requests[name]?.(test, id);
      deletion = null;
      const undo = interruptAfter(victim, nth, () => {
        deletion = deleteTemplate(app, caller, id);
        return deletion;
      });
      const answer = await ask?.(api, `/v1/templates/${id}`).finally(undo);
      statuses.push(answer?.status ?? 0);
      // A statement in the background may be the last one: the answer does not wait for it.
      await (deletion ?? deleteTemplate(app, caller, id));
      expect(await tablesWith(app, id), `after statement ${nth}`).toEqual([]);
    }
    expect(deletion).toBe(null);
    expect(statuses.length).toBeGreaterThan(1);
    expect(statuses.filter((status) => ![200, 201, 404].includes(status))).toEqual([]);
  });
});
