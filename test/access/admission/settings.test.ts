// Daemons on one store with different configurations: the log of each names the settings.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { selectDaemons } from '../../../src/access/admission/queries.ts';
import type { App } from '../../../src/core/app.ts';
import { type Config, setAt } from '../../../src/core/config/config.ts';
import { configKeys } from '../../../src/core/config/keys.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { Daemons } from './daemons.ts';

const password = 'Swordfish-4711';
let test: TestApp;
let running: Daemons;

beforeEach(async () => {
  test = await testApp({ store: 'postgres' });
  running = new Daemons(test);
});

afterEach(async () => {
  await running.close();
  await test.close();
});

/** Starts a daemon with a configuration of its own. */
async function startDaemon(values: Record<string, unknown>): Promise<App> {
  const config = structuredClone(test.app.config) as Config;
  const app = { ...(await test.another()), config };
  for (const [path, value] of Object.entries(values)) change(app, path, value);
  return running.start(app);
}

function change(app: App, path: string, value: unknown): void {
  setAt(app.config as unknown as Record<string, unknown>, path, value);
}

const heartbeats = () => running.settled(2_000);

/** Returns the settings that warnings named since the last call. */
function watchNames(): () => string[] {
  const warn = vi.spyOn(test.app.log, 'warn');
  return () => {
    const named = warn.mock.calls
      .filter(([, text]) => /another daemon of this store has other values/.test(String(text)))
      .map(([fields]) => (fields as { settings: string[] }).settings.join(' '));
    warn.mockClear();
    return named;
  };
}

it('are named once by each daemon, and again when they change', async () => {
  const named = watchNames();
  const first = await startDaemon({ 'delivery.relay.password': password });
  await startDaemon({ 'delivery.relay.password': 'another', 'retention.messagesDays': 7 });
  await heartbeats();
  const both = 'delivery.relay.password retention.messagesDays';
  expect(named()).toEqual([both, both]);
  await heartbeats();
  expect(named()).toEqual([]);
  change(first, 'retention.messagesDays', 7);
  await heartbeats();
  expect(named()).toEqual(['delivery.relay.password', 'delivery.relay.password']);
});

it('are silent about what belongs to one machine, and about the order of fields', async () => {
  const named = watchNames();
  const { plans } = test.app.config;
  const shuffled = Object.fromEntries(
    Object.entries(plans)
      .reverse()
      .map(([name, plan]) => [name, Object.fromEntries(Object.entries(plan).reverse())]),
  );
  await startDaemon({});
  await startDaemon({
    plans: shuffled,
    'delivery.hostname': 'two.example.com',
    'delivery.maxConnections': 7,
    'http.port': 8080,
  });
  await heartbeats();
  expect(named()).toEqual([]);
});

it.each(configKeys.map(({ path }) => path).filter((path) => /^(plans$|delivery\.)/.test(path)))(
  'compare %s, unless it belongs to one machine',
  async (path) => {
    const isOwn = /hostname|maxConnections$|providersFile/.test(path);
    const named = watchNames();
    await startDaemon({});
    await startDaemon({ [path]: 'changed' });
    await heartbeats();
    expect(named()).toEqual(isOwn ? [] : [path, path]);
  },
);

it('leave no value in the store, and no digest that a guess could find', async () => {
  await startDaemon({ 'delivery.relay.password': password });
  await startDaemon({ 'delivery.relay.password': password });
  await heartbeats();
  const rows = await selectDaemons(test.app.store.db);
  expect(rows).toHaveLength(2);
  expect(rows[0]?.settings).toBe(rows[1]?.settings);
  expect(rows[0]?.settings).not.toContain(password);
  const guess = createHash('sha256').update(JSON.stringify(password));
  expect(rows[0]?.settings).not.toContain(guess.digest('hex').slice(0, 20));
});
