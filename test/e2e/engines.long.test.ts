// One store that moves by the commands: from SQLite to PostgreSQL, through a backup into another
// database, and back to a file. A daemon on each continues where the last one was. Slow: a dozen
// daemons and commands follow each other.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { type DaemonHome, daemonHome, relayTo, until } from '../support/daemon-process.ts';
import { freePort, type PostgresSchema, postgresSchema } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

let home: DaemonHome;
let schemas: [PostgresSchema, PostgresSchema];
let sink: SmtpSink;

beforeAll(async () => {
  schemas = [
    await postgresSchema(inject('postgresUrl')),
    await postgresSchema(inject('postgresUrl')),
  ];
  sink = await startSmtpSink();
  home = daemonHome({
    ...relayTo({ host: '127.0.0.1', port: await freePort() }),
    SVC_DELIVERY_RETRY_SCHEDULE_MINUTES: '[0.02]',
  });
});
afterAll(async () => {
  await home.close();
  await sink.close();
  await Promise.all(schemas.map((schema) => schema.drop()));
});

const inbox = { channel: 'email', email: { subject: 'Moved house', text: 'nightingale' } };
const onFirst = () => ({ SVC_DATABASE_URL: schemas[0].url });
const onSecond = () => ({ SVC_DATABASE_URL: schemas[1].url });
const subjects = () =>
  sink.messages.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1]);

it('a store moves between the engines, and each daemon continues where the last was', {
  timeout: 180_000,
}, async () => {
  const { cli } = home;
  const first = await home.start();
  const body = { ...inbox, to: [{ email: 'ada@example.com' }] };
  const { body: sent } = await first.request<Message>('POST', '/v1/messages', { body });
  const copy = ['migrate', 'copy', '--to', schemas[0].url];
  const refused = await cli.run(copy);
  expect(refused.stderr).toMatch(/Another svc daemon .*already runs/);
  await first.stop();

  const toPostgres = await cli.json<{ tables: { table: string; rows: number }[] }>(copy);
  expect(toPostgres.tables.find(({ table }) => table === 'messages')?.rows).toBe(1);

  // A backup of PostgreSQL is a file of SQLite, and fills another database.
  await cli.json(['backup', 'copy.db', '--with-secret'], { env: onFirst() });
  expect(await cli.json(['backup', 'verify', 'copy.db'])).toMatchObject({
    valid: true,
    hasSecret: true,
    tables: expect.arrayContaining([{ table: 'messages', rows: 1, digest: expect.any(String) }]),
  });
  const restored = await cli.json(['restore', 'copy.db', '--yes'], { env: onSecond() });
  expect(restored).toMatchObject({ success: true, secret: 'kept' });
  const again = await cli.run(['restore', 'copy.db', '--yes'], { env: onSecond() });
  expect([again.code, again.stderr]).toEqual([
    5,
    expect.stringContaining('The database holds a store already'),
  ]);

  // The queued message leaves from the copy, signed by the key of the first store.
  const second = await home.start({ env: { ...onSecond(), ...relayTo(sink) } });
  await until(() => subjects().length === 1, 'the message arrives');
  expect(subjects()).toEqual(['Moved house']);
  expect(sink.messages[0]?.raw.toString()).toContain('DKIM-Signature: ');
  const status = async () =>
    (await second.request<Message>('GET', `/v1/messages/${sent.id}`)).body.status;
  await until(async () => (await status()) === 'sent', 'the message is sent');
  const back = ['migrate', 'copy', '--to', `sqlite:${join(cli.directory, 'back.db')}`];
  const busy = await cli.run(back, { env: onSecond() });
  expect(busy.stderr).toContain('A daemon runs on the store: stop all daemons first');
  await second.stop();

  await cli.json(back, { env: onSecond() });
  const atHome = { SVC_DATABASE_URL: `sqlite:${join(cli.directory, 'back.db')}` };
  const third = await home.start({ env: { ...atHome, ...relayTo(sink) } });
  const { body: kept } = await third.request<Message>('GET', `/v1/messages/${sent.id}`);
  expect(kept.status).toBe('sent');
  await third.request('POST', '/v1/messages', { body });
  await until(() => subjects().length === 2, 'the next message arrives');
});
