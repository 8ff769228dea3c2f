// A row that always fails stops no other row of its loop, and says why it waits or how it ends.

import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createConfirmationLoop } from '../../../src/consent/opt-in/loop.ts';
import { addMembers, listMembers } from '../../../src/consent/opt-in/members.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { insertErasure, nextDue } from '../../../src/history/erasures/queries.ts';
import type { EventSink } from '../../../src/history/events/hooks.ts';
import { indexWaiting } from '../../../src/inbox/threads/indexer.ts';
import { insertWaiting, selectWaiting } from '../../../src/inbox/threads/search-queries.ts';
import { createSearchFiller } from '../../../src/outbound/messages/lists/search.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { eraseDue } from '../../../src/service/erasing/eraser.ts';
import { createWebhookLoop } from '../../../src/webhooks/posting/loop.ts';
import { makeOrganization } from '../../campaigns/walk/fixtures.ts';
import { filesUnder } from '../../docs/plain-tests.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { deliveryRow, makeDeliveries, makeEndpoint } from '../../webhooks/engine.ts';

/** The way in which a failing row of each loop shows its reason, or ends. */
const ends: Readonly<Record<string, string>> = {
  'src/campaigns/walk/loop.ts': '`waitReason` of the run (test/campaigns/walk/trouble.test.ts)',
  'src/consent/opt-in/loop.ts': 'its organization waits for an hour, as the log says',
  'src/inbox/receiving/projector.ts': 'three tries, then `parsingErrors` of the mail',
  'src/inbox/threads/indexer.ts': 'it is left out of the search, as the log says',
  'src/outbound/messages/lists/search.ts': 'it is left out of the search, as the log says',
  'src/outbound/queue/loop.ts': '`waitReason` of the delivery; its attempts end as `failed`',
  'src/outbound/reports/reports.ts': 'five tries, then dropped, as the log says',
  'src/outbound/tracking/custom/loop.ts': '`verificationErrors` of the host',
  'src/service/erasing/eraser.ts': 'it waits for a minute, as the log says',
  'src/webhooks/posting/loop.ts': 'its endpoint waits for a minute, as the log says',
};

it('each loop over due rows is in the list', () => {
  const loops = filesUnder('src', /\.ts$/).filter((file) =>
    /(?<!function )\bcreateDueLoop\(/.test(readFileSync(file, 'utf8')),
  );
  expect(loops.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(Object.keys(ends));
});

describe.each(stores)('a row that always fails, on %s', (store) => {
  const test = eachApp({
    store,
    config: { tracking: { publicUrl: 'https://click.example.com' } },
  });

  it('leaves other deletions their turn', async () => {
    const { app, clock } = test;
    const row = (id: string, about: string) => ({
      ...{ id, organization_id: 'default', kind: 'resource' as const, about },
      ...{ passes: 0, due_at: clock.now(), created_at: clock.now() },
    });
    await app.store.write(async (trx) => {
      await insertErasure(trx, row('con_broken', '{'));
      for (let at = 0; at < 12; at++) await insertErasure(trx, row(`con_${at}`, '{}'));
    });
    await clock.advance(1);
    await eraseDue(app);
    // Only the broken one is due within a minute; the others have a second pass in two.
    expect((await nextDue(app.store.db)) - clock.now()).toBe(60_000);
    await clock.advance(90_000);
    await eraseDue(app);
    expect((await nextDue(app.store.db)) - clock.now()).toBeLessThanOrEqual(60_000);
  });

  it('leaves webhook deliveries of other endpoints their turn', async () => {
    const { app } = test;
    const ids: string[] = [];
    for (const path of ['broken', 'sound']) {
      const endpoint = await makeEndpoint(test, `http://127.0.0.1:1/${path}`);
      ids.push(...(await makeDeliveries(test, endpoint, 1)));
    }
    const [broken = '', sound = ''] = ids;
    await poison(app, 'update', 'webhook_deliveries', 'id', broken);
    const loop = createWebhookLoop(app, {
      poster: {
        post: async () => ({
          ...{ isSuccess: true, statusCode: 204, errorClass: null },
          ...{ response: null, retryAt: null, durationMs: 0 },
        }),
        close: async () => {},
      },
    });
    await loop.start().catch(() => {});
    await expect.poll(async () => (await deliveryRow(app, sound)).status).toBe('delivered');
    await loop.stop(0);
    expect((await deliveryRow(app, broken)).status).toBe('pending');
  });

  it('leaves other messages their place in the search', async () => {
    const { app, caller, clock } = test;
    const broken = await send(app, caller, 'ada@example.com');
    const sound = await send(app, caller, 'bob@example.com');
    await poison(app, 'insert', 'message_search', 'message_id', broken.id);
    await clock.advance(1_000);
    const idle = { isPressing: () => false, isWorking: () => false };
    await createSearchFiller(app, idle).fill();
    const { rows } = await sql<{ id: string }>`select distinct message_id as id from message_search
      where message_id in (${broken.id}, ${sound.id})`.execute(app.store.db);
    expect(rows).toEqual([{ id: sound.id }]);
  });

  it('leaves other mail of mailboxes its place in the search', async () => {
    const { app, caller } = test;
    const broken = await send(app, caller, 'ada@example.com');
    const sound = await send(app, caller, 'bob@example.com');
    const waiting = [broken, sound].map(({ id }) => ({ message_id: id, mailbox_id: 'mbx_desk' }));
    await app.store.write((trx) => insertWaiting(trx, waiting));
    await poison(app, 'insert', 'thread_search', 'message_id', broken.id);
    await indexWaiting(app);
    const { rows } = await sql<{ id: string }>`select message_id as id from thread_search
      where message_id in (${broken.id}, ${sound.id})`.execute(app.store.db);
    expect(rows).toEqual([{ id: sound.id }]);
    expect(await selectWaiting(app.store.db, 10)).toEqual([]);
  });

  it('leaves mails to confirm of other organizations their turn', async () => {
    const { operator } = test;
    const other = await makeOrganization(test.app);
    const groups = await Promise.all([operator, other].map((caller) => ask(test.app, caller)));
    const poison: EventSink = {
      wants(_app, organizationId) {
        if (organizationId === operator.organizationId) throw new Error('a fault');
        return false;
      },
      take: async () => {},
    };
    const hooks = { ...test.app.hooks, eventSinks: [...test.app.hooks.eventSinks, poison] };
    const loop = createConfirmationLoop({ ...test.app, hooks });
    loop.start();
    for (let turn = 0; turn < 3; turn++) {
      await test.clock.advance(1_000);
      await loop.idle();
    }
    await loop.stop();
    const mails = await Promise.all([
      mailsOf(test.app, operator, groups[0]),
      mailsOf(test.app, other, groups[1]),
    ]);
    expect(mails).toEqual([0, 1]);
  });
});

/** Lets each change of a row with this value throw. */
async function poison(
  { store }: App,
  change: 'insert' | 'update',
  table: string,
  column: string,
  value: string,
): Promise<void> {
  const body = `when (new.${column} = '${value}')`;
  const head = `create trigger poison before ${change} on ${table} for each row ${body}`;
  await store.write(async (trx) => {
    if (store.kind === 'sqlite') {
      await sql.raw(`${head} begin select raise(abort, 'a fault'); end`).execute(trx);
      return;
    }
    const raise = "begin raise exception 'a fault'; end";
    await sql
      .raw(
        `create or replace function fault() returns trigger language plpgsql as '${raise.replaceAll("'", "''")}'`,
      )
      .execute(trx);
    await sql.raw(`${head} execute function fault()`).execute(trx);
  });
}

/** Adds a contact to a group that asks for confirmation; returns the group. */
async function ask(app: App, caller: Caller): Promise<string> {
  const group = await createGroup(app, caller, { name: 'News', confirm: true });
  const contact = await createContact(app, caller, { email: 'ada@example.com' });
  await addMembers(app, caller, group.id, [contact.id]);
  return group.id;
}

async function mailsOf(app: App, caller: Caller, groupId = ''): Promise<number | undefined> {
  const { items } = await listMembers(app, caller, groupId, { limit: 10 });
  return items[0]?.mails;
}
