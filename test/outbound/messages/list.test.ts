// GET /v1/messages (specification 2.3, 4.1, 8.3): filters, pages, order, bounds.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { bothStores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { recountMessages } from './exact-counts.ts';
import { otherOrganization, payload, send } from './fixtures.ts';

const hourMs = 3_600_000;
const conversation = 'conv_0123456789abcdefghjk';
const contact = 'contact_0123456789abcdefghjk';

interface Made {
  hours: number;
  direction?: 'inbound';
  status?: string;
  conversation?: true;
  contact?: true;
}

/** Messages from 2026-01-05T12:00Z on, `hours` later: the subject is the position in this list. */
const made: Made[] = [
  { hours: 0 },
  { hours: 0, status: 'delivered' },
  { hours: 1, status: 'delivered', conversation: true },
  { hours: 11, status: 'bounced' },
  { hours: 12, direction: 'inbound', status: 'delivered' },
  { hours: 13, direction: 'inbound', status: 'delivered', conversation: true },
  { hours: 13, contact: true },
  { hours: 35, status: 'bounced', contact: true, conversation: true },
  { hours: 36, status: 'failed' },
];

describe.each(bothStores)('the list of messages on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  let empty: HttpApi;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    empty = api.as((await otherOrganization(test.app)).apiKey);
    let hours = 0;
    for (const [index, one] of made.entries()) {
      await test.clock.advance((one.hours - hours) * hourMs);
      hours = one.hours;
      const { id } = await send(api, payload({ subject: `${index}` }));
      await test.app.store.write(async (trx) => {
        await sql`update messages set direction = ${one.direction ?? 'outbound'},
          status = ${one.status ?? 'pending'},
          conversation_id = ${one.conversation ? conversation : null} where id = ${id}`.execute(
          trx,
        );
        await sql`update recipients set contact_id = ${one.contact ? contact : null}
          where message_id = ${id}`.execute(trx);
      });
    }
    await recountMessages(test.app);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const list = (query = '', face = api) => face.get<Page<Message>>(`/v1/messages${query}`);

  async function subjects(query: string): Promise<string> {
    const { status, body } = await list(query);
    expect(status).toBe(200);
    expect(body.pagination.total).toBe(body.items.length);
    return body.items.map(({ subject }) => subject).join('');
  }

  it('is newest first, with all fields of a message', async () => {
    const { status, headers, body } = await list();
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(body.items.map(({ subject }) => subject).join('')).toBe('876543210');
    expect(body.pagination).toEqual({ page: 1, limit: 20, total: 9, totalPages: 1 });
    for (const item of body.items) {
      expect((await api.get(`/v1/messages/${item.id}`)).body).toEqual(item);
    }
  });

  it.each([
    ['channel=email', '876543210'],
    ['direction=outbound', '8763210'],
    ['direction=inbound', '54'],
    ['status=pending', '60'],
    ['status=delivered', '5421'],
    ['status=bounced', '73'],
    ['status=failed', '8'],
    ['status=scheduled', ''],
    ['status=queued', ''],
    ['status=processing', ''],
    ['status=sent', ''],
    ['status=read', ''],
    ['status=complained', ''],
    [`conversationId=${conversation}`, '752'],
    ['conversationId=conv_0123456789abcdefghjm', ''],
    [`contactId=${contact}`, '76'],
    ['contactId=contact_0123456789abcdefghjm', ''],
    ['direction=inbound&status=delivered', '54'],
    ['direction=outbound&status=delivered', '21'],
    [`direction=inbound&conversationId=${conversation}`, '5'],
    [`contactId=${contact}&conversationId=${conversation}&status=bounced`, '7'],
    [`contactId=${contact}&status=delivered`, ''],
    ['status=delivered&startDate=2026-01-06', '54'],
    [
      `channel=email&direction=outbound&status=bounced&conversationId=${conversation}&contactId=${contact}&startDate=2026-01-06&endDate=2026-01-06&page=1&limit=1`,
      '7',
    ],
  ])('with %s has the matching messages', async (query, expected) => {
    expect(await subjects(`?${query}`)).toBe(expected);
  });

  it.each([
    ['startDate=2026-01-06', '87654', 'a bare date begins at its first instant, UTC'],
    ['endDate=2026-01-05', '3210', 'a bare date ends with its last instant, UTC'],
    ['startDate=2026-01-06&endDate=2026-01-06', '7654', 'a bare date is a whole day'],
    ['startDate=2026-01-05T13:00:00Z', '8765432', 'an instant is included at the start'],
    ['startDate=2026-01-05T13:00:00.001Z', '876543', 'to the millisecond'],
    ['endDate=2026-01-05T13:00:00Z', '210', 'an instant is included at the end'],
    ['endDate=2026-01-05T12:59:59.999Z', '10', 'to the millisecond'],
    ['startDate=2026-01-06T02:00:00%2B02:00', '87654', 'an offset counts'],
    ['endDate=2026-01-05T19:00:00-05:00', '43210', 'an offset counts'],
    ['startDate=2026-01-07&endDate=2026-01-05', '', 'a range may be empty'],
    ['startDate=2027-01-01', '', 'a range may lie in the future'],
  ])('with %s has %j: %s', async (query, expected) => {
    expect(await subjects(`?${query}`)).toBe(expected);
  });

  it('has each message on one page', async () => {
    const pages = [];
    for (const page of [1, 2, 3, 4]) {
      const { status, body } = await list(`?page=${page}&limit=4`);
      expect(status).toBe(200);
      expect(body.pagination).toEqual({ page, limit: 4, total: 9, totalPages: 3 });
      pages.push(body.items.map(({ subject }) => subject).join(''));
    }
    expect(pages).toEqual(['8765', '4321', '0', '']);
  });

  it('counts the filtered messages only', async () => {
    const { body } = await list('?status=delivered&limit=3');
    expect(body.items).toHaveLength(3);
    expect(body.pagination).toEqual({ page: 1, limit: 3, total: 4, totalPages: 2 });
  });

  it.each(['limit=1', 'limit=100', 'page=1000000'])('accepts %s', async (query) => {
    expect((await list(`?${query}`)).status).toBe(200);
  });

  const notWhole = 'must be a whole number';
  const notDate = 'must be an ISO 8601 date or time';
  it.each([
    ['limit=0', 'limit', 'must be at least 1'],
    ['limit=101', 'limit', 'must be at most 100'],
    ['limit=-1', 'limit', notWhole],
    ['limit=1.5', 'limit', notWhole],
    ['limit=ten', 'limit', notWhole],
    ['limit=', 'limit', notWhole],
    ['limit=1e1', 'limit', notWhole],
    ['limit=0x10', 'limit', notWhole],
    ['page=0', 'page', 'must be at least 1'],
    ['page=-1', 'page', notWhole],
    ['page=one', 'page', notWhole],
    ['page=1000001', 'page', 'must be at most 1000000'],
    ['page=99999999999999999999', 'page', notWhole],
    ['channel=sms', 'channel', 'must be "email"'],
    ['direction=both', 'direction', 'must be "outbound" or "inbound"'],
    ['conversationId=conv_1', 'conversationId', 'is not a conversation id'],
    ['contactId=x', 'contactId', 'is not a contact id'],
    ['startDate=yesterday', 'startDate', notDate],
    ['startDate=', 'startDate', notDate],
    ['startDate=2026-13-01', 'startDate', notDate],
    ['startDate=2026-02-30', 'startDate', notDate],
    ['startDate=2026-01-05T12:00:00', 'startDate', notDate],
    ['startDate=2026-01-05T13Z', 'startDate', notDate],
    ['startDate=2026-01-05T25:00:00Z', 'startDate', notDate],
    ['endDate=1767614400000', 'endDate', notDate],
    ['endDate=2026-01-05T12:00:00Z;', 'endDate', notDate],
    ['sort=asc', 'sort', 'unknown field'],
    ['Limit=5', 'Limit', 'unknown field; did you mean limit?'],
  ])('refuses %s', async (query, field, problem) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body]).toEqual([
      422,
      {
        _tag: 'ValidationError',
        message: `Invalid query: ${field}: ${problem}`,
        fields: { [field]: [problem] },
      },
    ]);
  });

  it('refuses an unknown status and names the known ones', async () => {
    const { status, body } = await list('?status=lost');
    expect([status, body]).toEqual([
      422,
      {
        _tag: 'ValidationError',
        message: expect.stringContaining('"pending", "scheduled", "queued", "processing", "sent"'),
        fields: { status: [expect.stringContaining('"complained"')] },
      },
    ]);
  });

  it('refuses a repeated parameter', async () => {
    const { status, body } = await list('?status=sent&status=read');
    expect([status, body]).toMatchObject([422, { fields: { status: [expect.any(String)] } }]);
  });

  it('never has messages of another organization', async () => {
    for (const query of ['', `?conversationId=${conversation}`, `?contactId=${contact}`]) {
      expect((await list(query, empty)).body).toEqual({
        items: [],
        pagination: { page: 1, limit: 20, total: 0, totalPages: 0 },
      });
    }
  });
});
