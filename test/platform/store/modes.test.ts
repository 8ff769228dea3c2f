// Modes of files on the disk: readable by the account of the service alone, under any umask.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSecrets } from '../../../src/core/root-keys/secrets.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { openStore } from '../../../src/platform/store/open.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-modes-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** The modes of all files of a folder, while the store is open and written to. */
function modes(dir: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, modeOf(join(dir, name))]));
}

it('dataDir and its files belong to the service account alone', async () => {
  const dataDir = join(root, 'data');
  const store = await openStore({ url: 'sqlite:svc.db' }, dataDir, virtualClock());
  openSecrets(dataDir, seededRandom(1));
  await store.write((trx) => sql`update probe set counter = counter + 1`.execute(trx));
  expect(modeOf(dataDir)).toBe('700');
  const found = modes(dataDir);
  await store.close();
  expect(Object.keys(found)).toEqual(
    expect.arrayContaining(['secret.key', 'svc.db', 'svc.db-wal']),
  );
  for (const [name, mode] of Object.entries(found)) expect([name, mode]).toEqual([name, '600']);
});

it('a store outside of dataDir belongs to the service account alone', async () => {
  const file = join(root, 'elsewhere.db');
  const store = await openStore({ url: `sqlite:${file}` }, join(root, 'data'), virtualClock());
  await store.write((trx) => sql`update probe set counter = counter + 1`.execute(trx));
  const found = Object.entries(modes(root)).filter(([name]) => name.startsWith('elsewhere'));
  await store.close();
  expect(found.length).toBeGreaterThanOrEqual(2);
  for (const [name, mode] of found) expect([name, mode]).toEqual([name, '600']);
});
