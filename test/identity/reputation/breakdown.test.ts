// The breakdown of the channel stats by campaign, template, sender and recipient domain: counters
// of the change alone, names of now, and the sums of the whole.
// Slow: templates are compiled, and mail is delivered.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BreakdownStats, ChannelStats } from '../../../src/identity/reputation/schema.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { tokensOf } from '../../../src/outbound/tracking/tokens.ts';
import {
  makeCampaign,
  makeContacts,
  makeRun,
  whileWalking,
} from '../../campaigns/walk/fixtures.ts';
import { payload, send } from '../../outbound/messages/fixtures.ts';
import { ask, page, tracked } from '../../outbound/tracking/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, startPipeline } from '../../support/delivery.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

describe.each(stores)('a breakdown on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  let pipeline: RunningPipeline;
  beforeEach(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    pipeline = await startPipeline(test.app);
  });
  afterEach(async () => {
    await pipeline.close();
    await api.close();
    await test.close();
  });

  const by = async (kind: string, more = '') => {
    const url = `/v1/analytics/breakdown?by=${kind}${more}` as const;
    const { status, body } = await api.get<BreakdownStats>(url);
    expect([status, body.by]).toEqual([200, kind]);
    return body.items;
  };
  const names = async (kind: string) =>
    (await by(kind)).map(({ name, sent, deliveryRate }) => [name, sent, deliveryRate]);

  async function template(slug: string): Promise<string> {
    const body = { name: `About ${slug}`, slug, subject: 'Hi', html: '<p>Hi</p>' };
    const { id } = (await api.post<{ id: string }>('/v1/templates', body)).body;
    await api.post(`/v1/templates/${id}/publish`, {});
    return id;
  }

  it('has a row for each template, with its name until it is deleted', async () => {
    const one = await template('one');
    const other = await template('other');
    const ofTemplate = (templateId: string) =>
      send(api, { channel: 'email', to: [{ email: 'ada@example.com' }], email: { templateId } });
    await ofTemplate(one);
    await ofTemplate(other);
    await ofTemplate(other);
    await send(api);
    await pipeline.idle();
    expect(await names('template')).toEqual([
      ['About other', 2, 1],
      ['About one', 1, 1],
    ]);
    await api.delete(`/v1/templates/${one}`);
    const [, gone] = await by('template');
    expect(gone).toMatchObject({ key: one, name: null, sent: 1 });
  });

  it('has a row for each campaign and one for mail of no campaign nowhere', async () => {
    const { app, operator } = test;
    await makeContacts(app, operator, 3);
    const id = await makeCampaign(app, operator);
    await send(api);
    await whileWalking(app, async (loop) => {
      await makeRun(app, operator, id);
      await makeRun(app, operator, await makeCampaign(app, operator, { name: 'Again' }));
      await loop.idle();
    });
    await pipeline.idle();
    expect((await by('campaign')).map(({ key, name, sent }) => [key === id, name, sent])).toEqual(
      expect.arrayContaining([
        [true, 'News', 3],
        [false, 'Again', 3],
      ]),
    );
  });

  it('has a row for each sender, and gathers addresses that are no sender', async () => {
    const { app, operator } = test;
    await createSender(app, operator, { email: 'news@sandbox.test' });
    for (const email of ['News@sandbox.test', 'news@sandbox.test', 'free@sandbox.test']) {
      await send(api, payload({}, { from: { email } }));
    }
    await pipeline.idle();
    expect(await names('sender')).toEqual([
      ['news@sandbox.test', 2, 1],
      [null, 1, 1],
    ]);
    expect((await by('sender'))[1]?.key).toBe('*');
  });

  it('counts a message to several domains for the first, with its opens', async () => {
    const to = ['ada@one.example', 'bo@two.example'].map((email) => ({ email }));
    const { deliveries } = await send(api, payload({ html: page, tracking: tracked }, { to }));
    await send(api, payload({}, { to: [{ email: 'cy@two.example' }] }));
    await pipeline.idle();
    await test.clock.advance(3_000);
    // The recipient of the second domain opens it.
    const token = tokensOf(test.app, deliveries[1]?.id ?? '');
    await ask(test.app, `/t/o/${token(0)}`);
    const rows = await by('domain');
    expect(
      rows.map(({ key, sent, uniqueOpenedMessages }) => [key, sent, uniqueOpenedMessages]),
    ).toEqual([
      ['two.example', 1, 0],
      ['one.example', 1, 1],
    ]);
    const { body } = await api.get<ChannelStats>('/v1/analytics/channel-stats');
    for (const field of [
      'sent',
      'uniqueOpenedMessages',
      'openTrackingEligibleDeliveredMessages',
    ] as const) {
      expect(rows.reduce((sum, row) => sum + row[field], 0)).toBe(body.email[field]);
    }
  });

  it('covers the days of the range alone', async () => {
    await send(api);
    await test.clock.advance(24 * 3_600_000);
    expect(await by('domain', '&startDate=2026-01-06')).toEqual([]);
    expect(await by('domain', '&startDate=2026-01-05&endDate=2026-01-05')).toHaveLength(1);
  });

  it('is written as CSV', async () => {
    await send(api);
    const { body, headers, status } = await api.bytes(
      '/v1/analytics/breakdown?by=domain&format=csv',
    );
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    const [line, row, end] = body.toString().split('\n');
    expect(line).toMatch(/^key,name,sent,deliveryRate,uniqueOpenedMessages,/);
    expect([row, end]).toEqual(['example.com,example.com,1,0,0,0,0,0,0,0,0', '']);
  });

  it.each([
    ['by=', 'by'],
    ['by=mailbox', 'by'],
    ['by=domain&format=pdf', 'format'],
    ['by=domain&startDate=2026-02-01&endDate=2026-01-01', 'endDate'],
  ])('answers 422 to %s', async (query, field) => {
    const { status, body } = await api.get<{ fields: object }>(`/v1/analytics/breakdown?${query}`);
    expect([status, Object.keys(body.fields)]).toEqual([422, [field]]);
  });
});
