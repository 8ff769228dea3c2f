// No read of a route scans a table that grows with the mail, on either engine: the test calls every
// route with each of its query parameters and with all at once, and plans the statements of each
// call.
// Slow: each route with each parameter, on both engines.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ZodObject } from 'zod';
import { routes } from '../../../daemon/http/routes.ts';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import { ensureServiceOrganization } from '../../../src/access/organizations/service-organization.ts';
import { campaignRunDesk } from '../../../src/campaigns/setup/routes.ts';
import { cursorAfter } from '../../../src/core/api/cursor.ts';
import type { Route } from '../../../src/core/api/route.ts';
import { recordTimeline } from '../../../src/history/events/record.ts';
import { createProjector } from '../../../src/inbox/receiving/projector.ts';
import { unreadThreads } from '../../../src/inbox/threads/routes.ts';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import { getEmailProjection } from '../../../src/outbound/messages/lists/email-projection.ts';
import { createSearchFiller } from '../../../src/outbound/messages/lists/search.ts';
import { setMarks } from '../../../src/outbound/messages/lists/term-queries.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { startQueueGauges } from '../../../src/outbound/queue/queue-gauges.ts';
import type { Db } from '../../../src/platform/store/db.ts';
import { boundsOf } from '../../../src/platform/store/rows/time-range.ts';
import { searchRoutes } from '../../../src/search/routes.ts';
import { ask as askRoute } from '../../../src/service/door/door.ts';
import {
  inThread,
  pathOf,
  type Resource,
  type Row,
  resources,
  rows,
  runOf,
} from '../../http/permission-rows.ts';
import { type PermissionWorld, permissionWorld, type Side } from '../../http/permission-world.ts';
import { receiveMail, shortMail } from '../../inbox/receiving/received-mail.ts';
import { arrive } from '../../inbox/threads/mails.ts';
import { bothStores, inLong, type TestStore } from '../../support/command.ts';
import { burstOverMs, send, startPipeline } from '../../support/delivery.ts';
import { type Query, watchQueries } from '../../support/watched-queries.ts';
import { type Planner, plannerOf } from './plan-rules.ts';

/** A value, or a function that finds one to fit the parameters already chosen. */
type Sample = string | ((own: Side, others: URLSearchParams) => Promise<string> | string);

const times: Record<string, Sample> = {
  after: '2026-01-01T00:00:00Z',
  since: '2026-01-01T00:00:00Z',
  before: '2027-01-01T00:00:00Z',
  until: '2027-01-01T00:00:00Z',
};
const page: Record<string, Sample> = { page: '2', limit: '5' };
const dates: Record<string, Sample> = {
  startDate: '2026-01-05T11:59:58.123Z',
  endDate: '2026-01-06T11:59:58.123Z',
};

/**
 * Returns the second page's cursor of the threads of the threaded mailbox, or of a list of its
 * thread.
 */
function nextOf(list: 'threads' | 'messages' | 'notes'): Sample {
  return async (own, others) => {
    const first = new URLSearchParams(others);
    first.set('limit', '1');
    const { threadId } = inThread(own, null);
    const base = `/v1/mailboxes/${own.shared.threadedMailbox}/threads`;
    const path = list === 'threads' ? base : `${base}/${threadId}/${list}`;
    const { body } = await own.api.get<{ nextCursor: string }>(`${path}?${first}`);
    return body.nextCursor;
  };
}

/** Returns the bounds of time in these parameters, as the scope of a cursor has them. */
function spanOf(others: URLSearchParams): (number | undefined)[] {
  const { from, to } = boundsOf(Object.fromEntries(others));
  return [from, to];
}

/** Samples of a list of actions at this path. */
function samplesOfActions(listOf: (own: Side) => string): Record<string, Sample> {
  return {
    state: 'proposed',
    type: 'reply',
    ...times,
    async actor(own) {
      const url = listOf(own);
      const { body } = await own.api.get<{ items: { actor: { id: string } }[] }>(url);
      return body.items[0]?.actor.id ?? '';
    },
    limit: '1',
    async cursor(own, others) {
      const first = new URLSearchParams(others);
      first.set('limit', '1');
      const { body } = await own.api.get<{ nextCursor: string }>(`${listOf(own)}?${first}`);
      return body.nextCursor;
    },
  };
}

/** Returns the samples of the times by which a list is filtered; none for other lists. */
function timesOf(name: string): Record<string, Sample> {
  const route = routes.find((one) => nameOf(one) === name);
  const own = new Set(route ? parametersOf(route) : []);
  return Object.fromEntries(Object.entries(times).filter(([field]) => own.has(field)));
}

/** Returns the commit of the own template. */
async function headOfTemplate({ api, shared: { template } }: Side): Promise<string> {
  const path = `/v1/templates/${template}/workspace` as const;
  const { body } = await api.get<{ workspace: { baseCommit: string } }>(path);
  return body.workspace.baseCommit;
}

/** Parameters without which a route answers 422. */
const required: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'GET /v1/messages/expect': { to: 'nobody@example.com', within: '0' },
  'GET /v1/analytics/breakdown': { by: 'sender' },
};

/** A value of each query parameter of each route. */
const samples: Readonly<Record<string, Readonly<Record<string, Sample>>>> = {
  ...Object.fromEntries(
    Object.values<Resource>(resources).map(({ path, samples: own = {} }) => [
      `GET ${path}`,
      { ...page, ...timesOf(`GET ${path}`), ...own },
    ]),
  ),
  'GET /v1/api-keys': { ...page, ...times, createdBy: ({ shared }) => shared.writeKey },
  'GET /v1/contacts/tags': page,
  'GET /v1/templates/{id}/versions': { ...page, ...times },
  'GET /v1/messages/{id}/email': {
    includeStorageUrls: 'true',
    urlExpiresIn: '60',
    recipient: 'ada@example.com',
  },
  'GET /v1/email/domains/{id}/dmarc-reports': { ...page, days: '7' },
  'GET /v1/webhooks/{id}/stats': { period: '7' },
  'GET /v1/webhooks/{id}/deliveries': {
    ...page,
    status: 'exhausted',
    eventType: 'message.sent',
    ...times,
  },
  'GET /v1/audit': {
    action: 'block.created',
    resource: ({ shared }) => shared.writeKey,
    ...times,
    limit: '1',
    async cursor({ api }, others) {
      const first = new URLSearchParams(others);
      first.set('limit', '1');
      const { body } = await api.get<{ nextCursor: string }>(`/v1/audit?${first}`);
      return body.nextCursor;
    },
  },
  'GET /v1/contacts/export': { format: 'ndjson' },
  'POST /v1/contacts/import': {
    ...{ dryRun: 'true', map: 'email=email' },
    requireConfirmation: ({ shared }) => shared.unsubscribeGroup,
  },
  'GET /v1/contact-groups/{id}/members': page,
  'GET /v1/unsubscribe-groups/{id}/members': {
    status: 'pending',
    ...times,
    limit: '1',
    async cursor({ shared }, others) {
      const { unsubscribeGroup, contact } = shared;
      const status = new URLSearchParams(others).get('status') ?? undefined;
      const scope = ['unsubscribe-group-members', unsubscribeGroup, status, ...spanOf(others)];
      return cursorAfter(scope, { at: 0, id: contact });
    },
  },
  'GET /v1/mailbox-namespaces': { ...page, ...times },
  'GET /v1/saved-replies': { ...page, ...times },
  'GET /v1/messages/expect': {
    ...required['GET /v1/messages/expect'],
    subject: 'hello',
    after: '2026-01-01T00:00:00Z',
    since: '2026-01-01T00:00:00Z',
  },
  'GET /v1/mailboxes/{id}/agent-activity': {
    after: '2026-01-05T10:30:00Z',
    since: '2026-01-05T10:30:00Z',
    before: '2026-01-05T12:30:00Z',
    until: '2026-01-05T12:30:00Z',
  },
  'GET /v1/mailboxes/{id}/actions': samplesOfActions(
    ({ shared }) => `/v1/mailboxes/${shared.proposingMailbox}/actions`,
  ),
  'GET /v1/mailbox-actions': samplesOfActions(() => '/v1/mailbox-actions'),
  'GET /v1/mailboxes/{id}/events': {
    type: 'mailbox.updated',
    ...times,
    order: 'asc',
    limit: '1',
    async cursor({ api, shared }, others) {
      const first = new URLSearchParams(others);
      first.set('limit', '1');
      const url = `/v1/mailboxes/${shared.mailbox}/events?${first}`;
      const { body } = await api.get<{ nextCursor: string }>(url);
      return body.nextCursor;
    },
  },
  'GET /v1/mailboxes/{id}/drafts': {
    ...times,
    limit: '1',
    async cursor({ api, shared }, others) {
      const first = new URLSearchParams(others);
      first.set('limit', '1');
      const url = `/v1/mailboxes/${shared.threadedMailbox}/drafts?${first}`;
      return (await api.get<{ nextCursor: string }>(url)).body.nextCursor;
    },
  },
  'GET /v1/mailboxes/{id}/threads': {
    ...times,
    q: 'hello',
    folder: 'inbox',
    label: 'of a test',
    unread: 'true',
    starred: 'false',
    snoozed: 'true',
    limit: '1',
    cursor: nextOf('threads'),
  },
  'GET /v1/mailboxes/{id}/threads/{threadId}/messages': {
    ...times,
    limit: '1',
    cursor: nextOf('messages'),
  },
  'GET /v1/templates/{id}/workspace/history': {
    limit: '1',
    cursor: ({ shared: { template } }) =>
      cursorAfter(['template-history', template], { at: 2, id: template }),
  },
  'GET /v1/templates/{id}/workspace/diff': { from: headOfTemplate, to: headOfTemplate },
  'GET /v1/mailboxes/{id}/threads/{threadId}/notes': {
    ...times,
    limit: '1',
    cursor: nextOf('notes'),
  },
  'GET /v1/campaigns/{id}/estimate': { scheduledFor: '2026-02-01T00:00:00Z' },
  'GET /v1/campaigns/{id}/runs': {
    ...times,
    limit: '1',
    cursor({ shared: { campaign } }, others) {
      const place = { at: 2, id: 'run_0123456789abcdefghjk' };
      return cursorAfter(['runs', campaign, ...spanOf(others)], place);
    },
  },
  'GET /v1/extensions': {
    ...times,
    limit: '1',
    cursor({ organizationId }, others) {
      const place = { at: 2, id: 'ext_0123456789abcdefghjk' };
      return cursorAfter(['extensions', organizationId, ...spanOf(others)], place);
    },
  },
  'GET /v1/extensions/{id}/versions': {
    ...times,
    limit: '1',
    cursor({ shared: { extension } }, others) {
      const place = { at: 2, id: 'exv_0123456789abcdefghjk' };
      return cursorAfter(['extension-versions', extension, ...spanOf(others)], place);
    },
  },
  'GET /v1/extension-installations': {
    status: 'active',
    extensionId: 'ext_0123456789abcdefghjk',
    ...times,
    limit: '1',
    cursor({ organizationId }, others) {
      const [status, of] = ['status', 'extensionId'].map((name) => others.get(name) ?? undefined);
      const place = { at: 2, id: 'exti_0123456789abcdefghjk' };
      const scope = ['extension-installations', organizationId, status, of, ...spanOf(others)];
      return cursorAfter(scope, place);
    },
  },
  'GET /v1/extension-installations/{id}/version-changes': {
    ...times,
    limit: '1',
    cursor({ shared: { upgradedInstallation: id } }, others) {
      const place = { at: 2, id: 'exvc_0123456789abcdefghjk' };
      return cursorAfter(['installation-version-changes', id, ...spanOf(others)], place);
    },
  },
  'GET /v1/campaigns/{id}/runs/{runId}/recipients': {
    outcome: 'failed',
    reason: 'contact-missing',
    status: 'bounced',
    ...times,
    limit: '1',
    cursor(own, others) {
      const filters = ['outcome', 'reason', 'status'].map((name) => others.get(name) ?? undefined);
      const { runId } = runOf(own, null);
      const place = { at: 0, id: 'contact_0123456789abcdefghjk' };
      return cursorAfter(['recipients', runId, ...filters, ...spanOf(others)], place);
    },
  },
  'GET /v1/events': {
    type: 'message.accepted',
    subject: ({ shared }) => shared.message,
    ...times,
    order: 'asc',
    limit: '1',
    async cursor({ api }, others) {
      const first = new URLSearchParams(others);
      first.set('limit', '1');
      const { body } = await api.get<{ nextCursor: string }>(`/v1/events?${first}`);
      return body.nextCursor;
    },
  },
  'GET /v1/organizations/usage': { period: '2026-01' },
  'GET /v1/analytics/channel-stats': dates,
  'GET /v1/analytics/timeseries': { ...dates, interval: 'hour' },
  'GET /v1/analytics/domains': { ...dates, limit: '5' },
  'GET /v1/analytics/breakdown': { by: 'campaign', ...dates, format: 'json' },
};

function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

function parametersOf({ query }: Route): string[] {
  return query ? Object.keys((query as ZodObject).shape) : [];
}

it('every query parameter of every route has a sample, and every sample has a parameter', () => {
  const inOrder = (all: Record<string, string[]>) =>
    Object.entries(all)
      .flatMap(([name, parameters]) => parameters.map((parameter) => `${name}?${parameter}`))
      .sort();
  const known = Object.fromEntries(routes.map((route) => [nameOf(route), parametersOf(route)]));
  const sampled = Object.fromEntries(
    Object.entries(samples).map(([name, values]) => [name, Object.keys(values)]),
  );
  const message = 'add (or remove) samples here: their queries are planned by them';
  expect(inOrder(sampled), message).toEqual(inOrder(known));
  expect(routes.map(nameOf).filter((name) => !Object.hasOwn(rows, name))).toEqual([]);
});

/**
 * Tells whether a scan belongs to a count that runs aside and within a deadline: of an audience, or
 * of the contacts, conversations or blocks of a time, whose total no counter has.
 */
function isCount({ path }: Route, query: Query, scan: string): boolean {
  if (path.endsWith('/estimate')) {
    return / of (?:contact\w*|blocks|group_confirmations) by /.test(scan);
  }
  const isOfTime = /count\(\*\)[\s\S]*created_at/.test(query.text);
  const list = /^\/v1\/(?:email\/)?(contacts|conversations|blocks)$/.exec(path)?.[1];
  return isOfTime && list !== undefined && scan.includes(` of ${list} by `);
}

/**
 * Returns the choice of no parameter, of each one, and of all at once; in the long run of each two.
 * All at once leave out the cursor, as few rows have no second page. They run on SQLite: PostgreSQL
 * expects no row of so many filters, and then reads any index.
 */
function choicesOf(parameters: readonly string[], store: TestStore): string[][] {
  const pairs = parameters.flatMap((one, index) =>
    parameters.slice(index + 1).map((other) => [one, other]),
  );
  const atOnce = store === 'sqlite' ? [parameters.filter((name) => name !== 'cursor')] : [];
  return [[], ...parameters.map((one) => [one]), ...inLong(pairs, atOnce)];
}

/** Enough rows that PostgreSQL prefers an index to reading all of them. */
const seeded = 20_000;

/** Numbers of the seeded rows, as `n.i`. */
const numbers = sql`(select value as i from generate_series(1, ${sql.lit(seeded)}) value) n`;

/**
 * Turns off foreign keys for this transaction: all references are valid, and checking them takes
 * longer than writing.
 */
const unchecked = (trx: Db) => sql`set local session_replication_role = replica`.execute(trx);

/**
 * Writes mail of one organization and blocks of two, past the service: the planner bases its costs
 * on them.
 */
async function seed(world: PermissionWorld): Promise<void> {
  const { test, own, foreign } = world;
  const { organizationId, shared } = own;
  await test.app.store.write(async (trx) => {
    await unchecked(trx);
    await sql`insert into messages (id, organization_id, direction, status, from_email,
        message_id_header, track_opens, track_clicks, is_test, delivery_count, created_at, updated_at)
      select 'msg_' || lpad(i::text, 24, '0'), organization_id, direction, 'delivered', from_email,
        message_id_header, 0, 0, 0, 1, created_at + i * 1000, updated_at
      from messages, ${numbers} where id = ${shared.message}`.execute(trx);
    await sql`insert into recipients (id, message_id, kind, email, position)
      select 'rcp_' || i, 'msg_' || lpad(i::text, 24, '0'), 'to', 'u' || i || '@example.com', 0
      from ${numbers}`.execute(trx);
    await sql`insert into deliveries (id, message_id, recipient_id, organization_id, sender_domain,
        email, domain, status, attempt_count, max_attempts, expires_at, created_at, updated_at)
      select 'dlv_' || i, 'msg_' || lpad(i::text, 24, '0'), 'rcp_' || i, ${organizationId},
        'own.example', 'u' || i || '@example.com', 'example.com', 'delivered', 1, 10, 0, 0, 0
      from ${numbers}`.execute(trx);
    await sql`insert into events (id, organization_id, message_id, event_type, status, timestamp)
      select 'evt_' || lpad(i::text, 24, '0'), ${organizationId}, 'msg_' || lpad(i::text, 24, '0'), 'accepted', 'pending', 0
      from ${numbers}`.execute(trx);
    await sql`insert into email_projections (message_id, tries, parsed_at)
      select 'msg_' || lpad(i::text, 24, '0'), 1, 0 from ${numbers}`.execute(trx);
    await sql`insert into webhook_deliveries (id, organization_id, endpoint_id, event_id, event_type,
        status, attempt_count, is_replay, created_at, updated_at)
      select 'whdel_' || i, ${organizationId},
        case when i % 10 = 0 then ${shared.webhook} else 'wep_' || i % 10 end,
        'evt_' || lpad(i::text, 24, '0'),
        case when (i / 10) % 9 = 0 then 'message.sent' else 'message.accepted' end,
        case when (i / 10) % 7 = 0 then 'exhausted' else 'delivered' end, 1, 0, 0, 0
      from ${numbers}`.execute(trx);
    await sql`insert into webhook_attempts (id, delivery_id, "trigger", at, duration_ms, outcome)
      select 'wha_' || i, 'whdel_' || i, 'automatic', 0, 1, 'failed' from ${numbers}`.execute(trx);
    await sql`insert into message_search (organization_id, kind, value, created_at, message_id)
      select ${organizationId}, kind, value || i, i, 'msg_' || lpad(i::text, 24, '0')
      from ${numbers}, (values ('to', 'u'), ('from', 'h'), ('subject', 's'), ('tag', 't'))
        terms (kind, value)`.execute(trx);
    const lastSeeded = `msg_${String(seeded).padStart(24, '0')}`;
    await setMarks(trx, { newest: lastSeeded, settled: lastSeeded });
    await sql`insert into contacts (id, organization_id, external_id, is_archived, created_at,
        updated_at)
      select 'contact_' || lpad(i::text, 24, '0'), case when i % 2 = 0 then ${organizationId}
        else ${foreign.organizationId} end, 'crm' || i, 0, 0, 0
      from ${numbers}`.execute(trx);
    await sql`insert into contact_identities (organization_id, folded_identifier, id, contact_id,
        position, identifier)
      select organization_id, external_id || '@example.com', 'idn_' || external_id, id, 0,
        external_id || '@example.com' from contacts where external_id like 'crm%'`.execute(trx);
    await sql`insert into contact_tags (organization_id, tag, contact_id)
      select organization_id, 'made', id from contacts where external_id like 'crm%'`.execute(trx);
    await sql`insert into conversations (id, organization_id, status, external_id, priority, urgency,
        is_internal, is_private, is_test, message_count, created_at, updated_at)
      select 'conv_' || lpad(i::text, 24, '0'), case when i % 2 = 0 then ${organizationId}
        else ${foreign.organizationId} end, case when i % 3 = 0 then 'active' else 'resolved' end,
        'case' || i, 0, 'normal', 0, 0, 0, 0, 0, 0
      from ${numbers}`.execute(trx);
    await sql`insert into conversation_tags (organization_id, tag, conversation_id)
      select organization_id, case when external_id like 'case%8' then 'made' else external_id end, id
      from conversations where external_id like 'case%'`.execute(trx);
    await sql`insert into conversation_contacts (conversation_id, contact_id)
      select 'conv_' || lpad(i::text, 24, '0'), 'contact_' || lpad(i::text, 24, '0')
      from ${numbers}`.execute(trx);
    await sql`insert into contact_words (organization_id, word, contact_id)
      select organization_id, external_id, id from contacts where external_id like 'crm%'`.execute(
      trx,
    );
    await sql`insert into mailbox_actions (id, organization_id, mailbox_id, type, state, actor_kind,
        actor_id, by_person, message_id, thread_id, summary, created_at, decided_at)
      select 'act_' || lpad(i::text, 24, '0'), ${organizationId},
        case when i % 2 = 0 then ${shared.mailbox} else ${shared.pausedMailbox} end,
        case when i % 3 = 0 then 'reply' else 'label' end,
        case when i % 7 = 0 then 'rejected' else 'executed' end, 'key', 'key_' || i % 11, 0,
        'msg_' || lpad(i::text, 24, '0'), 'thread_' || i % 50, '{}', 0, 0
      from ${numbers}`.execute(trx);
    await sql`insert into mailbox_hours (mailbox_id, hour, kind, name, state, count)
      select ${shared.mailbox}, i::bigint * 3600000, 'action', 'label', 'executed', 1
      from ${numbers}`.execute(trx);
    await sql`insert into blocks (id, organization_id, address, folded_address, reason, created_at)
      select 'blk_' || i, case when i % 2 = 0 then ${organizationId} else ${foreign.organizationId} end,
        'u' || i || '@example.com', 'u' || i || '@example.com', 'bounce', 0
      from ${numbers}`.execute(trx);
  });
  await seedThreads(world);
  await sql`analyze`.execute(test.app.store.db);
}

/** Makes threads of two mailboxes, labelled, with one message each. */
async function seedThreads({ test, own, foreign }: PermissionWorld): Promise<void> {
  const mailbox = sql`case when i % 2 = 0 then ${own.shared.threadedMailbox}
    else ${foreign.shared.threadedMailbox} end`;
  await test.app.store.write(async (trx) => {
    await unchecked(trx);
    await sql`insert into threads (id, organization_id, mailbox_id, folder, is_read, is_starred,
        last_activity_at, priority, message_count, attachment_count, created_at, updated_at)
      select 'thread_' || lpad(i::text, 24, '0'), ${own.organizationId}, ${mailbox},
        case when i % 5 = 0 then 'archive' else 'inbox' end, i / 2 % 2, i / 4 % 2,
        i * 1000, 'normal', 1, 0, 0, 0
      from ${numbers}`.execute(trx);
    await sql`insert into thread_messages (message_id, thread_id, at, kind, has_attachments)
      select 'msg_' || lpad(i::text, 24, '0'), 'thread_' || lpad(i::text, 24, '0'), i, 'person', 0
      from ${numbers}`.execute(trx);
    await sql`insert into thread_labels (thread_id, folded, label, mailbox_id, last_activity_at)
      select id, 'made', 'made', mailbox_id, last_activity_at from threads
      where message_count = 1 and created_at = 0`.execute(trx);
    await sql`insert into thread_references (mailbox_id, message_id_hash, thread_id, at)
      select mailbox_id, id, id, 0 from threads where created_at = 0`.execute(trx);
    await sql`insert into shared_references (mailbox_id, message_id_hash, thread_id)
      select mailbox_id, id, id from threads where created_at = 0`.execute(trx);
    await sql`insert into further_message_ids (left_half, message_id)
      select 'half' || i, 'msg_' || lpad(i::text, 24, '0') from ${numbers}`.execute(trx);
    await sql`insert into thread_notes (id, organization_id, thread_id, author_kind, body, pinned,
        created_at, updated_at)
      select 'note_' || i, ${own.organizationId}, 'thread_' || lpad(i::text, 24, '0'), 'key', '', 0,
        0, 0 from ${numbers}`.execute(trx);
    await sql`insert into drafts (id, organization_id, mailbox_id, thread_id, state, author_kind,
        byte_count, created_at, updated_at, recipients)
      select 'drf_' || i, ${own.organizationId}, case when i % 40 = 0 then ${own.shared.threadedMailbox} else 'mbx_' || i % 100 end,
        'thread_' || lpad(i::text, 24, '0'), 'open', 'key', 0, 0, 0, '{"to":[],"cc":[],"bcc":[]}'
      from ${numbers}`.execute(trx);
    await sql`insert into draft_files (draft_id, n, filename, size, content)
      select 'drf_' || i, 1, 'a', 1, 'YQ==' from ${numbers}`.execute(trx);
    await sql`insert into thread_search (message_id, words)
      select 'msg_' || lpad(i::text, 24, '0'), (select array_to_tsvector(array_agg(md5(i || '.' || k)))
        from generate_series(1, 6) k) from ${numbers}`.execute(trx);
  });
}

/** Fills the threaded mailbox with two items of each list, for every two filters. */
async function fillThreads({ test: { app, clock }, own }: PermissionWorld): Promise<void> {
  const { api, shared } = own;
  const { threadId } = inThread(own, null);
  const threads = `/v1/mailboxes/${shared.threadedMailbox}/threads`;
  const { body: mailbox } = await api.get<{ primaryAddress: string }>(
    `/v1/mailboxes/${shared.threadedMailbox}`,
  );
  const rcpt = [mailbox.primaryAddress];
  const { body } = await api.get<{ items: { id: string }[] }>(`${threads}/${threadId}/messages`);
  const { body: email } = await api.get<EmailProjection>(`/v1/messages/${body.items[0]?.id}/email`);
  const inReplyTo = email.messageIdHeader.slice(1, -1);
  await arrive(app, { rcpt, inReplyTo, text: 'Hello again' });
  await arrive(app, { rcpt, from: 'bo@example.com', text: 'Hello' });
  await api.post(`${threads}/${threadId}/notes`, { body: 'another' });
  const snoozedUntil = new Date(clock.now() + 86_400_000).toISOString();
  const { body: listed } = await api.get<{ items: { id: string }[] }>(threads);
  for (const { id } of listed.items) {
    await api.post(`${threads}/${id}/labels`, { labels: ['of a test'] });
    const change = { snoozedUntil, read: false, starred: false };
    await api.request('PATCH', `${threads}/${id}`, { body: change });
  }
}

/** Kinds are constants, and only installations read themselves. */
const withoutQueries = ['GET /v1/events/kinds', 'GET /v1/extension-installations/me'];

describe.each(bothStores)('the query plans on %s', (store) => {
  let queries: ReturnType<typeof watchQueries>;
  let world: PermissionWorld;
  let planner: Planner;
  beforeAll(async () => {
    queries = watchQueries();
    world = await permissionWorld(store);
    const { api, shared } = world.own;
    await api.request('PATCH', `/v1/api-keys/${shared.writeKey}`, { body: { name: 'other' } });
    for (const displayName of ['One', 'Other']) {
      await api.request('PATCH', `/v1/mailboxes/${shared.mailbox}`, { body: { displayName } });
    }
    await fillThreads(world);
    // Makes a second page of its events.
    await world.test.app.store.write((trx) =>
      recordTimeline(world.test.app, trx, [
        {
          organizationId: world.own.organizationId,
          messageId: shared.message,
          recipientId: null,
          eventType: 'accepted',
          status: 'pending',
          timestamp: world.test.clock.now(),
          metadata: null,
        },
      ]),
    );
    if (store === 'postgres') await seed(world);
    // A key without an index needs a further filter, and is compared row by row within a bound.
    await updateOrganization(world.test.app, world.own.organizationId, {
      metadataKeys: ['orderId'],
    });
    // A store makes this row once, at the first mail to a person.
    await world.test.app.store.write((trx) => ensureServiceOrganization(world.test.app, trx));
    const quiet = { isPressing: () => false, isWorking: () => false };
    await createSearchFiller(world.test.app, quiet).fill();
    // PostgreSQL seals events once they are older than each open transaction of its server, by 5 s.
    await world.test.clock.advance(3_600_000);
    planner = await plannerOf(world.test.app);
  });
  afterAll(async () => {
    queries.stop();
    await planner.close();
    await world.close();
  });

  async function expectNoScan(ran: readonly Query[], route?: Route): Promise<void> {
    for (const query of ran) {
      const faults = await planner.faults(query);
      const scans = faults.filter((scan) => !(route && isCount(route, query, scan)));
      expect({ query: query.text, scans }).toEqual({
        query: query.text,
        scans: [],
      });
    }
  }

  async function ask(route: Route, row: Row, chosen: readonly string[], serial: number) {
    const { own } = world;
    const url = new URL(route.path, 'http://svc');
    const { on } = row;
    if (on) {
      const id = row.spends ? await own.fresh(on) : own.shared[on];
      url.pathname = pathOf(route.path, row, own, id);
    }
    for (const [name, value] of Object.entries(required[nameOf(route)] ?? {})) {
      url.searchParams.set(name, value);
    }
    for (const name of chosen) {
      const sample = samples[nameOf(route)]?.[name] ?? '';
      url.searchParams.set(
        name,
        typeof sample === 'string' ? sample : await sample(own, url.searchParams),
      );
    }
    const options = {
      ...(row.body && { body: row.body(own, serial) }),
      ...(row.headers && { headers: row.headers(serial) }),
    };
    queries.take();
    const { status, body } = await own.api.request(
      route.method,
      `${url.pathname}${url.search}`,
      options,
    );
    expect([status, body]).toEqual([row.gives, expect.anything()]);
    return queries.take();
  }

  it.each(routes.map((route) => [nameOf(route), route] as const))(
    'of %s scan no growing table',
    async (name, route) => {
      const row = rows[name] as Row;
      const ran = new Map<string, Query>();
      for (const [serial, chosen] of choicesOf(parametersOf(route), store).entries()) {
        for (const query of await ask(route, row, chosen, serial)) ran.set(query.text, query);
      }
      expect(ran.size > 0).toBe(!withoutQueries.includes(name));
      await expectNoScan([...ran.values()], route);
    },
  );

  it('of a download scan no growing table', async () => {
    const { api, shared } = world.own;
    const url = `/v1/messages/${shared.message}/email?includeStorageUrls=true`;
    const { body } = await api.get<EmailProjection>(url);
    queries.take();
    expect((await api.download(body.storageUrls?.raw ?? '')).status).toBe(200);
    await expectNoScan(queries.take());
  });

  it.each([
    'u7@example.com',
    'u8@example.com',
    'made',
    's7',
    'msg_000000000000000000000007',
    'Campaign',
  ])('of a search for %s scan no growing table', async (q) => {
    const { app, operator } = world.test;
    const { organizationId } = world.own;
    queries.take();
    await askRoute({ app }, { ...operator, organizationId }, searchRoutes.find, { query: { q } });
    await expectNoScan(queries.take());
  });

  it('of unread threads scan no growing table', async () => {
    const { app, operator } = world.test;
    const { organizationId, shared } = world.own;
    const query = { mailboxIds: [shared.mailbox, 'mbx_00000000000000000000'] };
    queries.take();
    await askRoute({ app }, { ...operator, organizationId }, unreadThreads, { query });
    await expectNoScan(queries.take());
  });

  it('of the results of a run scan no growing table', async () => {
    const { app, operator } = world.test;
    const { organizationId, shared } = world.own;
    const { runId } = runOf(world.own, null);
    const values = sql`${runId}, ${shared.contact}, 'dispatched', ${shared.message}, 1, 1`;
    await app.store.write((trx) =>
      sql`insert into campaign_recipients
        (run_id, contact_id, outcome, message_id, created_at, clicked_at) values (${values})`.execute(
        trx,
      ),
    );
    const caller = { ...operator, organizationId };
    const query = { id: shared.runningCampaign, runId };
    queries.take();
    const found = await askRoute({ app }, caller, campaignRunDesk.results, { query });
    expect(found.people).toBe(1);
    await expectNoScan(queries.take());
  });

  it('of the delivery scan no growing table', async () => {
    const { test, own } = world;
    const pipeline = await startPipeline(test.app);
    try {
      await own.fresh('message');
      await test.clock.advance(burstOverMs);
      queries.take();
      await own.fresh('message');
      await test.clock.advance(burstOverMs);
      await pipeline.idle();
    } finally {
      await pipeline.close();
    }
    await expectNoScan(queries.take());
  });

  it('of the queue gauges scan no growing table', async () => {
    queries.take();
    const stop = startQueueGauges(world.test.app);
    await vi.waitFor(async () => {
      await world.test.clock.advance(1);
      const text = await world.test.app.metrics.registry.metrics();
      expect(text).toContain('svc_queue_deliveries{reason="ready"}');
    });
    await stop();
    const ran = queries.take();
    expect(ran.map(({ text }) => /deliveries/.test(text))).toEqual([true, true]);
    await expectNoScan(ran);
  });

  it('of the search filler scan no growing table', async () => {
    const { app, caller } = world.test;
    const quiet = { isPressing: () => false, isWorking: () => false };
    const { fill } = createSearchFiller(app, quiet);
    await fill();
    const { id } = await send(app, caller, 'ada@example.com', { tags: ['t'] });
    queries.take();
    expect(await fill()).toBe(1);
    await deleteMessage(app, caller, id);
    const ran = queries.take();
    expect(ran.filter(({ text }) => text.includes('message_search')).length).toBeGreaterThan(2);
    await expectNoScan(ran);
  });

  it('of the projection of received mail scan no growing table', async () => {
    const { app, caller } = world.test;
    const projector = createProjector(app);
    const [asked, parsed] = [
      await receiveMail(app, shortMail('one')),
      await receiveMail(app, shortMail('two')),
    ];
    queries.take();
    await getEmailProjection(app, caller, asked, {});
    expect(await projector.projectDue()).toBe(2);
    expect(await projector.projectDue()).toBe(0);
    await getEmailProjection(app, caller, parsed, {});
    await receiveMail(app, shortMail('three'));
    await app.mime.close();
    expect(await projector.projectDue()).toBe(1);
    await deleteMessage(app, caller, parsed);
    const ran = queries.take();
    expect(ran.filter(({ text }) => text.includes('email_projections')).length).toBeGreaterThan(6);
    await expectNoScan(ran);
  });
});
