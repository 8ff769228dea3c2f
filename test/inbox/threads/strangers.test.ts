// Message-IDs of strangers: which of them join mail, and which threads merge.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import {
  arrive,
  arriveRaw,
  inbox,
  type ThreadApi,
  takeMail,
  threadAll,
  threadsOver,
} from './mails.ts';

const placeholders = [
  'undefined',
  '<undefined>',
  '<null>',
  '<null@mail.example>',
  '0',
  '<0>',
  'none',
  '<@mail.example>',
  '<{{message_id}}@mail.example>',
  '{{ message.id }}',
  '<%MESSAGE_ID%@mail.example>',
  '<[message-id]@mail.example>',
  '<%s@mail.example>',
  '<[object Object]>',
];

describe.each(stores)('an id of strangers, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let threads: ThreadApi;
  beforeEach(async () => {
    threads = await threadsOver(test.app, api);
  });

  /** The subjects of the messages of each thread, the oldest thread first. */
  async function trees(): Promise<(string | null)[][]> {
    const { items } = await threads.list('?limit=100');
    return Promise.all(
      items
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(async ({ id }) => (await threads.messages(id)).items.map(({ subject }) => subject)),
    );
  }

  const rawOf = (from: string, subject: string, lines: readonly string[]) =>
    Buffer.from(
      [`From: ${from}`, `To: ${inbox}`, `Subject: ${subject}`, ...lines, '', 'Hello', ''].join(
        '\r\n',
      ),
    );
  const raw = (from: string, subject: string, ...lines: readonly string[]) =>
    arriveRaw(test.app, rawOf(from, subject, lines), inbox);

  it.each(placeholders)('joins nothing as a placeholder: %s', async (id) => {
    const of = (n: number) => `Message-ID: <real${n}@mail.example>`;
    await raw('ada@a.example', 'One', of(1), `In-Reply-To: ${id}`);
    await raw('bo@b.example', 'Two', of(2), `In-Reply-To: ${id}`, `References: ${id}`);
    await raw('cy@c.example', 'Three', `Message-ID: ${id}`);
    await raw('di@d.example', 'Four', `Message-ID: ${id}`, `References: ${id}`);
    expect(await trees()).toEqual([['One'], ['Two'], ['Three'], ['Four']]);
  });

  it('in the phrase before the id joins nothing', async () => {
    const said = (n: number) =>
      `In-Reply-To: Message from Desk <${inbox}> of Tuesday <parent${n}@mail.example>`;
    await raw('ada@a.example', 'One', 'Message-ID: <one@mail.example>', said(1));
    await raw('bo@b.example', 'Two', 'Message-ID: <two@mail.example>', said(2));
    await raw('ada@a.example', 'Parent', 'Message-ID: <parent1@mail.example>');
    expect(await trees()).toEqual([['One', 'Parent'], ['Two']]);
  });

  it.each([
    'In-Reply-To: <par\r\n ent@mail.example>',
    'In-Reply-To: < parent @ mail.example >',
    'In-Reply-To: <parent@mail(a host).example>',
    'In-Reply-To: parent@mail.example',
    'References: <x@y.example>\r\n\t<parent@mail.exa\r\n mple>',
    'In-Reply-To: =?utf-8?q?=3Cparent=40mail=2Eexample=3E?=',
    'In-Reply-To: (why) <parent@mail.example> (not)',
  ])('in obsolete syntax joins: %j', async (field) => {
    await raw('ada@a.example', 'One', 'Message-ID: <parent@mail.example>');
    await raw('bo@b.example', 'Two', 'Message-ID: <child@mail.example>', field);
    expect(await trees()).toEqual([['One', 'Two']]);
  });

  it('joins mail of anybody before and after its parent has arrived', async () => {
    await arrive(test.app, { from: 'cy@c.example', subject: 'Early', inReplyTo: 'p@x.example' });
    await arrive(test.app, { from: 'ada@a.example', subject: 'Parent', id: 'p@x.example' });
    await arrive(test.app, { from: 'bo@b.example', subject: 'Late', inReplyTo: 'p@x.example' });
    expect(await trees()).toEqual([['Early', 'Parent', 'Late']]);
  });

  describe('that two of them bear', () => {
    const id = '1@localhost';
    beforeEach(async () => {
      await arrive(test.app, { from: 'ada@a.example', subject: 'Of Ada', id });
      await arrive(test.app, { from: 'bo@b.example', subject: 'Of Bo', id });
    });

    it('begins a thread each', async () => {
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo']]);
    });

    it('joins the answers of each to the thread of each', async () => {
      await arrive(test.app, { from: 'bo@b.example', subject: 'More of Bo', inReplyTo: id });
      await arrive(test.app, { from: 'ada@a.example', subject: 'More of Ada', inReplyTo: id });
      expect(await trees()).toEqual([
        ['Of Ada', 'More of Ada'],
        ['Of Bo', 'More of Bo'],
      ]);
    });

    it('joins no mail of a third, who names or bears it', async () => {
      await arrive(test.app, { from: 'cy@c.example', subject: 'Names it', inReplyTo: id });
      await arrive(test.app, { from: 'di@d.example', subject: 'Bears it', id });
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo'], ['Names it'], ['Bears it']]);
    });

    it('joins the mail of a third with a recipient of the thread', async () => {
      const cc = 'bo@b.example';
      await arrive(test.app, { from: 'cy@c.example', cc, subject: 'With Bo', inReplyTo: id });
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo', 'With Bo']]);
    });

    it('joins a later mail of the same sender that bears it', async () => {
      await arrive(test.app, { from: 'bo@b.example', subject: 'Again', id });
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo', 'Again']]);
    });

    it('outlives the deletion of the first thread', async () => {
      const { items } = await threads.list();
      const first = items.find(({ subject }) => subject === 'Of Ada');
      await api.request('PATCH', `${threads.path}/${first?.id}`, { body: { folder: 'trash' } });
      await api.request('DELETE', `${threads.path}/${first?.id}`);
      await arrive(test.app, { from: 'bo@b.example', subject: 'More of Bo', inReplyTo: id });
      await arrive(test.app, { from: 'cy@c.example', subject: 'Of Cy', inReplyTo: id });
      expect(await trees()).toEqual([['Of Bo', 'More of Bo'], ['Of Cy']]);
    });
  });

  it('that one sender bears twice joins', async () => {
    const id = '1@localhost';
    await arrive(test.app, { from: 'ada@a.example', subject: 'One', id });
    await arrive(test.app, { from: 'Ada@A.example', subject: 'Two', id });
    await arrive(test.app, { from: 'bo@b.example', subject: 'Three', inReplyTo: id });
    expect(await trees()).toEqual([['One', 'Two', 'Three']]);
  });

  it('that two of them bear within a batch begins a thread each', async () => {
    const id = '1@localhost';
    for (const from of ['ada@a.example', 'bo@b.example', 'cy@c.example']) {
      await takeMail(test.app, { from, subject: `Of ${from}`, id });
    }
    await threadAll(test.app);
    expect(await trees()).toHaveLength(3);
  });

  it('of ours joins mail of everybody', async () => {
    const own = 'msg_06dq2k0qz8h3v5m1r9t4w7xy@a.example';
    await arrive(test.app, { from: 'ada@a.example', subject: 'One', id: own });
    await arrive(test.app, { from: 'bo@b.example', subject: 'Two', id: own });
    await arrive(test.app, { from: 'cy@c.example', subject: 'Three', inReplyTo: own });
    expect(await trees()).toEqual([['One', 'Two', 'Three']]);
  });

  describe('of two threads', () => {
    const [ada, bo, eve] = ['ada@a.example', 'bo@b.example', 'eve@e.example'];
    beforeEach(async () => {
      await arrive(test.app, { from: ada, subject: 'Of Ada', id: 'a@a.example' });
      await arrive(test.app, { from: bo, subject: 'Of Bo', id: 'b@b.example' });
    });
    const both = { inReplyTo: 'b@b.example', references: ['a@a.example', 'b@b.example'] };

    it('joins the thread of In-Reply-To and no other for a stranger', async () => {
      await arrive(test.app, { from: eve, subject: 'Of Eve', ...both });
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo', 'Of Eve']]);
    });

    it('joins the thread of In-Reply-To even if References end with another', async () => {
      const references = ['b@b.example', 'a@a.example'];
      await arrive(test.app, {
        from: eve,
        subject: 'Of Eve',
        inReplyTo: 'b@b.example',
        references,
      });
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo', 'Of Eve']]);
    });

    it('does not merge for the people that a stranger names', async () => {
      await arrive(test.app, { from: eve, cc: `${ada}, ${bo}`, subject: 'Of Eve', ...both });
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo', 'Of Eve']]);
    });

    it('does not merge for somebody of the organization', async () => {
      const inside = 'colleague@sandbox.test';
      for (const id of ['a@a.example', 'b@b.example']) {
        await arrive(test.app, { from: inside, subject: 'Seen', inReplyTo: id });
      }
      await arrive(test.app, { from: inside, subject: 'Both', ...both });
      expect(await trees()).toEqual([
        ['Of Ada', 'Seen'],
        ['Of Bo', 'Seen', 'Both'],
      ]);
    });

    it('merges for an outsider who takes part in both', async () => {
      await arrive(test.app, { from: ada, subject: 'Ada to Bo', inReplyTo: 'b@b.example' });
      await arrive(test.app, { from: eve, subject: 'Both', ...both });
      expect(await trees()).toEqual([['Of Ada', 'Of Bo', 'Ada to Bo', 'Both']]);
    });

    it('merges with a thread that waits for this very mail', async () => {
      await arrive(test.app, { from: 'cy@c.example', subject: 'Early', inReplyTo: 'm@e.example' });
      const inReplyTo = 'b@b.example';
      await arrive(test.app, { from: eve, subject: 'Middle', id: 'm@e.example', inReplyTo });
      expect(await trees()).toEqual([['Of Ada'], ['Of Bo', 'Early', 'Middle']]);
    });

    it('merges for a recipient outside who takes part in both', async () => {
      for (const [from, id] of [
        [ada, 'a@a.example'],
        [bo, 'b@b.example'],
      ] as const) {
        await arrive(test.app, { from, cc: 'Cy <cy@c.example>', subject: 'Copied', inReplyTo: id });
      }
      await arrive(test.app, { from: eve, subject: 'Both', ...both });
      expect(await trees()).toHaveLength(1);
    });
  });

  it('that a relay gave our message joins the answer, whatever its domain', async () => {
    const left = '0102018c7a1b2c3d-01234567-89ab-cdef-0123-456789abcdef-000000';
    const own = await arrive(test.app, { subject: 'One', id: 'one@a.example' });
    const ours = 'msg_06dq2k0qz8h3v5m1r9t4w7xy';
    await arrive(test.app, { subject: 'Two', id: `${ours}@a.example`, inReplyTo: 'one@a.example' });
    const insertion = sql`insert into further_message_ids (left_half, message_id)
      values (${left}, ${own})`;
    await test.app.store.write((trx) => insertion.execute(trx));
    await arrive(test.app, { subject: 'Three', id: `${own}@a.example` });
    const inReplyTo = `${left}@eu-west-1.amazonses.example`;
    await arrive(test.app, { from: 'bo@b.example', subject: 'Four', inReplyTo });
    expect(await trees()).toEqual([
      ['One', 'Two'],
      ['Three', 'Four'],
    ]);
  });
});
