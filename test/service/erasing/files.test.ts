// The files of a SQLite store, the database and its log, hold nothing of deleted resources after an
// hour, without a vacuum.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { config as deskConfig } from '../../inbox/replies/world.ts';
import { eachApi } from '../../support/each-app.ts';
import { loopbackConfig, until } from '../../webhooks/engine.ts';
import { eraseAll, markedContact, markedMessage, markedThread, withJobs } from './marked.ts';
import { tracesInFiles } from './traces.ts';

const world = eachApi({ store: 'sqlite', config: { ...loopbackConfig, ...deskConfig } });
const { test, api } = world;

it('the files of the store hold no mark an hour after the deletions', async () => {
  const paths: string[] = [];
  await withJobs(world, async () => {
    paths.push(`/v1/messages/${await markedMessage(world)}`);
    paths.push(`/v1/messages/${(await markedThread(world)).messageId}`);
    paths.push(`/v1/contacts/${await markedContact(world)}`);
  });
  expect(tracesInFiles(test.app)).not.toEqual([]);
  for (const path of paths) expect((await api.delete(path)).status).toBe(200);
  await eraseAll(world);
  await nextTurn();
  await until(() => tracesInFiles(test.app).length === 0);
});
