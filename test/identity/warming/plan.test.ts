// The warming of a domain over HTTP (specification 2.11, 4.7): every field, the actors of
// decisions, refusals, and other holds on the mail of the domain.
import { beforeEach, describe, expect, it } from 'vitest';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import type { AuditPage } from '../../../src/history/audit/schema.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import type { DecideWarming, Warming } from '../../../src/identity/warming/schema.ts';
import { moveWindows } from '../../../src/identity/warming/windows.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { endpoint } from '../../webhooks/fixtures.ts';
import {
  dayMs,
  decided,
  hourMs,
  inShort,
  outcomes,
  provenDomain,
  ramp,
  warm,
  warmingEvents,
} from './fixtures.ts';

type Refusal = {
  _tag?: string;
  resource?: string;
  message?: string;
  fields?: Record<string, string[]>;
};
type Verb = 'pause' | 'resume' | 'cancel';

const noon = '2026-01-05T12:00:00.000Z';
const next = '2026-01-06T12:00:00.000Z';
const id = (prefix: string) => expect.stringMatching(`^${prefix}_[0-9a-hjkmnp-tv-z]{24}$`);

describe.each(stores)('the warming of a domain on %s', (store) => {
  const { test, api } = eachApi({ store });
  let domainId: string;
  beforeEach(async () => {
    domainId = await provenDomain(test.app, test.operator);
  });

  const path = (of = domainId) => `/v1/email/domains/${of}/warming`;
  const begin = (of = domainId, body: object = ramp) => api.post<Warming & Refusal>(path(of), body);
  const verb = (name: Verb, body?: DecideWarming) =>
    api.request<Warming & Refusal>('POST', `${path()}/${name}`, body === undefined ? {} : { body });
  const show = async () => (await api.get<Warming>(path())).body;
  /** Makes a plan that 5 % bounces hold. */
  async function hold(): Promise<void> {
    await begin();
    await outcomes(test.app, test.operator, { attempted: 100, hard_bounced: 5 });
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
  }

  it('has every field of specification 2.11, with its first window open at once', async () => {
    const { status, body } = await begin();
    expect(status).toBe(201);
    const nothing = { sent: 0, bounced: 0, complained: 0 };
    expect(body).toEqual({
      domain: { id: domainId, domain: warm },
      plan: {
        id: id('warm'),
        status: 'active',
        ...ramp,
        direct: 'count',
        holdReason: null,
        heldAt: null,
        pausedAt: null,
        completedAt: null,
        createdAt: noon,
        updatedAt: noon,
      },
      batches: [
        [1, 'open', noon, next, 100],
        [2, 'scheduled', next, '2026-01-07T12:00:00.000Z', 200],
      ].map(([sequence, state, startsAt, endsAt, allowanceRecipients]) => ({
        id: id('wbat'),
        sequence,
        state,
        startsAt,
        endsAt,
        allowanceRecipients,
        dailyGrowthPercent: 100,
        targetDailyRecipients: 500,
        reservedRecipients: 0,
        acceptedRecipients: 0,
        cancelledAt: null,
        createdAt: noon,
      })),
      decisions: [
        { kind: 'plan-created', batchId: null, note: null },
        { kind: 'window-opened', batchId: body.batches[0]?.id, note: 'allowance 100' },
      ].map((one) => ({ id: id('wdec'), actor: test.caller.keyId, createdAt: noon, ...one })),
      evidence: {
        observedAt: noon,
        windowHours: 24,
        minimumSends: 100,
        ...nothing,
        hourly: Array(25).fill(nothing),
        bounceThreshold: 0.03,
        complaintThreshold: 0.001,
        verdict: 'insufficient-evidence',
        thresholdReason: null,
      },
      holds: { workspacePausedAt: null, workspacePauseReason: null, sendingStatus: 'enabled' },
    });
    expect(await show()).toEqual(body);
  });

  it("shows the outcomes of the domain's mail by the hour, the present one last", async () => {
    await begin();
    await outcomes(test.app, test.operator, { attempted: 60 });
    await test.clock.advance(2 * hourMs);
    await outcomes(test.app, test.operator, { attempted: 40, hard_bounced: 4, complained: 1 });
    await outcomes(test.app, test.operator, { attempted: 500, hard_bounced: 3 }, 'other.example');
    const { evidence } = await show();
    expect(evidence).toMatchObject({ sent: 100, bounced: 4, complained: 1, verdict: 'healthy' });
    expect(evidence.hourly.slice(-3)).toEqual([
      { sent: 60, bounced: 0, complained: 0 },
      { sent: 0, bounced: 0, complained: 0 },
      { sent: 40, bounced: 4, complained: 1 },
    ]);
    await outcomes(test.app, test.operator, { hard_bounced: 1 });
    expect((await show()).evidence).toMatchObject({
      verdict: 'unhealthy',
      thresholdReason: '5% of the last 100 messages bounced (limit 3%).',
    });
  });

  it('answers 409 for an unverified domain and beside an unfinished plan', async () => {
    const pending = await addDomain(test.app, test.operator, {
      domain: 'pending.example',
      dkim: 'ed25519',
    });
    const refused = await begin(pending.id);
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        _tag: 'ConflictError',
        resource: 'domain',
        message: 'pending.example is pending, not verified: see svc domains verify',
      },
    ]);
    await begin();
    const beside = async () => {
      const { status, body } = await begin();
      return [status, body.resource, body.message];
    };
    const text = `${warm} has a plan that has not ended: cancel it first`;
    expect(await beside()).toEqual([409, 'warming', text]);
    await verb('pause');
    expect(await beside()).toEqual([409, 'warming', text]);
    expect((await api.get<AuditPage>('/v1/audit?action=warming.started')).body.items).toHaveLength(
      1,
    );
  });

  it('is started once by concurrent requests', async () => {
    const answers = await Promise.all([begin(), begin(), begin()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    expect(decided(await show())).toHaveLength(2);
  });

  it('answers 404 without a plan or for an unknown domain', async () => {
    for (const [of, resource] of [
      [domainId, 'warming'],
      [test.app.newId('domain'), 'domain'],
    ] as const) {
      const { status, body } = await api.get<Refusal>(path(of));
      expect([status, body]).toEqual([404, { _tag: 'ResourceNotFoundError', resource, id: of }]);
      for (const name of ['pause', 'resume', 'cancel']) {
        expect((await api.post(`${path(of)}/${name}`, {})).status).toBe(404);
      }
    }
    expect((await api.get(path('dom_no'))).status).toBe(422);
  });

  /** Expected statuses by the state of the plan. */
  const table = {
    active: { pause: 200, resume: 409, cancel: 200 },
    paused: { pause: 409, resume: 200, cancel: 200 },
    held: { pause: 409, resume: 200, cancel: 200 },
    completed: { pause: 409, resume: 409, cancel: 409 },
    cancelled: { pause: 409, resume: 409, cancel: 409 },
  } as const;
  const make = {
    active: begin,
    paused: () => begin().then(() => verb('pause')),
    held: hold,
    async completed() {
      await begin(domainId, { ...ramp, initialDailyRecipients: 500 });
      await test.clock.advance(dayMs);
      await moveWindows(test.app);
    },
    cancelled: () => begin().then(() => verb('cancel')),
  };
  const cases = Object.entries(table).flatMap(([state, verbs]) =>
    Object.entries(verbs).map(([name, status]) => [state, name, status] as const),
  );
  it.each(cases)('when %s, answers %s with %i', async (state, name, status) => {
    await make[state as keyof typeof make]();
    const before = await show();
    expect(before.plan.status).toBe(state);
    const answer = await verb(name as Verb, { note: 'looked at' });
    expect(answer.status).toBe(status);
    if (status === 200) {
      const after = { pause: 'paused', resume: 'active', cancel: 'cancelled' }[name as Verb];
      expect(answer.body.plan.status).toBe(after);
      expect(await show()).toEqual(answer.body);
      return;
    }
    expect(answer.body).toMatchObject({ _tag: 'ConflictError', resource: 'warming' });
    expect(answer.body.message).toContain(`The plan of ${warm} is ${state}: only one that is `);
    expect(await show()).toEqual(before);
  });

  it('can be started again when it is over, and the unfinished plan is shown', async () => {
    await begin();
    await verb('cancel');
    const again = await begin();
    expect(again.status).toBe(201);
    expect((await show()).plan.id).toBe(again.body.plan.id);
    expect(inShort(await show())[0]).toBe('1 open 100 0');
  });

  it('is resumed with a note after a hold, and all fields of the hold are cleared', async () => {
    await hold();
    const held = await show();
    expect(held.plan).toMatchObject({
      status: 'held',
      heldAt: next,
      holdReason: '5% of the last 100 messages bounced (limit 3%).',
    });
    const refused = await verb('resume');
    const text = 'is required if the plan is held: give the findings of the review';
    expect([refused.status, refused.body.fields]).toEqual([422, { note: [text] }]);
    expect(await show()).toEqual(held);
    const { plan } = (await verb('resume', { note: 'A list was bought' })).body;
    expect(plan).toMatchObject({ status: 'active', heldAt: null, holdReason: null });
  });

  it.each(['', 'a\nb', 'x'.repeat(501), 5])('refuses the note %j', async (note) => {
    await begin();
    const { status, body } = await verb('pause', { note } as DecideWarming);
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, ['note']]);
  });

  it('records actors and notes in its decisions and in the audit', async () => {
    await begin();
    await verb('pause', { note: 'Holidays' });
    await verb('resume');
    await outcomes(test.app, test.operator, { attempted: 1_000, hard_bounced: 30 });
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
    await verb('resume', { note: 'Cleaned' });
    await verb('cancel', { note: 'Enough' });
    const { decisions, plan } = await show();
    const key = test.caller.keyId;
    const unsafe = '3% of the last 1,000 messages bounced (limit 3%).';
    expect(decisions.map(({ kind, actor, note }) => [kind, actor, note])).toEqual([
      ['plan-created', key, null],
      ['window-opened', key, 'allowance 100'],
      ['paused', key, 'Holidays'],
      ['resumed', key, null],
      ['window-closed', 'system', 'unhealthy: 1,000 sent, 30 bounced, 0 complained'],
      ['held', 'system', unsafe],
      ['resumed', key, 'Cleaned'],
      ['window-opened', key, 'allowance 100'],
      ['cancelled', key, 'Enough'],
    ]);
    const { items } = (await api.get<AuditPage>(`/v1/audit?resource=${plan.id}`)).body;
    expect(items.map(({ action, actor, details }) => [action, actor.type, details])).toEqual([
      ['warming.cancelled', 'key', { domain: warm, note: 'Enough' }],
      ['warming.resumed', 'key', { domain: warm, note: 'Cleaned' }],
      ['warming.held', 'service', { domain: warm, reason: unsafe }],
      ['warming.resumed', 'key', { domain: warm }],
      ['warming.paused', 'key', { domain: warm, note: 'Holidays' }],
      ['warming.started', 'key', { domain: warm, direct: 'count', ...ramp }],
    ]);
  });

  it('publishes a hold and its end, to webhooks too', async () => {
    const { id: hookId } = await endpoint(test, { events: ['warming.*'] });
    await hold();
    await verb('resume', { note: 'Cleaned' });
    for (let i = 0; i < 4; i++) {
      await test.clock.advance(dayMs);
      await moveWindows(test.app);
    }
    const { plan, domain } = await show();
    expect(plan).toMatchObject({ status: 'completed', completedAt: '2026-01-10T12:00:00.000Z' });
    const [held, completed] = await warmingEvents(test.app);
    expect(held).toMatchObject({
      type: 'warming.held',
      subject: plan.id,
      data: { id: plan.id, status: 'held', heldAt: next, domain },
      facts: { of: 'bounces', count: 5, attempted: 100, limit: 0.03 },
    });
    expect(completed).toMatchObject({ type: 'warming.completed', data: { ...plan, domain } });
    const { items } = (
      await api.get<{ items: { eventType: string }[] }>(`/v1/webhooks/${hookId}/deliveries`)
    ).body;
    expect(items.map(({ eventType }) => eventType)).toEqual(['warming.completed', 'warming.held']);
  });

  it('shows other holds: a pause of the organization and a hold of the domain', async () => {
    await begin();
    const observe = (fromDomain: string, attempted: number, hard_bounced = 0) =>
      test.app.store.write((trx) =>
        countHealth(test.app, trx, [
          {
            organizationId: test.caller.organizationId,
            sender: null,
            fromDomain,
            counts: { attempted, hard_bounced },
          },
        ]),
      );
    await observe('sandbox.test', 300);
    await observe(warm, 100, 10);
    expect((await show()).holds).toEqual({
      workspacePausedAt: null,
      workspacePauseReason: null,
      sendingStatus: 'held',
    });
    await pauseOrganization(test.app, 'default', { note: 'Looked into' });
    expect((await show()).holds).toEqual({
      workspacePausedAt: noon,
      workspacePauseReason: 'Looked into',
      sendingStatus: 'paused',
    });
  });

  it('shows the last hundred windows and two hundred decisions of an endless plan', async () => {
    await begin(domainId, { ...ramp, dailyGrowthPercent: 0 });
    for (let i = 0; i < 120; i++) {
      await test.clock.advance(dayMs);
      await moveWindows(test.app);
    }
    const { batches, decisions } = await show();
    expect([batches.length, batches[0]?.sequence, batches.at(-1)?.state]).toEqual([
      100,
      23,
      'scheduled',
    ]);
    expect([decisions.length, decisions.at(-1)?.kind]).toEqual([200, 'window-opened']);
  });
});
