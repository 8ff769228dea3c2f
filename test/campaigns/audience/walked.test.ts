// Audiences against a model beside the service, on both stores: random includes, excludes, groups
// and queries, over contacts that come, go and change between any two reads. A failure prints its
// seed; TEST_SEED repeats it.
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { lastContact } from '../../../src/campaigns/audience/audience.ts';
import { countFates } from '../../../src/campaigns/audience/fates.ts';
import { addressKeyOf, judgeContacts } from '../../../src/campaigns/audience/judge.ts';
import { readCandidates } from '../../../src/campaigns/audience/read-ahead.ts';
import type { AudienceSnapshot } from '../../../src/campaigns/audience/schema.ts';
import { deleteContact } from '../../../src/outbound/messages/forget/forget-contact.ts';
import { leaveAll } from '../../../src/outbound/unsubscribe-links/leave.ts';
import type { BlockReason } from '../../../src/people/blocks/schema.ts';
import { blockAddress } from '../../../src/people/blocks/suppression.ts';
import { createContact, updateContact } from '../../../src/people/contacts/contacts.ts';
import {
  addGroupMembers,
  createContactGroup,
  removeGroupMembers,
} from '../../../src/people/contacts/groups/groups.ts';
import type { ContactQuery } from '../../../src/people/contacts/groups/query-schema.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { type SkipReason, skipReasons } from '../../../src/run-ledger/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

interface Person {
  id: string;
  email: string | null;
  tags: string[];
  company: string | null;
  isArchived: boolean;
  wantsMail: boolean;
  isMember: boolean;
  isPending: boolean;
}

/**
 * Blocks of all mail by address, addresses that left the group, and addresses of messages by
 * contact.
 */
interface Model {
  people: Map<string, Person>;
  blocks: Map<string, Set<BlockReason>>;
  left: Set<string>;
  sent: Map<string, string>;
}

const tags = ['a', 'b', 'c"', 'd\\'];
const companies = ['Acme', 'acme 100%', 'A_me', 'Ärger "x"'];
const byWeight = ['complaint', 'bounce', 'unsubscribe', 'manual'] as const;
const low = (text: string) => text.replaceAll(/[A-Z]/g, (one) => one.toLowerCase());

function statusOf({ blocks }: Model, { isArchived, email }: Person) {
  const reason = byWeight.find((one) => blocks.get(email ?? '')?.has(one)) ?? 'manual';
  const statuses = { complaint: 'complained', bounce: 'bounced', unsubscribe: 'unsubscribed' };
  if (isArchived) return 'archived';
  return reason === 'manual' ? 'active' : statuses[reason];
}

function matches(model: Model, one: Person, query: ContactQuery): boolean {
  if (query.all) return query.all.every((inner) => matches(model, one, inner));
  if (query.any) return query.any.some((inner) => matches(model, one, inner));
  if (query.not) return !matches(model, one, query.not);
  if (query.tag !== undefined) return one.tags.includes(query.tag);
  if (query.status !== undefined) return statusOf(model, one) === query.status;
  const text = query.field === 'email' ? one.email : one.company;
  if (query.exists !== undefined) return (text !== null) === query.exists;
  if (query.isNot !== undefined) return text !== query.isNot;
  if (text === null) return false;
  if (query.is !== undefined) return text === query.is;
  if (query.in) return query.in.includes(text);
  if (query.startsWith !== undefined) return low(text).startsWith(low(query.startsWith));
  return low(text).includes(low(query.contains ?? ''));
}

function includes(model: Model, audience: AudienceSnapshot, one: Person): boolean {
  const { includeTags, contactIds, groupIds, queries } = audience;
  return (
    one.tags.some((tag) => includeTags.includes(tag)) ||
    contactIds.includes(one.id) ||
    (groupIds.length > 0 && one.isMember) ||
    queries.some((query) => matches(model, one, query))
  );
}

function fateOf(model: Model, audience: AudienceSnapshot, inGroup: boolean, one: Person) {
  const { email } = one;
  const blocks = model.blocks.get(email ?? '') ?? new Set();
  if (one.tags.some((tag) => audience.excludeTags.includes(tag))) return 'excluded';
  if (one.isArchived) return 'archived';
  if (email === null) return 'no-address';
  if ((['bounce', 'complaint', 'manual'] as const).some((one) => blocks.has(one))) return 'blocked';
  if (blocks.has('unsubscribe') || (inGroup && model.left.has(email))) return 'unsubscribed';
  if (inGroup && one.isPending) return 'pending';
  if (!one.wantsMail) return 'preference';
  return [...model.sent.values()].includes(email) ? 'duplicate' : null;
}

const leaf = fc.oneof(
  fc.constantFrom(...tags).map((tag) => ({ tag })),
  fc.constantFrom('active', 'archived', 'bounced', 'complained', 'unsubscribed').map((status) => ({
    status: status as NonNullable<ContactQuery['status']>,
  })),
  fc.constantFrom(...companies).map((is) => ({ field: 'profile.company', is })),
  fc
    .constantFrom('acme', '%', '_', 'ÄR', 'r "', '\\')
    .map((contains) => ({ field: 'profile.company', contains })),
  fc.boolean().map((exists) => ({ field: 'profile.company', exists })),
  fc.constantFrom(...companies).map((isNot) => ({ field: 'profile.company', isNot })),
  fc.subarray(companies, { minLength: 1 }).map((list) => ({ field: 'profile.company', in: list })),
  fc
    .constantFrom('A', 'ac', 'Ä', '%', '_')
    .map((startsWith) => ({ field: 'profile.company', startsWith })),
  fc
    .constantFrom('u1', 'U2', '@example')
    .chain((part) => fc.constantFrom({ startsWith: part }, { contains: part }, { exists: true }))
    .map((comparison) => ({ field: 'email', ...comparison })),
);
const { node: anyQuery } = fc.letrec<{ node: ContactQuery }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
    tie('node').map((not) => ({ not })),
  ),
}));
const someTags = fc.subarray(tags);

describe.each(stores)('an audience that is walked on %s', (store) => {
  const test = eachApp({ store });

  it('finds and judges contacts as the model does', async () => {
    const { app, caller } = test;
    const { organizationId } = caller;
    const news = await createGroup(app, caller, { name: 'News' });
    const members = await createContactGroup(app, caller, { name: 'Members' });
    let serial = 0;
    // Contacts of earlier runs stay.
    const model: Model = { people: new Map(), blocks: new Map(), left: new Set(), sent: new Map() };

    async function come(draw: fc.GeneratorValue): Promise<void> {
      const own = draw(() => someTags);
      const email = draw(() => fc.constantFrom(true, true, true, false))
        ? `u${serial++}@example.com`
        : null;
      const company = draw(() => fc.constantFrom(null, ...companies));
      const identities = email === null ? [] : [{ channel: 'email' as const, identifier: email }];
      const profile = company === null ? undefined : { company };
      const { id } = await createContact(app, caller, { identities, tags: own, profile });
      const facts = { isArchived: false, wantsMail: true, isMember: false, isPending: false };
      model.people.set(id, { id, email, tags: own, company, ...facts });
    }

    const changes: ((model: Model, one: Person, draw: fc.GeneratorValue) => Promise<unknown>)[] = [
      async (model, one) => {
        model.people.delete(one.id);
        // The ledger forgets the address with its contact.
        model.sent.delete(one.id);
        await deleteContact(app, caller, one.id);
      },
      (_model, one, draw) => {
        one.tags = draw(() => someTags);
        return updateContact(app, caller, one.id, { tags: one.tags });
      },
      (_model, one) => {
        one.isArchived = !one.isArchived;
        const status = one.isArchived ? 'archived' : 'active';
        return updateContact(app, caller, one.id, { status });
      },
      (_model, one, draw) => {
        one.company = draw(() => fc.constantFrom(null, ...companies));
        return updateContact(app, caller, one.id, { profile: { company: one.company } });
      },
      (_model, one) => {
        one.wantsMail = !one.wantsMail;
        const preferences = { notifications: { email: one.wantsMail } };
        return updateContact(app, caller, one.id, { preferences });
      },
      (_model, one) => {
        one.isMember = !one.isMember;
        const work = one.isMember ? addGroupMembers : removeGroupMembers;
        return work(app, caller, members.id, [one.id]);
      },
      (_model, one) => {
        one.isPending = !one.isPending;
        const status = one.isPending ? 'pending' : 'confirmed';
        return app.store.write((trx) =>
          sql`insert into group_confirmations
            (group_id, contact_id, organization_id, status, mails, created_at)
            values (${news.id}, ${one.id}, ${organizationId}, ${status}, 1, 1)
            on conflict (group_id, contact_id) do update set status = ${status}`.execute(trx),
        );
      },
      async (model, { email: address }, draw) => {
        if (address === null) return;
        const reason = draw(() => fc.constantFrom(...byWeight));
        model.blocks.set(address, new Set(model.blocks.get(address)).add(reason));
        const block = { organizationId, address, reason, messageId: null };
        await app.store.write((trx) => blockAddress(app, trx, block));
      },
      async (model, { email: address }) => {
        if (address === null) return;
        model.left.add(address);
        const leaver = { organizationId, address, groupId: news.id, messageId: null };
        await app.store.write((trx) => leaveAll(app, trx, [{ ...leaver, scope: 'group' }]));
      },
      // Takes over the address of a contact that is gone.
      async (model, one) => {
        const taken = new Set([...model.people.values()].map(({ email }) => email));
        const free = [...model.sent.values()].find((address) => !taken.has(address));
        if (free === undefined) return;
        one.email = free;
        await updateContact(app, caller, one.id, { email: free });
      },
    ];

    async function change(model: Model, draw: fc.GeneratorValue, most: number): Promise<void> {
      for (let left = draw(() => fc.nat({ max: most })); left > 0; left--) {
        const people = [...model.people.values()];
        const work = draw(() => fc.constantFrom(null, ...changes));
        if (work === null || people.length === 0) await come(draw);
        else
          await work(
            model,
            draw(() => fc.constantFrom(...people)),
            draw,
          );
      }
    }

    await fc.assert(
      fc.asyncProperty(fc.gen(), async (draw) => {
        const start = await lastContact(app.store.db, organizationId);
        model.sent.clear();
        for (let i = 0; i < 6; i++) await come(draw);
        await change(model, draw, 8);
        const until = (await lastContact(app.store.db, organizationId)) ?? '';
        const audience: AudienceSnapshot = {
          includeTags: draw(() => someTags),
          excludeTags: draw(() => fc.constantFrom(true, false)) ? [] : draw(() => someTags),
          contactIds: draw(() => fc.subarray([...model.people.keys()], { maxLength: 3 })),
          groupIds: draw(() => fc.constantFrom([], [members.id])),
          queries: draw(() => fc.array(anyQuery, { maxLength: 2 })),
          at: app.clock.now(),
        };
        const group = draw(() => fc.constantFrom(null, news.id));
        const everybody = [...model.people.values()].filter((one) =>
          includes(model, audience, one),
        );
        const fates = everybody.map((one) => fateOf(model, audience, group !== null, one));
        const count = (fate: SkipReason | null) => fates.filter((one) => one === fate).length;
        const question = { organizationId, audience, unsubscribeGroupId: group };
        const sizes = draw(() => fc.constantFrom({}, { slice: 4 }, { slice: 7, judgedEach: 0 }));
        expect(await countFates(app.store, question, sizes)).toEqual({
          ...{ total: fates.length, dispatch: count(null) },
          skipped: Object.fromEntries(skipReasons.map((reason) => [reason, count(reason)])),
        });
        const runId = `run_${serial++}`;
        await app.store.write((trx) =>
          sql`insert into campaign_runs (id, organization_id, campaign_id, status, fingerprint, only_new,
              total_recipients, dispatched_count, failed_count, skipped_count, is_test, created_at, updated_at)
            values (${runId}, ${organizationId}, 'camp_1', 'running', '', 0, 0, 0, 0, 0, 0, 1, 1)`.execute(
            trx,
          ),
        );
        const isIn = (id: string) => {
          const one = model.people.get(id);
          return audience.contactIds.includes(id) || (one && includes(model, audience, one));
        };
        for (let after = start; after !== until; ) {
          const limit = draw(() => fc.integer({ min: 1, max: 4 }));
          const asked = { runId, after, until, limit };
          const { ids, reached } = await readCandidates(app, organizationId, audience, asked);
          const known = [...new Set([...model.people.keys(), ...audience.contactIds])].sort();
          expect(ids).toEqual(
            known.filter((id) => id > (after ?? '') && id <= reached && isIn(id)),
          );
          expect(ids.length === limit || reached === until).toBe(true);
          await change(model, draw, 3);
          await app.store.write(async (trx) => {
            const asked = { ...question, runId, omitRunIds: [] };
            const judged = await judgeContacts(trx, asked, ids);
            const there = ids.flatMap((id) => model.people.get(id) ?? []);
            const expected = there
              .filter((one) => includes(model, audience, one))
              .map((one) => {
                const skip = fateOf(model, audience, group !== null, one);
                if (skip === null && one.email !== null) model.sent.set(one.id, one.email);
                return [one.id, skip, skip === null ? one.email : undefined];
              });
            expect(
              judged.map((one) => [
                one.contactId,
                one.skip,
                'email' in one ? one.email : undefined,
              ]),
            ).toEqual(expected);
            for (const one of judged) {
              const key = one.skip === null ? addressKeyOf(one.email) : null;
              await sql`insert into campaign_recipients (run_id, contact_id, outcome, address_key, created_at)
                values (${runId}, ${one.contactId}, ${key === null ? 'skipped' : 'dispatched'}, ${key}, 1)`.execute(
                trx,
              );
            }
          });
          after = reached;
          await change(model, draw, 3);
        }
      }),
      {
        numRuns: store === 'sqlite' ? 60 : 20,
        ...(process.env.TEST_SEED && { seed: Number(process.env.TEST_SEED) }),
      },
    );
  });
});
