// A revocation by command with real processes: two daemons that know a key refuse it within a
// second; the last use of a key, held in memory, is stored at the stop.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ApiKey } from '../../src/access/keys/schema.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';

describe('svc keys revoke beside two daemons', () => {
  let schema: PostgresSchema;
  let home: DaemonHome;
  let daemons: [DaemonProcess, DaemonProcess];
  beforeAll(async () => {
    schema = await postgresSchema(inject('postgresUrl'));
    home = daemonHome({ SVC_DATABASE_URL: schema.url });
    // Only one daemon makes the first start.
    const first = await home.start();
    daemons = [first, await home.start()];
  });
  afterAll(async () => {
    await home.close();
    await schema.drop();
  });

  /**
   * Sends requests until the key is refused; returns when the last accepted one began, after
   * `since`.
   */
  async function lastAccepted(
    daemon: DaemonProcess,
    apiKey: string,
    since: number,
  ): Promise<number> {
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

  it('is seen by both within a second', async () => {
    const made = await home.cli.json<ApiKey>(['keys', 'create', '--name', 'x', '--role', 'viewer']);
    const apiKey = made.key ?? '';
    for (const daemon of daemons) {
      const { status } = await daemon.request('GET', '/v1/messages', { apiKey });
      expect(status).toBe(200);
    }
    await home.cli.json(['keys', 'revoke', made.id, '--yes']);
    const revokedAt = performance.now();
    const times = await Promise.all(
      daemons.map((daemon) => lastAccepted(daemon, apiKey, revokedAt)),
    );
    for (const time of times) expect(time).toBeLessThan(1_000);
  });

  it('loses no lastUsedAt: it is stored when a daemon stops', async () => {
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
