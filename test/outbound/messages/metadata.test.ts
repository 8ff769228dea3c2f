// Finding messages by metadata: row by row within a bound, and by index for the keys that an
// organization declares, for messages of before and after the declaration.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import { createSearchFiller } from '../../../src/outbound/messages/lists/search.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { payload, send } from './fixtures.ts';

type Refusal = { fields: Record<string, string[]> };

describe.each(bothStores)('messages by metadata on %s', (store) => {
  const { test, api } = eachApi({ store });

  const make = (subject: string, metadata: object, top: object = {}) =>
    send(api, payload({ subject }, { metadata, ...top }));
  const found = async (query: string) => {
    const { status, body } = await api.get<Page<Message>>(`/v1/messages?${query}`);
    expect([query, status]).toEqual([query, 200]);
    expect(body.pagination.total).toBe(body.items.length);
    return body.items.map(({ subject }) => subject);
  };
  const fill = () =>
    createSearchFiller(test.app, { isPressing: () => false, isWorking: () => false }).fill();
  const declare = (...metadataKeys: string[]) =>
    updateOrganization(test.app, test.caller.organizationId, { metadataKeys });
  async function terms(): Promise<string[]> {
    const { rows } = await sql<{ value: string }>`select value from message_search
      where kind = 'metadata' order by value`.execute(test.app.store.db);
    return rows.map(({ value }) => value);
  }
  async function refusal(query: string): Promise<string[]> {
    const { status, body } = await api.get<Refusal>(`/v1/messages?${query}`);
    expect([query, status]).toEqual([query, 422]);
    return Object.entries(body.fields).map(([field, texts]) => `${field}: ${texts.join('; ')}`);
  }

  async function makeSome() {
    await make('one', { orderId: 'A=1', count: 7, isNew: true });
    await make('two', { orderId: 'a=1', count: 70, isNew: false }, { tags: ['t'] });
    await make('three', { orderId: 'A=1', other: 'orderId', none: null });
    await make('four', {});
  }
  /** Asks what an index must not change. */
  async function expectMatches(with_: string) {
    expect(await found(`metadata.orderId=A%3D1${with_}`)).toEqual(['three', 'one']);
    expect(await found(`metadata=orderId%3DA%3D1${with_}`)).toEqual(['three', 'one']);
    expect(await found(`metadata.orderId=A%3D1&metadata.count=7${with_}`)).toEqual(['one']);
    expect(await found(`metadata.orderId=a%3D1&metadata.isNew=false${with_}`)).toEqual(['two']);
    expect(await found(`metadata.orderId=A${with_}`)).toEqual([]);
    expect(await found(`metadata.orderId=a%3D1&tag=t${with_}`)).toEqual(['two']);
    expect(await found(`metadata.orderId=A%3D1&direction=inbound${with_}`)).toEqual([]);
  }

  it('are compared row by row beside a further filter', async () => {
    await makeSome();
    await fill();
    await expectMatches('&after=2000-01-01');
    expect(await found('metadata.isNew=true&direction=outbound')).toEqual(['one']);
    expect(await found('metadata.none=null&direction=outbound')).toEqual([]);
    expect(await terms()).toEqual([]);
  });

  it('need a further filter without an index, and name the way to one', async () => {
    const { organizationId } = test.caller;
    expect(await refusal('metadata.orderId=1')).toEqual([
      'metadata.orderId: needs a time range or a further filter, or declare the key: ' +
        `svc orgs update ${organizationId} --metadata-key orderId`,
    ]);
    expect(await refusal('metadata=orderId')).toEqual(['metadata: must be NAME=VALUE']);
    expect(await refusal('metadata.=1')).toEqual(['metadata.0: must be NAME=VALUE']);
  });

  it('are read up to a bound without an index', async () => {
    const { id } = await make('one', { orderId: '1' });
    const { db } = test.app.store;
    const { rows } = await sql<Record<string, unknown>>`select * from messages
      where id = ${id}`.execute(db);
    const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'id');
    const columns = sql.join(names.map((name) => sql.ref(name)));
    await test.app.store.write((trx) =>
      sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
        insert into messages (id, ${columns})
        select 'msg_copy' || n.i, ${columns} from messages, n where messages.id = ${id}`.execute(
        trx,
      ),
    );
    expect(await refusal('metadata.orderId=2&direction=outbound')).toEqual([
      expect.stringContaining('metadata.orderId: would read more than 10000 messages'),
    ]);
    expect(await found('metadata.orderId=2&direction=inbound')).toEqual([]);
  });

  it('are found by a declared key alone, those of before the declaration too', async () => {
    await makeSome();
    await fill();
    expect((await declare('orderId', 'count')).metadataKeys).toEqual(['orderId', 'count']);
    expect(await refusal('metadata.orderId=1')).toHaveLength(1);
    await fill();
    await expectMatches('');
    await make('five', { orderId: 'A=1' });
    await fill();
    expect(await found('metadata.orderId=A%3D1')).toEqual(['five', 'three', 'one']);
    expect(await terms()).toEqual(
      [
        ...['count=7', 'count=70', 'orderId=A=1', 'orderId=A=1', 'orderId=A=1', 'orderId=a=1'],
      ].sort(),
    );
  });

  it('of long values are compared whole', async () => {
    await declare('note');
    const long = 'x'.repeat(300);
    await make('one', { note: `${long}1` });
    await make('two', { note: `${long}2` });
    await fill();
    expect(await found(`metadata.note=${long}2`)).toEqual(['two']);
  });

  it('leave the index with the message, and with the key', async () => {
    await declare('orderId', 'count');
    await makeSome();
    await fill();
    const [two] = (await api.get<Page<Message>>('/v1/messages?metadata.count=70')).body.items;
    await api.delete(`/v1/messages/${two?.id}`);
    expect(await terms()).toEqual(['count=7', 'orderId=A=1', 'orderId=A=1']);
    await declare('count');
    await fill();
    expect(await terms()).toEqual(['count=7']);
    expect((await declare()).metadataKeys).toEqual([]);
    await fill();
    expect(await terms()).toEqual([]);
  });
});
