// Two daemons behind PgBouncer in transaction mode, where it is installed: sends, deliveries and
// received mail pass, and a daemon hears of the commits of the other by its direct connection.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { freePort, type PostgresSchema, postgresDatabase } from '../support/postgres.ts';

const program = '/usr/sbin/pgbouncer';
/** It refuses to run as root. */
const nobody = 65_534;

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe.skipIf(!existsSync(program))('behind PgBouncer', () => {
  let database: PostgresSchema;
  let directory: string;
  let pooler: ChildProcess;
  let home: DaemonHome;
  let daemons: DaemonProcess[];

  beforeAll(async () => {
    database = await postgresDatabase(inject('postgresUrl'));
    const direct = new URL(database.url);
    const port = await freePort();
    directory = mkdtempSync(join(tmpdir(), 'svc-pgbouncer-'));
    chmodSync(directory, 0o755);
    const file = join(directory, 'pgbouncer.ini');
    const password = direct.password ? ` password=${decodeURIComponent(direct.password)}` : '';
    writeFileSync(
      file,
      `[databases]
* = host=${direct.hostname} port=${direct.port} user=${direct.username}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
`,
    );
    if (process.getuid?.() === 0) chownSync(file, nobody, nobody);
    const asNobody = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
    pooler = spawn(program, ['-q', file], { stdio: 'ignore', ...asNobody });
    await until(() => accepts(port), 'PgBouncer accepts connections');
    const pooled = new URL(database.url);
    pooled.port = String(port);
    home = daemonHome({ SVC_DATABASE_URL: pooled.href, SVC_DATABASE_LISTEN_URL: direct.href });
    daemons = [await home.start(), await home.start()];
  });
  afterAll(async () => {
    await home?.close();
    if (pooler?.exitCode === null) {
      const ended = new Promise((resolve) => pooler.once('exit', resolve));
      pooler.kill('SIGKILL');
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
    await database?.drop();
  });

  it('delivers what two daemons accept at once, over four connections to the server', async () => {
    const ids = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { status, body } = await (daemons[index % 2] as DaemonProcess).request<Message>(
          'POST',
          '/v1/messages',
          {
            body: {
              channel: 'email',
              to: [{ email: index % 3 === 0 ? 'inbox@sandbox.test' : 'delivered@simulator.test' }],
              email: { subject: `Number ${index}`, text: `${index}` },
            },
          },
        );
        expect(status, JSON.stringify(body)).toBe(201);
        return body.id;
      }),
    );
    for (const id of ids) {
      const delivered = async () =>
        (await (daemons[0] as DaemonProcess).request<Message>('GET', `/v1/messages/${id}`)).body
          .status === 'delivered';
      await until(delivered, `${id} is delivered`);
    }
  });
});
