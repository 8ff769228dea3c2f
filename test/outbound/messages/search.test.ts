// Finding messages by recipient, sender, subject and tag: from a table that is filled behind the
// commit, without missing one, for every writer and every delay.
// Slow: many messages, on both engines.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { App } from '../../../src/core/app.ts';
import {
  createSearchFiller,
  type Surroundings,
} from '../../../src/outbound/messages/lists/search.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { sendBatch } from '../../../src/outbound/sending/batch.ts';
import { firstIdAt } from '../../../src/platform/runtime/ids.ts';
import { receiveMail, shortMail } from '../../inbox/receiving/received-mail.ts';
import { bothStores } from '../../support/command.ts';
import * as delivery from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import { otherOrganization, payload, send } from './fixtures.ts';

const quiet: Surroundings = { isPressing: () => false, isWorking: () => false };
const minuteMs = 60_000;

/** Reads the terms of one message, or of all, from the table. */
async function termsOf({ store }: App, id?: string): Promise<string[]> {
  const { rows } = await sql<{ kind: string; value: string; id: string }>`
    select kind, value, message_id as id from message_search order by kind, value`.execute(
    store.db,
  );
  return rows
    .filter((row) => id === undefined || row.id === id)
    .map((row) => `${row.kind} ${row.value}`);
}

describe.each(bothStores)('the search for messages on %s', (store) => {
  const { test, api } = eachApi({ store });

  const found = async (query: string, as = api) => {
    const { status, body } = await as.get<Page<Message>>(`/v1/messages?${query}`);
    expect(status).toBe(200);
    expect(body.pagination.total).toBe(body.items.length);
    return body.items.map(({ subject }) => subject);
  };
  const fill = () => createSearchFiller(test.app, quiet).fill();
  const subject = (text: string, top: Record<string, unknown> = {}) =>
    send(api, payload({ subject: text }, top));

  it('counts messages of commands once, in the metrics of one daemon', async () => {
    const { app } = test;
    const accepted = async ({ metrics }: App) => {
      const { values } = await metrics.accepted.get();
      const sent = values.filter(({ labels }) => labels.direction === 'outbound');
      return Object.fromEntries(sent.map(({ labels, value }) => [labels.via, value]));
    };
    const [command, other] = [await test.another(), await test.another()];
    await subject('By the API');
    await delivery.send(command, test.operator, 'ada@example.com');
    await sendBatch(command, test.operator, [payload({ subject: 'In a batch' })], null);
    expect(await accepted(app)).toEqual({ api: 1 });
    expect(await fill()).toBe(3);
    await createSearchFiller(other, quiet).fill();
    await fill();
    await test.clock.advance(11 * minuteMs);
    await fill();
    const counted = { api: 1, command: 2, sendmail: 0 };
    expect([await accepted(app), await accepted(other)]).toEqual([counted, {}]);
    expect(await accepted(command)).toEqual({});
  });

  it('finds by the template and by the run of a campaign, alone and beside other terms', async () => {
    const [run, template] = ['run_0123456789abcdefghjk', 'tmpl_0123456789abcdefghjk'];
    const to = (email: string) => ({ to: [{ email }] });
    await subject('Of both', to('ada@example.com'));
    await subject('Of the run', to('bob@example.com'));
    await subject('Of neither', to('ada@example.com'));
    await test.app.store.write(async (trx) => {
      await sql`update messages set campaign_run_id = ${run}
        where subject like 'Of %' and subject <> 'Of neither'`.execute(trx);
      await sql`update messages set template_id = ${template} where subject = 'Of both'`.execute(
        trx,
      );
    });
    await fill();
    expect(await found(`campaignRunId=${run}`)).toEqual(['Of the run', 'Of both']);
    expect(await found(`templateId=${template}`)).toEqual(['Of both']);
    expect(await found(`campaignRunId=${run}&templateId=${template}`)).toEqual(['Of both']);
    expect(await found(`campaignRunId=${run}&recipient=bob@example.com`)).toEqual(['Of the run']);
    expect(await found(`templateId=${template}&recipient=bob@example.com`)).toEqual([]);
    expect(await found(`campaignRunId=${run}&status=bounced`)).toEqual([]);
    expect(await found('campaignRunId=run_0123456789abcdefghjz')).toEqual([]);
  });

  it('finds by each term and by several together, in any case', async () => {
    await subject('Invoice 1', { to: [{ email: 'Ada@Example.com' }], tags: ['billing', 'May'] });
    await subject('INVOICE 2', { to: [{ email: 'bob@example.com' }], tags: ['billing'] });
    await subject('Welcome', {
      to: [{ email: 'cy@example.com' }],
      bcc: [{ email: 'ada@example.com' }],
    });
    await receiveMail(test.app, shortMail('Invoice from outside'));
    expect(await fill()).toBe(4);
    expect(await found('recipient=ADA@example.com')).toEqual(['Welcome', 'Invoice 1']);
    expect(await found('sender=hello@sandbox.test')).toEqual(['Welcome', 'INVOICE 2', 'Invoice 1']);
    expect(await found('sender=ada@example.com')).toEqual(['Invoice from outside']);
    expect(await found('subject=invoice')).toEqual([
      'Invoice from outside',
      'INVOICE 2',
      'Invoice 1',
    ]);
    expect(await found('subject=nvoice')).toEqual([]);
    expect(await found('tag=billing')).toEqual(['INVOICE 2', 'Invoice 1']);
    expect(await found('tag=may')).toEqual(['Invoice 1']);
    expect(await found('tag=BILLING')).toEqual(['INVOICE 2', 'Invoice 1']);
    expect(await found('tag=May&recipient=ada@example.com&subject=INV')).toEqual(['Invoice 1']);
    expect(await found('tag=May&recipient=bob@example.com')).toEqual([]);
    expect(await found('recipient=ada@example.com&subject=inv&sender=hello@sandbox.test')).toEqual([
      'Invoice 1',
    ]);
    expect(await found('subject=invoice&direction=inbound')).toEqual(['Invoice from outside']);
    expect(await found('subject=invoice&status=pending')).toEqual(['INVOICE 2', 'Invoice 1']);
    expect(await found('tag=billing&status=bounced')).toEqual([]);
    expect(await found('tag=billing&startDate=2026-01-06')).toEqual([]);
    expect(await found('tag=billing&endDate=2026-01-06')).toHaveLength(2);
    expect(await found('tag=billing&conversationId=conv_0123456789abcdefghjk')).toEqual([]);
    expect(await found('tag=billing&contactId=contact_0123456789abcdefghjk')).toEqual([]);
  });

  it('pages through the results, newest first', async () => {
    for (const number of [1, 2, 3, 4, 5]) await subject(`n ${number}`, { tags: ['t'] });
    await fill();
    const query = '/v1/messages?tag=t&limit=2&page=2';
    const { items, pagination } = (await api.get<Page<Message>>(query)).body;
    expect(items.map((one) => one.subject)).toEqual(['n 3', 'n 2']);
    expect(pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
  });

  it('takes a wildcard of SQL in a subject literally', async () => {
    await subject('100% off');
    await subject('1000 off');
    await fill();
    expect(await found('subject=100%25')).toEqual(['100% off']);
  });

  it('shows an organization its own messages alone', async () => {
    await subject('mine', { tags: ['t'] });
    await fill();
    const other = api.as((await otherOrganization(test.app)).apiKey);
    expect(await found('tag=t', other)).toEqual([]);
    expect(await found('subject=mine', other)).toEqual([]);
  });

  it('finds a message within a second after its commit', async () => {
    const filler = createSearchFiller(test.app, quiet);
    const untilItGathers = () =>
      expect.poll(() => (test.clock.nextTimerAt() ?? 0) - test.clock.now()).toBe(250);
    filler.start();
    // A commit after the first step wakes it: without one it sleeps for a minute.
    await subject('first');
    await untilItGathers();
    await subject('soon');
    await untilItGathers();
    await test.clock.advance(1_000);
    await filler.stop();
    expect(await found('subject=soon')).toEqual(['soon']);
  });

  it('gives way to a burst for a limited time', async () => {
    const filler = createSearchFiller(test.app, { ...quiet, isPressing: () => true });
    filler.start();
    await subject('late');
    await test.clock.advance(9_000);
    expect(await termsOf(test.app)).toEqual([]);
    await test.clock.advance(2_000);
    await filler.stop();
    expect(await found('subject=late')).toEqual(['late']);
  });

  it('finds messages stored while no daemon ran', async () => {
    await subject('first');
    await fill();
    for (let number = 0; number < 450; number++) {
      await delivery.send(test.app, test.caller, `u${number}@example.com`);
    }
    await test.clock.advance(30 * minuteMs);
    const another = await test.another();
    expect(await createSearchFiller(another, quiet).fill()).toBe(450);
    expect(await createSearchFiller(another, quiet).fill()).toBe(0);
    expect(await found('recipient=u449@example.com')).toHaveLength(1);
  });

  it('includes messages older than the table', async () => {
    await subject('old');
    await test.app.store.write(async (trx) => {
      await sql`update search_marks set newest = (select max(id) from messages), settled = ''`.execute(
        trx,
      );
    });
    await test.clock.advance(11 * minuteMs);
    expect(await fill()).toBe(1);
    expect(await found('subject=old')).toEqual(['old']);
  });

  /** Stores a copy of a message whose transaction began `agoMs` ago, and ends now. */
  const storeLate = async (id: string, agoMs: number) => {
    const lateId = `${firstIdAt('message', test.clock.now() - agoMs)}00000000000000`;
    await test.app.store.write(async (trx) => {
      await sql`create table late as select * from messages where id = ${id}`.execute(trx);
      await sql`update late set id = ${lateId}, subject = 'came late'`.execute(trx);
      await sql`insert into messages select * from late`.execute(trx);
      await sql`drop table late`.execute(trx);
    });
  };

  it.each([
    ['seconds', 3_000, 0],
    ['minutes', 4 * minuteMs, 10 * minuteMs],
  ])('finds a message committed %s late, with an id before the mark', async (_, agoMs, waitMs) => {
    const { id } = await subject('on time');
    expect(await fill()).toBe(1);
    await storeLate(id, agoMs);
    await test.clock.advance(waitMs);
    expect(await fill()).toBe(1);
    expect(await found('subject=came')).toEqual(['came late']);
  });

  it('finds messages stored after the clock was set back', async () => {
    await subject('before');
    await test.clock.advance(20 * minuteMs);
    await fill();
    test.clock.set(test.clock.now() - 60 * minuteMs);
    const restarted = await test.another();
    await delivery.send(restarted, test.caller, 'ada@example.com', { email: { subject: 'after' } });
    expect(await createSearchFiller(restarted, quiet).fill()).toBe(1);
    expect(await found('subject=after')).toEqual(['after']);
  });

  it('finds a message committed minutes late after the clock was set back', async () => {
    const { id } = await subject('before');
    await test.clock.advance(20 * minuteMs);
    await fill();
    test.clock.set(test.clock.now() - 60 * minuteMs);
    await fill();
    await storeLate(id, 4 * minuteMs);
    await test.clock.advance(10 * minuteMs);
    await fill();
    expect(await found('subject=came')).toEqual(['came late']);
  });

  it('indexes each message once with two daemons', async () => {
    const another = await test.another();
    for (let number = 0; number < 300; number++) {
      await delivery.send(test.app, test.caller, `u${number}@example.com`, { tags: ['t'] });
    }
    const fillers = [test.app, another].map((app) => createSearchFiller(app, quiet));
    await Promise.all(fillers.map((filler) => filler.fill()));
    await fill();
    expect((await termsOf(test.app)).filter((term) => term === 'tag t')).toHaveLength(300);
  });

  it('removes the rows of a deleted message', async () => {
    const kept = await subject('kept', { tags: ['a'] });
    const gone = await subject('gone', { tags: ['a', 'b'] });
    await fill();
    const terms = [
      'from hello@sandbox.test',
      'subject gone',
      'tag a',
      'tag b',
      'to ada@example.com',
    ];
    expect(await termsOf(test.app, gone.id)).toEqual(terms);
    await api.delete(`/v1/messages/${gone.id}`);
    expect(await termsOf(test.app, gone.id)).toEqual([]);
    expect(await termsOf(test.app, kept.id)).toHaveLength(4);
    expect(await getMessage(test.app, test.caller, kept.id)).toMatchObject({ subject: 'kept' });
  });

  it('refuses malformed terms', async () => {
    for (const query of [
      'recipient=nobody',
      'sender=',
      'subject=',
      'tag=',
      `tag=${'x'.repeat(101)}`,
    ]) {
      expect((await api.get(`/v1/messages?${query}`)).status, query).toBe(422);
    }
  });
});
