// Every route that changes data records the change: in the audit log, in the log of resources, or
// in a timeline, in the transaction of the change (src/history/events/record.ts). The list of
// routes is the service's own.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import { reviewOnboarding } from '../../src/access/organizations/onboarding.ts';
import { getOrganization } from '../../src/access/organizations/organizations.ts';
import type { Route } from '../../src/core/api/route.ts';
import { pathOf, rows } from './permission-rows.ts';
import { type PermissionWorld, permissionWorld } from './permission-world.ts';

/** Tables that record changes. */
const tables = ['audit_entries', 'resource_events', 'events'] as const;
type Recorded = Partial<Record<(typeof tables)[number], number>>;

/**
 * Routes with changes outside the audit log: the table that records them, or null with the reason.
 */
const elsewhere: Readonly<Record<string, (typeof tables)[number] | null>> = {
  // The thread lacks the label: test/inbox/threads/standing.test.ts.
  'DELETE /v1/mailboxes/{id}/threads/{threadId}/labels': null,
  // 409: it is the only address of its mailbox.
  'DELETE /v1/mailboxes/{id}/addresses/{addressId}': null,
  // No contact of this test is in the group: test/people/contacts/groups.test.ts.
  'DELETE /v1/contact-groups/{id}/members': null,
  // The same, for members of a double opt-in group: test/consent/opt-in/members.test.ts.
  'DELETE /v1/unsubscribe-groups/{id}/members': null,
  // 409 and 422 in permission-rows.ts; their records: test/outbound/sending/sender-proof.test.ts.
  'POST /v1/email/senders/{id}/verify': null,
  'POST /v1/email/senders/{id}/resend': null,
  // It stores nothing.
  'POST /v1/templates/{id}/render': null,
  'POST /v1/campaigns/{id}/render': null,
  'POST /v1/messages': 'events',
  ...Object.fromEntries(
    [
      ...['messages', 'messages/{messageId}/reply', 'messages/{messageId}/reply-all'],
      ...['messages/{messageId}/forward', 'drafts/{draftId}/send'],
    ].map((path) => [`POST /v1/mailboxes/{id}/${path}`, 'resource_events' as const]),
  ),
  'POST /v1/messages/batch': 'events',
  'POST /v1/campaigns/{id}/test': 'events',
  // 409 in permission-rows.ts; the messages that they make: test/outbound/sending/resend.test.ts.
  'POST /v1/messages/{id}/resend': null,
  'POST /v1/messages/{id}/release': null,
  'POST /v1/messages/scheduled': 'events',
  // 409 and 422 in permission-rows.ts; what they record: test/content/templates/workspace.
  'POST /v1/templates/{id}/workspace/restore': null,
  'PUT /v1/templates/{id}/workspace/bundle': null,
  'POST /v1/webhooks/{id}/test': 'resource_events',
  // Their attempts and deliveries are kept with the endpoint: test/webhooks/deliveries.test.ts.
  'POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver': null,
  'POST /v1/webhooks/{id}/replay': null,
  // The changes of a DNS check depend on DNS: test/identity/domains/verification.test.ts.
  'POST /v1/email/domains/{id}/verify': null,
  // 409 in permission-rows.ts; its audit entries: test/outbound/tracking/custom/hosts.test.ts.
  'POST /v1/email/domains/{id}/custom-tracking': null,
  'POST /v1/email/domains/{id}/custom-tracking/disable': null,
  'POST /v1/email/domains/{id}/custom-tracking/recheck': null,
};

let world: PermissionWorld;
let serial = 9_000;
/** Serial of the last request of each route. */
const lastSerials = new Map<string, number>();
beforeAll(async () => {
  world = await permissionWorld('sqlite');
});
afterAll(() => world.close());

async function counts(): Promise<number[]> {
  const { db } = world.test.app.store;
  const found: number[] = [];
  for (const table of tables) {
    const query = sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`;
    found.push((await query.execute(db)).rows[0]?.n ?? 0);
  }
  return found;
}

/** Counts the new rows of each table after `work`. */
async function recordedBy(work: () => Promise<void>): Promise<Recorded> {
  const before = await counts();
  await work();
  const after = await counts();
  return Object.fromEntries(
    tables.flatMap((table, index) => {
      const more = (after[index] ?? 0) - (before[index] ?? 0);
      return more === 0 ? [] : [[table, more]];
    }),
  );
}

interface Prepared {
  /** Makes the request; returns its status. */
  ask(): Promise<number>;
  gives: number;
}

async function setOnboarding(verdict: 'approved' | 'rejected'): Promise<void> {
  const { onboarding } = await getOrganization(world.test.app, 'default');
  if (onboarding.status === verdict) return;
  await reviewOnboarding(world.test.app, 'default', { verdict });
}

/** Prepares the request of a route on resources of its own, and the expected records. */
async function prepare(route: Route): Promise<Prepared> {
  const name = `${route.method} ${route.path}`;
  const row = rows[name];
  if (!row) throw new Error(`${name} has no row in permission-rows.ts`);
  const { own } = world;
  const isReapply = route.path.endsWith('/onboarding/reapply');
  await setOnboarding(isReapply ? 'rejected' : 'approved');
  // Other parameters of the path belong to shared resources.
  const isShared = row.params !== undefined && !row.spends;
  const id = row.on && (isShared ? own.shared[row.on] : await own.fresh(row.on));
  serial++;
  // Two bodies of a route differ by the parity of their serials at least: the second one changes
  // something too.
  if ((serial - (lastSerials.get(name) ?? serial - 1)) % 2 === 0) serial++;
  lastSerials.set(name, serial);
  const { generation } = (await getOrganization(world.test.app, 'default')).onboarding;
  const body = isReapply ? { expectedGeneration: generation } : row.body?.(own, serial);
  const headers = row.headers?.(serial);
  if (route.path.endsWith('/catch-all/disable')) {
    const on = { domainId: own.shared.provenDomain, mailboxId: own.shared.mailbox };
    await own.api.request('POST', route.path.replace('disable', 'enable'), { body: on });
  }
  const options = { ...(body !== undefined && { body }), ...(headers && { headers }) };
  const url = `${pathOf(route.path, row, own, id ?? null)}${row.query ?? ''}`;
  return {
    ask: async () => (await own.api.request(route.method, url, options)).status,
    gives: isReapply ? 200 : row.gives,
  };
}

/** Reads all stored rows, without the times of the last use of keys. */
async function everything(): Promise<Record<string, unknown>> {
  const { db } = world.test.app.store;
  const named = sql<{ name: string }>`select name from sqlite_master where type = 'table'`;
  const found: Record<string, unknown> = {};
  for (const { name } of (await named.execute(db)).rows) {
    const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(db);
    found[name] = rows.map((row) => ({ ...row, last_used_at: null }));
  }
  return found;
}

const writing = routes.filter(({ method }) => method !== 'GET');

describe('the routes that write', () => {
  it.each(writing.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s is recorded',
    async (name, route) => {
      const where = Object.hasOwn(elsewhere, name) ? elsewhere[name] : 'audit_entries';
      const { ask, gives } = await prepare(route);
      const recorded = await recordedBy(async () => {
        expect(await ask()).toBe(gives);
      });
      expect(Object.keys(recorded)).toEqual(where === null ? [] : expect.arrayContaining([where]));
    },
  );

  it.each(
    writing
      .map((route) => [`${route.method} ${route.path}`, route] as const)
      .filter(([name]) => elsewhere[name] !== null),
  )('%s is rolled back when it cannot be recorded', async (name, route) => {
    const table = elsewhere[name] ?? 'audit_entries';
    const { ask } = await prepare(route);
    const before = await everything();
    await world.test.app.store.write((trx) =>
      sql`create trigger unrecorded before insert on ${sql.table(table)}
        begin select raise(abort, 'unrecorded'); end`.execute(trx),
    );
    try {
      expect(await ask()).toBeGreaterThanOrEqual(500);
    } finally {
      await world.test.app.store.write((trx) => sql`drop trigger unrecorded`.execute(trx));
    }
    expect(await everything()).toEqual(before);
  });

  it('have no outdated exception in this test', () => {
    const names = writing.map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(elsewhere).filter((name) => !names.includes(name))).toEqual([]);
  });
});
