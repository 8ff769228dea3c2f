// Connections to PostgreSQL: their number, TLS, time limits, and a server that fails, comes back or
// is a standby.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { CapacityError, UnreachableError } from '../../../src/platform/errors.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { openPostgres } from '../../../src/platform/store/postgres/postgres.ts';
import type { DatabaseSettings } from '../../../src/platform/store/postgres/settings.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';
import { type TcpProxy, tcpProxy, throughProxy } from '../../support/tcp-proxy.ts';
import { testCert, testKey } from '../../support/test-cert.ts';

let schema: PostgresSchema;
let proxy: TcpProxy;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  schema = await postgresSchema(inject('postgresUrl'));
  proxy = await tcpProxy(Number(new URL(schema.url).port));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await proxy.close();
  await schema.drop();
});

async function open(database: DatabaseSettings): Promise<Store> {
  const store = await openPostgres(database);
  closing.push(() => store.close());
  return store;
}

/** A write without a notification, which has a connection of its own. */
const one = (store: Store) => store.write((trx) => sql`select 1 as n`.execute(trx), 'quiet');
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof CapacityError ? 'no capacity' : error),
  );

describe('the pool', () => {
  it('opens at most poolSize connections for a crowd', async () => {
    const store = await open({ url: throughProxy(schema.url, proxy), poolSize: 3 });
    await Promise.all(Array.from({ length: 60 }, () => one(store)));
    expect(proxy.connections).toBe(3);
  });

  it('tries one connection for a crowd while the server is away, and works at once after it', async () => {
    const store = await open({ url: throughProxy(schema.url, proxy) });
    await one(store);
    proxy.cut();
    await expect.poll(() => outcomeOf(one(store))).toBe('no capacity');
    const before = proxy.connections;
    const crowd = Array.from({ length: 500 }, () => outcomeOf(one(store)));
    expect(new Set(await Promise.all(crowd))).toEqual(new Set(['no capacity']));
    expect(proxy.connections - before).toBeLessThanOrEqual(2);
    proxy.mend();
    const after = Array.from({ length: 500 }, () => outcomeOf(one(store)));
    expect(new Set(await Promise.all(after))).toEqual(new Set(['done']));
  });

  it('leaves the connection to a server that takes no writes, and finds the next one', async () => {
    const store = await open({ url: throughProxy(schema.url, proxy), poolSize: 2 });
    await sql`create table things (id text)`.execute(store.db);
    await store.write((trx) => sql`set default_transaction_read_only = on`.execute(trx), 'quiet');
    const before = proxy.connections;
    const insert = () =>
      outcomeOf(store.write((trx) => sql`insert into things values ('a')`.execute(trx), 'quiet'));
    expect(await insert()).toBe('no capacity');
    expect(await insert()).toBe('done');
    expect(proxy.connections - before).toBe(1);
  });
});

describe('statementTimeoutSeconds', () => {
  it.each([false, true])('ends a statement (behind a pooler: %s)', async (isPooled) => {
    const listenUrl = isPooled ? schema.url : null;
    const store = await open({ url: schema.url, statementTimeoutSeconds: 0.2, listenUrl });
    const slow = store.write((trx) => sql`select pg_sleep(20)`.execute(trx));
    await expect(slow).rejects.toMatchObject({ _tag: 'CapacityError', cause: { code: '57014' } });
    expect(await outcomeOf(one(store))).toBe('done');
  });
});

describe('behind a pooler', () => {
  it('no statement has a name, and no session a setting', async () => {
    const store = await open({
      url: schema.url,
      statementTimeoutSeconds: 5,
      listenUrl: throughProxy(schema.url, proxy),
    });
    store.onChange(() => {});
    await expect.poll(() => proxy.connections).toBe(1);
    const inside = await store.write(async (trx) => {
      const names = await sql<{ n: number }>`select count(*)::int as n from pg_prepared_statements`;
      const limit = await sql<{ limit: string }>`
        select current_setting('statement_timeout') as "limit"`.execute(trx);
      return [(await names.execute(trx)).rows[0]?.n, limit.rows[0]?.limit];
    });
    expect(inside).toEqual([0, '5s']);
    const { rows } = await sql<{ limit: string; idle: string }>`
      select current_setting('statement_timeout') as "limit",
        current_setting('idle_in_transaction_session_timeout') as idle`.execute(store.db);
    expect(rows).toEqual([{ limit: '0', idle: '0' }]);
  });
});

/**
 * A server that answers PostgreSQL's request for TLS with the certificate of the tests, and passes
 * the rest on.
 */
async function tlsServer(
  port: number,
  address: string,
): Promise<{ url(host: string): string; asked: number }> {
  const seen = { asked: 0 };
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    sockets.add(client);
    client.once('data', (first) => {
      // SSLRequest: length 8, code 80877103.
      if (first.readInt32BE(4) !== 80_877_103) return pass(client, first);
      seen.asked += 1;
      client.write('S');
      const secure = new TLSSocket(client, { isServer: true, key: testKey, cert: testCert });
      secure.once('data', (begin) => pass(secure, begin));
      secure.on('error', () => client.destroy());
    });
    client.on('error', () => {});
  });
  const pass = (client: Socket, begin: Buffer) => {
    const upstream = connect(port, '127.0.0.1');
    sockets.add(upstream);
    upstream.write(begin);
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  };
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const bound = server.address();
  const own = typeof bound === 'object' && bound ? bound.port : 0;
  return {
    url(host) {
      const url = new URL(schema.url);
      url.hostname = host;
      url.port = String(own);
      return url.href;
    },
    get asked() {
      return seen.asked;
    },
  };
}

describe('TLS', () => {
  let directory: string;
  let caFile: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-ca-'));
    caFile = join(directory, 'ca.pem');
    writeFileSync(caFile, testCert);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const serverHere = (address = '127.0.0.1') =>
    tlsServer(Number(new URL(schema.url).port), address);

  it('verify-full trusts the certificates of caFile, for the name in the URL', async () => {
    const server = await serverHere();
    const store = await open({
      url: `${server.url('localhost')}&sslmode=disable`,
      ssl: { mode: 'verify-full', caFile },
    });
    expect(await outcomeOf(one(store))).toBe('done');
    expect(server.asked).toBeGreaterThan(0);
  });

  it.each([
    ['a certificate that nobody vouches for', 'localhost', false, /self-signed certificate/],
    ['another name', '127.0.0.2', true, /does not match|altnames/],
  ])('verify-full refuses %s', async (_title, host, hasCa, words) => {
    const server = await serverHere(host === 'localhost' ? '127.0.0.1' : host);
    const url = server.url(host);
    const opening = openPostgres({
      url,
      ssl: { mode: 'verify-full', caFile: hasCa ? caFile : null },
    });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(String((error as Error).cause)).toMatch(words);
  });

  it('require takes any certificate, and disable asks for none', async () => {
    const server = await serverHere();
    await open({ url: server.url('localhost'), ssl: { mode: 'require', caFile: null } });
    expect(server.asked).toBe(1);
    await open({ url: server.url('localhost'), ssl: { mode: 'disable', caFile: null } });
    expect(server.asked).toBe(1);
  });

  it('names a caFile that cannot be read', async () => {
    const ssl = { mode: 'verify-full', caFile: join(directory, 'none.pem') } as const;
    await expect(openPostgres({ url: schema.url, ssl })).rejects.toThrow(
      /^database\.ssl\.caFile cannot be read .*ENOENT/,
    );
  });
});
