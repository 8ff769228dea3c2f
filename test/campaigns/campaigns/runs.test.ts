// Runs as persons make and move them, over HTTP and by command: the idempotency key, the time, each
// move and each refused one, the retry and the ledger. No walk runs here.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../../src/campaigns/setup/schema.ts';
import { countRun } from '../../../src/run-ledger/counters.ts';
import { type RunStatus, runStatuses } from '../../../src/run-ledger/schema.ts';
import { cliWorkspace } from '../../support/cli.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { storedRun } from './fixtures.ts';

type Refusal = {
  _tag?: string;
  resource?: string;
  id?: string;
  message?: string;
  fields?: Record<string, string[]>;
};
type Runs = { items: Run[]; nextCursor: string | null };

const noon = '2026-01-05T12:00:00.000Z';
const unknown = '0123456789abcdefghjk';
const verbs = ['pause', 'resume', 'cancel', 'retry'] as const;
type Verb = (typeof verbs)[number];

/**
 * Status after each verb of a person; a missing one answers 409. Retries make a run that is
 * scheduled.
 */
const moves: Readonly<Record<RunStatus, Partial<Record<Verb, RunStatus>>>> = {
  scheduled: { cancel: 'cancelled' },
  running: { pause: 'paused', cancel: 'cancelled' },
  paused: { resume: 'running', cancel: 'cancelled' },
  held: { resume: 'running', cancel: 'cancelled' },
  completed: { retry: 'scheduled' },
  failed: { retry: 'scheduled' },
  cancelled: { retry: 'scheduled' },
};
const table = runStatuses.flatMap((from) =>
  verbs.map((verb) => ({ from, verb, to: moves[from][verb] })),
);

describe.each(stores)('runs of a campaign on %s', (store) => {
  const { test, api } = eachApi({ store });
  let path: string;
  let campaignId: string;
  beforeEach(async () => {
    const { body } = await api.post<Campaign>('/v1/campaigns', {
      name: 'News',
      email: { subject: 'News', text: 'News' },
      audience: { includeTags: ['reader'] },
      transactional: true,
    });
    campaignId = body.id;
    path = `/v1/campaigns/${campaignId}/runs`;
  });

  const run = (body?: object) => api.post<Run & Refusal>(path, body);
  const stored = (status: RunStatus, columns = {}) =>
    storedRun(test.app, test.operator, status, { campaign_id: campaignId, ...columns });
  const change = (body: object) =>
    api.request<Campaign>('PATCH', `/v1/campaigns/${campaignId}`, { body });

  it('have every field of specification 2.13, due now and frozen', async () => {
    const { status, body } = await run();
    expect(status).toBe(201);
    const email = { subject: 'News', html: null, text: 'News', attachments: [], replyTo: [] };
    expect(body).toEqual({
      id: expect.stringMatching(/^run_[0-9a-hjkmnp-tv-z]{24}$/),
      organizationId: test.caller.organizationId,
      campaignId,
      status: 'scheduled',
      ...{ scheduledFor: null, idempotencyKey: null, startedAt: null, completedAt: null },
      contentSnapshot: expect.objectContaining({ email: expect.objectContaining(email) }),
      audienceSnapshot: {
        ...{ includeTags: ['reader'], excludeTags: [], contactIds: [], groupIds: [] },
      },
      policySnapshot: { unsubscribeGroupId: null, pageSize: 500 },
      ...{ totalRecipients: 0, dispatchedCount: 0, failedCount: 0, skippedCount: 0 },
      ...{ failureReason: null, holdReason: null, holdDomainId: null, holdDetail: null },
      ...{ lastContactId: null, waitReason: null, nextDispatchAt: null },
      stats: {
        ...{ sent: 0, delivered: 0, bounced: 0, complained: 0 },
        ...{ opened: 0, clicked: 0, unsubscribed: 0, failed: 0 },
      },
      ...{ retryOf: null, onlyNew: false, isTest: false },
      ...{ createdBy: test.caller.keyId, actorEmail: null, memberRole: 'owner' },
      ...{ createdAt: noon, updatedAt: noon },
    });
    const { rows } = await sql`select due_at from campaign_runs`.execute(test.app.store.db);
    expect(rows).toEqual([{ due_at: test.app.clock.now() }]);
    expect((await api.get(`${path}/${body.id}`)).body).toEqual(body);
  });

  it('are due at their time, in any offset', async () => {
    const { body } = await run({ scheduledFor: '2026-01-06T09:00:00+02:00', onlyNew: true });
    expect(body).toMatchObject({ scheduledFor: '2026-01-06T07:00:00.000Z', onlyNew: true });
    const { rows } = await sql`select due_at from campaign_runs`.execute(test.app.store.db);
    expect(rows).toEqual([{ due_at: Date.UTC(2026, 0, 6, 7) }]);
  });

  it.each([
    'tomorrow',
    '12',
    '2031-02-30T99:00:00Z',
    '2026-02-30T09:00:00Z',
    '2026-01-06T09:00:00',
    '2026-01-05T11:59:59Z',
    '2027-01-05T12:00:01Z',
  ])('are refused with 422 at the time %s', async (scheduledFor) => {
    const { status, body } = await run({ scheduledFor });
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, ['scheduledFor']]);
  });

  it('are refused with 404 for an unknown campaign or run', async () => {
    const other = `/v1/campaigns/camp_${unknown}/runs`;
    expect((await api.post<Refusal>(other, {})).body.id).toBe(`camp_${unknown}`);
    expect((await api.get<Refusal>(other)).status).toBe(404);
    expect((await api.get<Refusal>(`${path}/run_${unknown}`)).body.id).toBe(`run_${unknown}`);
    const { id } = await storedRun(test.app, test.operator, 'running');
    expect((await api.post<Refusal>(`${path}/${id}/pause`, {})).body.id).toBe(id);
  });

  it('are refused with 403 for a sender that may not send', async () => {
    await change({ from: { email: 'a@other.example' } });
    const { status, body } = await run();
    expect([status, body.message]).toEqual([403, expect.stringContaining('other.example')]);
  });

  it('are refused with 403 for a key that may not send from the address', async () => {
    const { key } = await createKey(test.app, test.operator, {
      role: 'developer',
      constraints: { domains: ['other.example'] },
    });
    expect((await api.as(key ?? '').post(path, {})).status).toBe(403);
  });

  it('are refused with 403 while the organization is paused', async () => {
    await pauseOrganization(test.app, test.caller.organizationId, {});
    expect((await run()).status).toBe(403);
  });

  it('are refused with 422 for tags without an unsubscribe group', async () => {
    await change({ transactional: false });
    const { status, body } = await run();
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, ['email.unsubscribeGroupId']]);
  });

  it('may run beside another run of the campaign', async () => {
    await stored('running');
    expect((await run()).status).toBe(201);
  });

  describe('with an idempotency key', () => {
    it('are made once by 50 concurrent requests', async () => {
      const asked = { idempotencyKey: 'once' };
      const answers = await Promise.all(Array.from({ length: 50 }, () => run(asked)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect((await api.get<Runs>(path)).body.items).toHaveLength(1);
    });

    it('are replayed after their time and after the campaign changed', async () => {
      const asked = { idempotencyKey: 'once', scheduledFor: '2026-01-05T12:30:00Z' };
      const { body: first } = await run(asked);
      await test.clock.advance(3_600_000);
      await change({ from: { email: 'a@other.example' } });
      const again = { ...asked, scheduledFor: '2026-01-05T14:30:00+02:00' };
      const { status, body } = await run(again);
      expect([status, body.id]).toEqual([201, first.id]);
    });

    it.each([
      ['another time', { scheduledFor: '2026-01-06T12:00:00Z' }],
      ['another choice of contacts', { onlyNew: true }],
    ])('are refused with 409 for %s', async (_what, more) => {
      const { body: first } = await run({ idempotencyKey: 'once' });
      const { status, body } = await run({ idempotencyKey: 'once', ...more });
      expect([status, body.message]).toEqual([409, expect.stringContaining(first.id)]);
    });

    it('are refused with 409 for another campaign of the organization', async () => {
      await run({ idempotencyKey: 'once' });
      const { body: copy } = await api.post<Campaign>(`/v1/campaigns/${campaignId}/duplicate`, {});
      const other = `/v1/campaigns/${copy.id}/runs`;
      expect((await api.post(other, { idempotencyKey: 'once' })).status).toBe(409);
    });
  });

  it('make each move of a person, and refuse all others with 409', async () => {
    for (const { from, verb, to } of table) {
      const { id } = await stored(from, { failed_count: 1 });
      const body = verb === 'retry' ? {} : { note: 'As agreed' };
      const answer = await api.post<Run & Refusal>(`${path}/${id}/${verb}`, body);
      const name = `${from} ${verb}`;
      if (to === undefined) {
        expect([name, answer.status]).toEqual([name, 409]);
        expect(answer.body.message, name).toContain(`is ${from} and cannot be`);
        const { body: shown } = await api.get<Run>(`${path}/${id}`);
        expect([name, shown.status]).toEqual([name, from]);
      } else {
        expect([name, answer.body.status]).toEqual([name, to]);
        expect([name, answer.status]).toEqual([name, verb === 'retry' ? 201 : 200]);
      }
    }
  });

  it('make each move of a person by command, and end refused ones with exit code 5', async () => {
    const { dataDir, database } = test.app.config;
    const cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
    try {
      for (const { from, verb, to } of table) {
        const { id } = await stored(from, { failed_count: 1 });
        const note = verb === 'retry' ? [] : ['--note', 'As agreed'];
        const { code, stdout } = await cli.run(['campaigns', verb, id, ...note, '--json']);
        const name = `${from} ${verb}`;
        expect([name, code]).toEqual([name, to === undefined ? 5 : 0]);
        if (to !== undefined) expect([name, JSON.parse(stdout).status]).toEqual([name, to]);
      }
    } finally {
      cli.close();
    }
  });

  it('need a note to continue after a hold', async () => {
    const { id } = await stored('held');
    const { status, body } = await api.post<Refusal>(`${path}/${id}/resume`, {});
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, ['note']]);
  });

  it('are scheduled again by a resume before their start', async () => {
    const { id } = await stored('paused', { started_at: null, hold_reason: 'restored' });
    const { body } = await api.post<Run>(`${path}/${id}/resume`, {});
    expect(body).toMatchObject({ status: 'scheduled', holdReason: null });
  });

  it('have no next step once nothing is left to cancel', async () => {
    const { id } = await stored('running', { worker: null });
    await api.post(`${path}/${id}/cancel`, {});
    const { rows } = await sql`select due_at from campaign_runs`.execute(test.app.store.db);
    expect(rows).toEqual([{ due_at: null }]);
  });

  it('are not retried if nobody failed', async () => {
    const { id } = await stored('completed');
    const { status, body } = await api.post<Refusal>(`${path}/${id}/retry`, {});
    expect([status, body.message]).toEqual([409, expect.stringContaining('nobody')]);
  });

  it('are retried once for a key, also if only messages failed', async () => {
    const { id } = await stored('completed');
    await test.app.store.write(async (trx) => countRun(trx, id, { failed: 1 }));
    const retry = () => api.post<Run>(`${path}/${id}/retry`, { idempotencyKey: 'again' });
    const [first, second] = [await retry(), await retry()];
    expect(first.body).toMatchObject({ status: 'scheduled', retryOf: id });
    expect(second.body).toEqual(first.body);
  });

  it('are listed by pages, newest first, without content and audience', async () => {
    const made = [await run(), await run(), await run()].map(({ body }) => body.id);
    const { body: first } = await api.get<Runs>(`${path}?limit=2`);
    expect(first.items.map(({ id }) => id)).toEqual(made.toReversed().slice(0, 2));
    expect(first.items[0]).not.toHaveProperty('contentSnapshot');
    const { body: rest } = await api.get<Runs>(`${path}?limit=2&cursor=${first.nextCursor}`);
    expect(rest).toMatchObject({ items: [{ id: made[0] }], nextCursor: null });
  });

  describe('with a ledger', () => {
    let recipients: string;
    beforeEach(async () => {
      const { id } = await stored('completed');
      recipients = `${path}/${id}/recipients`;
      const { body: sent } = await api.post<{ id: string }>('/v1/messages', {
        channel: 'email',
        to: [{ email: 'delivered@simulator.test' }],
        email: { subject: 'News', text: 'News' },
      });
      await test.app.store.write((trx) =>
        sql`insert into campaign_recipients
            (run_id, contact_id, outcome, reason, message_id, created_at, opened_at) values
          (${id}, 'contact_1', 'dispatched', null, ${sent.id}, 0, 1000),
          (${id}, 'contact_2', 'skipped', 'blocked', null, 0, null),
          (${id}, 'contact_3', 'failed', 'contact.firstName: is missing', null, 0, null),
          (${id}, 'contact_4', 'dispatched', null, 'msg_gone', 0, null)`.execute(trx),
      );
    });
    const list = async (query: string) => {
      const { body } = await api.get<{ items: { contactId: string }[]; nextCursor: string }>(
        `${recipients}${query}`,
      );
      return { ...body, ids: body.items.map(({ contactId }) => contactId.slice(-1)).join('') };
    };

    it('show each contact with the status of its message', async () => {
      const { items } = await list('');
      expect(items).toMatchObject([
        { outcome: 'dispatched', status: 'pending', openedAt: '1970-01-01T00:00:01.000Z' },
        { outcome: 'skipped', reason: 'blocked', messageId: null, status: null },
        { outcome: 'failed', reason: 'contact.firstName: is missing' },
        { outcome: 'dispatched', messageId: 'msg_gone', status: null },
      ]);
    });

    it.each([
      ['?outcome=dispatched', '14'],
      ['?outcome=failed', '3'],
      ['?reason=blocked', '2'],
      ['?status=pending', '1'],
      ['?status=failed', ''],
      ['?outcome=skipped&reason=excluded', ''],
    ])('find by the filter %s', async (query, ids) => {
      expect((await list(query)).ids).toBe(ids);
    });

    it('are read by pages', async () => {
      const first = await list('?limit=3');
      expect(first.ids).toBe('123');
      expect((await list(`?limit=3&cursor=${first.nextCursor}`)).ids).toBe('4');
      const foreign = await api.get(`${recipients}?status=sent&cursor=${first.nextCursor}`);
      expect(foreign.status).toBe(422);
    });
  });
});
