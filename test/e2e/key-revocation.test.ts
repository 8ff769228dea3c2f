// A command's revocation over real processes: two daemons that know a key refuse it
// within a second; what a daemon remembers of its last use is stored when it stops.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ApiKey } from '../../src/keys/schema.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';

describe('svc keys revoke beside two daemons', () => {
  let schema: PostgresSchema;
  let home: DaemonHome;
  let daemons: [DaemonProcess, DaemonProcess];
  beforeAll(async () => {
    schema = await postgresSchema(inject('postgresUrl'));
    home = daemonHome({ SVC_DATABASE_URL: schema.url });
    // The first start is one daemon's.
    const first = await home.start();
    daemons = [first, await home.start()];
  });
  afterAll(async () => {
    await home.close();
    await schema.drop();
  });

  /** Asks until the key is refused; how long after `since` the last request began that was let in. */
  async function lastLetIn(daemon: DaemonProcess, apiKey: string, since: number): Promise<number> {
    let last = 0;
    for (;;) {
      const began = performance.now();
      const { status } = await daemon.request('GET', '/v1/messages', { apiKey });
      if (status === 401) return last;
      expect(status).toBe(200);
      last = began - since;
      if (last > 5_000) return last;
    }
  }

  test('refuses the key in both within a second', async () => {
    const made = await home.cli.json<ApiKey>(['keys', 'create', '--name', 'x', '--role', 'viewer']);
    const apiKey = made.key ?? '';
    for (const daemon of daemons) {
      const { status } = await daemon.request('GET', '/v1/messages', { apiKey });
      expect(status).toBe(200);
    }
    await home.cli.json(['keys', 'revoke', made.id, '--yes']);
    const revokedAt = performance.now();
    const times = await Promise.all(daemons.map((one) => lastLetIn(one, apiKey, revokedAt)));
    for (const time of times) expect(time).toBeLessThan(1_000);
  });

  test('lastUsedAt is stored at the stop', async () => {
    const made = await home.cli.json<ApiKey>(['keys', 'create', '--name', 'y', '--role', 'viewer']);
    const before = Date.now();
    await daemons[1].request('GET', '/v1/messages', { apiKey: made.key });
    expect(await daemons[1].stop()).toMatchObject({ code: 0 });
    const { lastUsedAt } = await home.cli.json<ApiKey>(['keys', 'show', made.id]);
    const usedAt = Date.parse(lastUsedAt ?? '');
    expect(usedAt).toBeGreaterThanOrEqual(before);
    expect(usedAt).toBeLessThanOrEqual(Date.now());
  });
});
