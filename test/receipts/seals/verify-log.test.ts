// The comparison of the log with its seal, on both stores: each changed byte is named, in every
// column.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { selectEvent } from '../../../src/history/events/queries.ts';
import { sealLog } from '../../../src/receipts/seal.ts';
import { verifyLog } from '../../../src/receipts/verify-log.ts';
import { eraseEvent } from '../../../src/service/erasing/events.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { leafTexts, recordResource, recordSteps } from './log.ts';

describe.each(stores)('the check of a log on %s', (store) => {
  const test = eachApp({ store });
  const ours = () => test.caller.organizationId;
  const check = () => verifyLog(test.app, ours());
  const change = (statement: ReturnType<typeof sql>) =>
    test.app.store.write((trx) => statement.execute(trx));

  /** Seals a log of `steps` steps of as many messages, and one event of a resource. */
  async function sealed(steps: number): Promise<void> {
    const { app } = test;
    const ids = Array.from({ length: steps }, (_, at) => `msg_${at}`);
    await app.store.write((trx) => recordSteps(app, trx, ours(), ids));
    await app.store.write((trx) => recordResource(app, trx, ours(), 'contact_1'));
    await app.store.write((trx) => recordSteps(app, trx, ours(), ['msg_last']));
    await sealLog(app, ours());
  }

  it.each([0, 255, 256, 600])('finds a log of %i steps and more sound', async (steps) => {
    await sealed(steps);
    const count = (await leafTexts(test.app, ours())).length;
    expect(await check()).toMatchObject({
      ...{ sound: count, changed: [], deleted: 0, erased: 0, unsealed: 0, problems: [] },
      head: { size: count },
    });
  });

  const changes = {
    events: {
      id: "id || 'x'",
      organization_id: null,
      message_id: "message_id || 'x'",
      recipient_id: "'rcp_2'",
      event_type: "'delivered'",
      status: "'sens'",
      timestamp: 'timestamp + 1',
      metadata: "replace(metadata, 'ada', 'adb')",
    },
    resource_events: {
      organization_id: null,
      id: "id || 'x'",
      event_type: "'contact.created'",
      subject: "subject || 'x'",
      timestamp: 'timestamp + 1',
      data: "replace(data, 'xxx', 'xxy')",
      facts: `'{"by":"b"}'`,
    },
  } as const;

  it('knows a change of each column', async () => {
    for (const table of Object.keys(changes)) {
      const { rows } =
        store === 'sqlite'
          ? await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(
              test.app.store.db,
            )
          : await sql<{ name: string }>`select column_name as name from information_schema.columns
              where table_name = ${table} and table_schema = current_schema()`.execute(
              test.app.store.db,
            );
      const names = new Set(rows.map(({ name }) => name));
      expect(new Set(Object.keys(changes[table as keyof typeof changes]))).toEqual(names);
    }
  });

  it.each(
    Object.entries(changes).flatMap(([table, columns]) =>
      Object.entries(columns).flatMap(([column, value]) =>
        value === null ? [] : [[table, column, value] as const],
      ),
    ),
  )('names an event whose %s.%s was changed', async (table, column, value) => {
    await sealed(300);
    const where = table === 'events' ? `message_id = 'msg_270'` : `subject = 'contact_1'`;
    await change(sql.raw(`update ${table} set ${column} = ${value} where ${where}`));
    const state = await check();
    expect(state.changed).toHaveLength(1);
    expect(state).toMatchObject({ deleted: 0, problems: [] });
    const { rows } = await sql<{ id: string }>`select id from ${sql.table(table)}
      where ${table === 'events' ? sql`message_id like 'msg_270%'` : sql`subject like 'contact_1%'`}`.execute(
      test.app.store.db,
    );
    expect(state.changed[0]?.id).toBe(rows[0]?.id);
  });

  it('counts an event that left for another organization as deleted', async () => {
    await sealed(3);
    await change(sql`update events set organization_id = 'org_x' where message_id = 'msg_1'`);
    expect(await check()).toMatchObject({ changed: [], deleted: 1, problems: [] });
  });

  it('names an event that was added among sealed ones', async () => {
    await sealed(3);
    await change(sql`insert into events
      (id, organization_id, message_id, recipient_id, event_type, status, timestamp, metadata)
      select id || 'a', organization_id, 'msg_added', recipient_id, event_type, status, timestamp, metadata
      from events where message_id = 'msg_1'`);
    const state = await check();
    expect(state.changed.map(({ subject }) => subject)).toEqual(['msg_added']);
    expect(state.deleted).toBe(0);
  });

  it('counts deleted, erased and unsealed events', async () => {
    const { app } = test;
    await sealed(600);
    await change(sql`delete from events where message_id in ('msg_7', 'msg_8', 'msg_599')`);
    const [id] = (await leafTexts(app, ours())).slice(-2).map((text) => JSON.parse(text)[0]);
    const row = await selectEvent(app.store.db, ours(), id);
    if (!row) throw new Error('no event');
    await app.store.write((trx) => eraseEvent(trx, ours(), row, 100));
    await app.store.write((trx) => recordSteps(app, trx, ours(), ['msg_new']));
    expect(await check()).toMatchObject({
      ...{ changed: [], deleted: 3, erased: 1, unsealed: 1, problems: [] },
    });
  });

  const root = 'the hashes do not lead to the root of the head';
  const signature = 'the signature does not fit the head';
  /** SQL that changes the first character of a random text. */
  const anotherStart = (column: string) =>
    `case when ${column} like 'A%' then 'B' else 'A' end || substr(${column}, 2)`;

  it.each([
    [
      'the root',
      "event_trees set root = replace(root, substr(root, 1, 1), 'g')",
      [root, signature],
    ],
    ['the time', 'event_trees set sealed_at = sealed_at + 1', [signature]],
    ['the signature', `event_trees set signature = ${anotherStart('signature')}`, [signature]],
    ['the key', "event_trees set key_id = 'other'", [signature]],
    ['the public key', `receipt_keys set public_key = ${anotherStart('public_key')}`, [signature]],
    ['the size', 'event_trees set size = size - 1', [root, signature]],
  ])('tells that %s of the head was changed', async (_, statement, problems) => {
    await sealed(300);
    await change(sql.raw(`update ${statement}`));
    expect((await check()).problems).toEqual(problems);
  });

  it('names the event whose stored hash was changed, and the head', async () => {
    await sealed(300);
    const { app } = test;
    const { rows } = await sql<{ hashes: Uint8Array }>`select hashes from event_tiles
      where organization_id = ${ours()} and level = 0 and number = 1`.execute(app.store.db);
    const hashes = Buffer.from(rows[0]?.hashes ?? []);
    hashes[40] = (hashes[40] ?? 0) ^ 1;
    await change(sql`update event_tiles set hashes = ${hashes} where level = 0 and number = 1`);
    const state = await check();
    const texts = await leafTexts(app, ours());
    expect(state.changed.map(({ id }) => id)).toEqual([JSON.parse(texts[257] ?? '')[0]]);
    expect(state.problems).toEqual([root]);
  });

  it('tells that hashes are missing', async () => {
    await sealed(600);
    await change(sql`delete from event_tiles where level = 0 and number = 1`);
    expect((await check()).problems[0]).toBe('hashes 256 and following are missing');
  });

  it('stays sound while the log grows', async () => {
    await sealed(600);
    const { app } = test;
    let isDone = false;
    const growing = (async () => {
      while (!isDone) {
        await app.store.write((trx) => recordSteps(app, trx, ours(), ['msg_a', 'msg_b']));
        await sealLog(app, ours());
      }
    })();
    for (let round = 0; round < 10; round += 1) {
      expect(await check()).toMatchObject({ changed: [], deleted: 0, problems: [] });
    }
    isDone = true;
    await growing;
  });
});
