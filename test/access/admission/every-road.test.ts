// Every mail that leaves is admitted once: each road takes quota and counts, waits or is refused
// without room, and is closed by a pause. A new road is found in the sources, and is missing here
// until a row below walks it.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  pauseOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { campaignLoop } from '../../../src/campaigns/walk/loop.ts';
import { createConfirmationLoop } from '../../../src/consent/opt-in/loop.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { apiOf, config, type Desk, deskOf } from '../../inbox/replies/world.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, startPipeline } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { usedToday, useToday } from './fixtures.ts';
import { readSources, roadsOfMail, storesOf } from './road-finder.ts';

const hourMs = 3_600_000;
const outside = 'ada@example.com';
const email = { subject: 'Hello', text: 'Hello' };
const payload = { channel: 'email', to: [{ email: outside }], email };
/** The quota of a day on the free plan without a payment method. */
const quota = 100;

/**
 * A refused request is `refused`, mail that waits is `waits`; both were asked for while the quota
 * was used up.
 */
type Outcome = 'refused' | 'waits';

/** The result of an entry of a batch. */
interface Entry {
  error?: { _tag: string };
}

interface Asked {
  status: number;
  body: object;
}

interface Road {
  name: string;
  /** The file that hands the mail to the admission. */
  file: string;
  without: Outcome;
  /** Prepares it with quota, and returns the request. */
  prepare(world: World): Promise<() => Promise<Asked>>;
  /** Returns the reason why its mail waits. */
  reason?(world: World): Promise<unknown>;
}

interface World {
  api: HttpApi;
  desk: Desk;
  test: Parameters<typeof usedToday>[0];
}

const idOf = ({ body }: { body: object }) => (body as { id: string }).id;
const post =
  (url: string, body: object) =>
  async ({ api }: World): Promise<() => Promise<Asked>> =>
  () =>
    api.post<object>(url, body);

const waitOfDelivery = async ({ test }: World) => {
  const { rows } = await sql<{ wait_reason: string }>`
    select wait_reason from deliveries where status = 'scheduled'`.execute(test.app.store.db);
  return rows[0]?.wait_reason;
};

/** The member that asks for a confirmation of a new contact. */
async function asking({ api }: World): Promise<{ path: string; contactId: string }> {
  const group = idOf(await api.post('/v1/unsubscribe-groups', { name: 'News', confirm: true }));
  const contactId = idOf(await api.post('/v1/contacts', { email: outside }));
  return { path: `/v1/unsubscribe-groups/${group}/members`, contactId };
}

async function campaign({ api }: World): Promise<string> {
  const contactId = idOf(await api.post('/v1/contacts', { email: outside }));
  const body = { name: 'News', channel: 'email', email, transactional: true };
  return idOf(await api.post('/v1/campaigns', { ...body, audience: { contactIds: [contactId] } }));
}

const sending = 'src/outbound/sending';
const mailbox = 'src/inbox/replies/accept.ts';

const roads: readonly Road[] = [
  {
    ...{ name: 'a send', file: `${sending}/send.ts`, without: 'refused' },
    prepare: post('/v1/messages', payload),
  },
  {
    ...{ name: 'a batch', file: `${sending}/batch.ts`, without: 'refused' },
    prepare:
      async ({ api }) =>
      async () => {
        const { body } = await api.post<Entry[]>('/v1/messages/batch', [payload]);
        return statusOf(body[0]);
      },
  },
  {
    ...{ name: 'a scheduled message', file: `${sending}/schedule/schedule.ts`, without: 'waits' },
    prepare:
      async ({ api, test }) =>
      () => {
        const scheduledFor = isoTime(test.clock.now() + 60_000);
        const body = { ...payload, scheduledFor, idempotencyKey: 'k1' };
        return api.post<object>('/v1/messages/scheduled', body);
      },
    reason: waitOfDelivery,
  },
  {
    ...{
      name: 'submission and sendmail',
      file: `${sending}/hand-in/hand-in.ts`,
      without: 'refused',
    },
    prepare:
      async ({ test }) =>
      () => {
        const raw = Buffer.from(
          `From: hello@sandbox.test\r\nTo: ${outside}\r\nSubject: Hello\r\n\r\nHello\r\n`,
        );
        const given = { raw, via: 'smtp' as const, user: null, recipients: [outside] };
        const how = { allowsUtf8: false, bareDomain: null };
        return answered(handIn(test.app, test.caller, { ...given, ...how }));
      },
  },
  {
    ...{ name: 'a message sent again', file: `${sending}/resend.ts`, without: 'refused' },
    prepare: async ({ api, test }) => {
      const id = idOf(await api.post('/v1/messages', payload));
      await settled(test);
      return () => api.post<object>(`/v1/messages/${id}/resend`, {});
    },
  },
  {
    ...{ name: 'mail of a mailbox', file: mailbox, without: 'refused' },
    prepare:
      async ({ desk }) =>
      () =>
        desk.send({ to: [outside], ...email }),
  },
  ...['reply', 'reply-all', 'forward'].map(
    (how): Road => ({
      ...{ name: `${how} of a mailbox`, file: mailbox, without: 'refused' },
      prepare: async ({ desk }) => {
        const id = await desk.arrive();
        const to = how === 'forward' ? { to: [outside] } : {};
        return () => desk.reply(id, { text: 'Thank you', ...to }, undefined, how);
      },
    }),
  ),
  {
    ...{ name: 'a draft', file: mailbox, without: 'refused' },
    prepare: async ({ api, desk }) => {
      const id = idOf(await api.post(`${desk.path}/drafts`, { to: [outside], ...email }));
      return () => api.post<object>(`${desk.path}/drafts/${id}/send`, {});
    },
  },
  {
    ...{ name: 'an approved proposal', file: mailbox, without: 'refused' },
    prepare: async ({ api, desk, test }) => {
      const constraints = { mailboxIds: [desk.id] };
      const agent = await apiOf({ test, api }, { constraints, sendMode: 'approval' });
      const person = await apiOf({ test, api }, { owner: 'person' });
      const { body } = await desk.send({ to: [outside], ...email }, agent);
      return () => person.post<object>(`${desk.path}/actions/${body.actionId}/approve`, {});
    },
  },
  {
    ...{ name: 'a campaign run', file: 'src/campaigns/mail/dispatch.ts', without: 'waits' },
    prepare: async (world) => {
      const id = await campaign(world);
      return () => world.api.post<object>(`/v1/campaigns/${id}/runs`, {});
    },
    reason: async ({ test }) => {
      const { rows } = await sql<{ wait_reason: string }>`
        select wait_reason from campaign_runs`.execute(test.app.store.db);
      return rows[0]?.wait_reason;
    },
  },
  {
    ...{ name: 'the test of a campaign', file: `${sending}/batch.ts`, without: 'refused' },
    prepare: async (world) => {
      const id = await campaign(world);
      return async () => {
        const path = `/v1/campaigns/${id}/test`;
        const { body } = await world.api.post<Entry[]>(path, { to: [outside] });
        return statusOf(body[0]);
      };
    },
  },
  {
    ...{ name: 'the proof of a new sender', file: `${sending}/sender-proof/prove.ts` },
    without: 'refused',
    prepare: post('/v1/email/senders', { email: outside }),
  },
  {
    ...{ name: 'another proof of a sender', file: `${sending}/sender-proof/prove.ts` },
    without: 'refused',
    prepare: async ({ api }) => {
      const id = idOf(await api.post('/v1/email/senders', { email: outside }));
      return () => api.post<object>(`/v1/email/senders/${id}/resend`, {});
    },
  },
  {
    ...{ name: 'the invitation of a member', file: `${sending}/people/mail-as-service.ts` },
    without: 'refused',
    prepare: async (world) => {
      const person = await apiOf(world, { role: 'owner', owner: 'person' });
      return () => person.post<object>('/v1/members', { email: outside, role: 'viewer' });
    },
  },
  {
    ...{ name: 'a mail to confirm a group', file: 'src/consent/opt-in/mail-due.ts' },
    without: 'waits',
    prepare: async (world) => {
      const { path, contactId } = await asking(world);
      return () => world.api.post<object>(path, { contactIds: [contactId] });
    },
    reason: async ({ test }) => {
      const { rows } = await sql<{ wait_reason: string }>`
        select wait_reason from group_confirmations`.execute(test.app.store.db);
      return rows[0]?.wait_reason;
    },
  },
];

/** The result of an entry of a batch, as a request of its own would answer. */
function statusOf(result: Entry | undefined): Asked {
  const statuses: Record<string, number> = { PaymentRequiredError: 402, ForbiddenError: 403 };
  const tag = result?.error?._tag;
  return { status: tag === undefined ? 201 : (statuses[tag] ?? 0), body: result ?? {} };
}

function answered(work: Promise<object>): Promise<Asked> {
  return work.then(
    (body) => ({ status: 201, body }),
    (error: { _tag?: string }) => statusOf({ error: { _tag: error._tag ?? String(error) } }),
  );
}

/** Lets all due work of a daemon end. */
async function settled({ app, clock }: World['test']): Promise<void> {
  const pipeline: RunningPipeline = await startPipeline(app);
  const loops = [campaignLoop(app), createConfirmationLoop(app)];
  for (const loop of loops) loop.start();
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance(turn === 0 ? 61_000 : 1_000);
    for (const loop of loops) await loop.idle();
    await pipeline.idle();
  }
  for (const loop of loops) await loop.stop();
  await pipeline.close();
}

describe('the roads by which mail leaves', () => {
  const sources = readSources();
  const admission = 'src/outbound/sending/accept.ts insertDrafts';

  it('queue their mail in the admission alone', () => {
    expect(storesOf(sources, 'deliveries')).toEqual([admission]);
  });

  it('store their mail in the admission, beside mail that arrives', () => {
    const arriving = 'src/inbox/receiving/receive.ts insertCopies';
    expect(storesOf(sources, 'messages')).toEqual([arriving, admission]);
  });

  it('are walked below, each of them', () => {
    expect(roadsOfMail(sources)).toEqual([...new Set(roads.map(({ file }) => file))].sort());
  });

  const planted: [string, 'messages' | 'deliveries', string, string][] = [
    [
      'a use of the insert of another area',
      'deliveries',
      'src/people/shortcut.ts',
      `import { insertDeliveries as add } from '../outbound/deliveries/queries.ts';
export const sendPast = (trx) => add(trx, [row]);`,
    ],
    [
      'an insert of its own',
      'deliveries',
      'src/people/queries.ts',
      `const addRow = own.bulkInsert('deliveries', Row);
export const sendPast = (db) => addRow(db, []);`,
    ],
    [
      'raw SQL',
      'messages',
      'daemon/past.ts',
      `export const sendPast = (db) => sql\`insert into messages (id)\`;`,
    ],
  ];
  it.each(planted)('find %s that is planted', (_what, table, path, text) => {
    const user = `import { sendPast } from '../${path.replace(/^\w+\//, '')}';
export const use = (db) => sendPast(db);`;
    const more = new Map([...sources, [path, text], ['src/people/user.ts', user]]);
    expect(storesOf(more, table).length).toBeGreaterThan(storesOf(sources, table).length);
  });

  it('find a planted caller of the admission', () => {
    const path = 'src/people/greeting.ts';
    const text = `import { acceptAll } from '../outbound/sending/accept.ts';
export const greet = (app, trx) => acceptAll(app, trx, recent, []);`;
    expect(roadsOfMail(new Map([...sources, [path, text]]))).toContain(path);
  });
});

describe.each(stores)('each road of mail on %s', (store) => {
  const { test, api } = eachApi({ store, config });
  let world: World;
  beforeEach(async () => {
    world = { test, api, desk: await deskOf({ test, api }) };
  });
  const free = () => updateOrganization(test.app, 'default', { plan: 'free' });

  it.each(roads)('$name takes the last mail of the quota, and counts', async ({ prepare }) => {
    const ask = await prepare(world);
    await free();
    const { emails } = await usedToday(test);
    await useToday(test, quota - 1 - emails);
    expect((await ask()).status).toBeLessThan(300);
    await settled(test);
    expect((await usedToday(test)).emails).toBe(quota);
    const { body } = await api.post<{ currentUsage: number }>('/v1/messages', payload);
    expect(body.currentUsage).toBe(quota);
  });

  it.each(roads)(
    '$name $without without room in the quota',
    async ({ prepare, without, reason }) => {
      const ask = await prepare(world);
      await free();
      const { emails } = await usedToday(test);
      await useToday(test, quota - emails);
      const { status } = await ask();
      await settled(test);
      expect((await usedToday(test)).emails).toBe(quota);
      if (without === 'refused') {
        expect(status).toBe(402);
        return;
      }
      expect(status).toBeLessThan(300);
      expect(await reason?.(world)).toBe('daily-quota');
      await test.clock.advance(24 * hourMs);
      await settled(test);
      expect((await usedToday(test)).emails).toBe(1);
    },
  );

  it.each(roads)('$name is closed by a pause', async ({ prepare }) => {
    const ask = await prepare(world);
    const { emails } = await usedToday(test);
    await pauseOrganization(test.app, 'default', {});
    const { status } = await ask();
    await settled(test);
    expect((await usedToday(test)).emails).toBe(emails);
    expect([201, 403]).toContain(status);
  });
});
