// Runs of a restored store: those that would continue on their own are paused, others stay.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { restoreBackup } from '../../../src/platform/upkeep/restore.ts';
import { runStatuses } from '../../../src/run-ledger/schema.ts';
import { pauseOfRestored } from '../../../src/run-ledger/walk-queries.ts';
import { eachApp } from '../../support/each-app.ts';
import { storedRun } from '../campaigns/fixtures.ts';

const test = eachApp();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-test-restored-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('pauses runs that would continue on their own', async () => {
  const { app, operator } = test;
  for (const status of runStatuses) await storedRun(app, operator, status);
  const itself = { hold_reason: 'sender', due_at: app.clock.now() };
  await storedRun(app, operator, 'held', itself);
  const backup = join(folder, 'backup.db');
  await sql`vacuum into ${backup}`.execute(app.store.db);
  const file = join(folder, 'svc.db');
  const { clock, random } = app;
  restoreBackup(backup, {
    file,
    secretFile: join(folder, 'secret.key'),
    clock,
    random,
    changes: [pauseOfRestored],
  });
  const restored = new Database(file, { readonly: true });
  const rows = restored
    .prepare('select status, hold_reason, due_at from campaign_runs order by id')
    .raw()
    .all();
  restored.close();
  const paused = ['paused', 'restored', null];
  expect(rows).toEqual([
    paused,
    paused,
    ['paused', null, null],
    ['held', 'run-health', null],
    ['completed', null, null],
    ['failed', null, null],
    ['cancelled', null, null],
    paused,
  ]);
});
