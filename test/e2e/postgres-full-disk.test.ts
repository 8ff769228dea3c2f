// A full disk under PostgreSQL: its tables lie on a small file system. Sends are refused with 503,
// nothing that was answered with 201 is lost, and the service recovers.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { payload } from '../outbound/messages/fixtures.ts';
import { httpApi } from '../support/http-client.ts';
import { startPostgres } from '../support/postgres.ts';
import { testApp } from '../support/test-app.ts';
import { canMount, mountDisk } from './disk-room.ts';

const megabytes = 48;
const mostSends = 400;
const name = 'full_disk';

/**
 * Makes an empty database with its tables in `directory`, on a server of its own: any connection of
 * a server may write a page of such a table, and fail.
 */
async function databaseIn(directory: string) {
  execFileSync('chown', ['-R', 'postgres', directory]);
  const server = await startPostgres();
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`create tablespace ${name} location '${directory}'`);
  await admin.query(`create database ${name} tablespace ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async end() {
      await admin.end();
      await server.stop();
    },
  };
}

it.runIf(canMount && process.env.TEST_PG_URL === undefined)(
  'refuses with 503, keeps what it accepted, and recovers',
  async () => {
    const disk = mountDisk(mkdtempSync(join(tmpdir(), 'svc-pg-disk-')), megabytes);
    const database = await databaseIn(disk.directory);
    const service = await testApp({ store: 'postgres', postgresUrl: database.url });
    const api = httpApi(service);
    try {
      const send = () =>
        api.post<{ id: string }>(
          '/v1/messages',
          payload({ text: `${Math.random()} ${'x'.repeat(20_000)}` }),
        );
      const accepted: string[] = [];
      const take = async () => {
        const { status, body } = await send();
        if (status === 201) accepted.push(body.id);
        return { status, body };
      };
      expect((await take()).status).toBe(201);
      disk.fill();
      let refused = await take();
      for (let n = 0; n < mostSends && refused.status === 201; n++) refused = await take();
      expect(refused).toMatchObject({
        status: 503,
        body: { _tag: 'CapacityError', message: expect.stringMatching(/No space left on device/) },
      });
      const crowd = await Promise.all(Array.from({ length: 20 }, take));
      expect(crowd.every(({ status }) => status === 201 || status === 503)).toBe(true);
      disk.empty();
      await expect.poll(async () => (await take()).status, { timeout: 20_000 }).toBe(201);
      for (const id of accepted) {
        expect((await api.get(`/v1/messages/${id}`)).status, id).toBe(200);
      }
    } finally {
      await api.close();
      await service.close();
      await database.end();
      disk.unmount();
      rmSync(disk.directory, { recursive: true });
    }
  },
);
