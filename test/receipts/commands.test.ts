// `svc messages receipt`, `svc receipt verify` and `svc events verify`, typed by a person.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPublicKeys } from '../../src/receipts/keys.ts';
import type { Receipt } from '../../src/receipts/schema.ts';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';
import { send, startPipeline } from '../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

describe('commands of receipts', () => {
  let test: TestApp;
  let sink: SmtpSink;
  let cli: CliWorkspace;
  /** A workspace without a store. */
  let elsewhere: CliWorkspace;
  let id: string;

  beforeAll(async () => {
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    const config = { delivery: { mode: 'relay' as const, relay } };
    test = await testApp({ start: Date.now(), config });
    const { dataDir, database } = test.app.config;
    cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
    elsewhere = cliWorkspace();
    const pipeline = await startPipeline(test.app);
    id = (await send(test.app, test.caller, 'ada@example.com')).id;
    await pipeline.idle();
    await pipeline.close();
  });
  afterAll(async () => {
    cli.close();
    elsewhere.close();
    await test.close();
    await sink.close();
  });

  async function keep(name: string, content: string): Promise<void> {
    writeFileSync(join(elsewhere.directory, name), content);
  }

  it('write a receipt and check it on a machine without a store', async () => {
    const written = await cli.run(['messages', 'receipt', id]);
    expect(written).toMatchObject({ code: 0, stderr: '' });
    await keep('receipt.json', written.stdout);
    await keep('mail.eml', sink.messages[0]?.raw.toString('latin1') ?? '');
    await keep('keys.json', JSON.stringify({ keys: await listPublicKeys(test.app) }));
    const checked = await elsewhere.run([
      'receipt',
      'verify',
      'receipt.json',
      '--mime',
      'mail.eml',
      '--keys',
      'keys.json',
    ]);
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    const { events } = JSON.parse(written.stdout) as Receipt;
    expect(checked.stdout).toContain(`The receipt of ${id} is sound: ${events.length} events`);
    expect(checked.stdout).toContain('The mail is the one that was sent.');
    const asJson = await elsewhere.json(['receipt', 'verify', 'receipt.json']);
    expect(asJson).toEqual({ valid: true, complete: true, problems: [] });
    const { summary: _, summarySignature: _signature, ...others } = JSON.parse(written.stdout);
    await keep('old.json', JSON.stringify({ ...others, version: 1 }));
    const old = await elsewhere.run(['receipt', 'verify', 'old.json']);
    expect(old.stdout).toContain('version 1 does not prove completeness');
    expect(await elsewhere.json(['receipt', 'verify', 'old.json'])).toMatchObject({
      valid: true,
      complete: false,
    });
  });

  it('name what is wrong, and end with exit code 8', async () => {
    const text = readFileSync(join(elsewhere.directory, 'receipt.json'), 'utf8');
    const receipt = JSON.parse(text) as Receipt;
    const [first] = receipt.events;
    await keep('changed.json', text.replace('"status": "pending"', '"status": "failed"'));
    const changed = await elsewhere.run(['receipt', 'verify', 'changed.json']);
    expect(changed).toMatchObject({ code: 8, stderr: 'svc: the receipt is not sound\n' });
    expect(changed.stdout).toBe(`${first?.id}: this event, or its path, is not what was sealed\n`);
    await keep('foreign.json', JSON.stringify({ keys: [{ publicKey: 'AAAA' }] }));
    const foreign = await elsewhere.run([
      'receipt',
      'verify',
      'receipt.json',
      '--keys',
      'foreign.json',
    ]);
    expect(foreign).toMatchObject({ code: 8 });
    expect(foreign.stdout).toBe(`head: signed by a foreign key, ${receipt.head.keyId}\n`);
  });

  it.each([
    ['a missing file', ['receipt', 'verify', 'none.json'], 2, /none\.json: cannot be read/],
    ['a file that is not JSON', ['receipt', 'verify', 'mail.eml'], 2, /FILE: not valid JSON/],
    [
      'keys that are none',
      ['receipt', 'verify', 'receipt.json', '--keys', 'receipt.json'],
      2,
      /keys: not a list of keys/,
    ],
  ])('refuse %s', async (_, args, code, words) => {
    const { stderr, code: ended } = await elsewhere.run(args);
    expect(ended).toBe(code);
    expect(stderr).toMatch(words);
  });

  it('find the log sound, and name an event that was changed', async () => {
    const sound = await cli.run(['events', 'verify']);
    expect(sound).toMatchObject({ code: 0 });
    const { events } = await cli.json<Receipt>(['messages', 'receipt', id]);
    const [, last] = events;
    await test.app.store.write((trx) =>
      sql`update events set timestamp = timestamp + 1 where id = ${last?.id}`.execute(trx),
    );
    const changed = await cli.run(['events', 'verify', '--json']);
    expect(changed.code).toBe(8);
    expect(JSON.parse(changed.stdout)).toMatchObject({
      changed: [{ id: last?.id, subject: id }],
      deleted: 0,
      problems: [],
    });
    expect((await cli.run(['events', 'verify'])).stdout).toContain(last?.id);
    const refused = await cli.run(['messages', 'receipt', id]);
    expect(refused).toMatchObject({ code: 5 });
    expect(refused.stderr).toContain('run "svc events verify"');
  });
});
