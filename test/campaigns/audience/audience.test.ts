// The checks of an audience, its snapshot, and the judging of contacts that a model does not have,
// on both stores.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { assertAudience, snapshotAudience } from '../../../src/campaigns/audience/audience.ts';
import { addressKeyOf, judgeContacts } from '../../../src/campaigns/audience/judge.ts';
import { readCandidates } from '../../../src/campaigns/audience/read-ahead.ts';
import { type Audience, audienceInput } from '../../../src/campaigns/audience/schema.ts';
import { parseWith } from '../../../src/core/api/validate.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { addGroupMembers, createContactGroup } from '../../../src/people/contacts/groups/groups.ts';
import { contactGroupNoun } from '../../../src/people/contacts/groups/schema.ts';
import { contactNoun } from '../../../src/people/contacts/schema.ts';
import type { ResourceNotFoundError, ValidationError } from '../../../src/platform/errors.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

const manyOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(24, '0')}`);

function problemsOf(audience: unknown): string[] {
  try {
    parseWith(audienceInput, audience, 'body');
    return [];
  } catch (error) {
    const { fieldErrors = {} } = error as ValidationError;
    return Object.entries(fieldErrors).map(([field, [text]]) => `${field}: ${text}`);
  }
}

describe('the input of an audience', () => {
  it.each([
    ['text', 'all', 'body: must be an object, not a string'],
    ['an unknown field', { tags: ['a'] }, 'tags: unknown field'],
    [
      'one tag as text',
      { includeTags: 'a' },
      'includeTags: must be a list, not a string: write ["a"]',
    ],
    ['a tag with a comma', { includeTags: ['a,b'] }, /^includeTags\.0: must have no comma/],
    ['101 tags', { includeTags: manyOf('t', 101) }, 'includeTags: must have at most 100 entries'],
    [
      '101 excluded',
      { excludeTags: manyOf('t', 101) },
      'excludeTags: must have at most 100 entries',
    ],
    [
      'a group among contacts',
      { contactIds: manyOf('grp_', 1) },
      'contactIds.0: is not a contact id',
    ],
    ['a contact among groups', { groupIds: manyOf('contact_', 1) }, /^groupIds\.0: is not a/],
    ['101 groups', { groupIds: manyOf('grp_', 101) }, 'groupIds: must have at most 100 entries'],
    [
      '10,001 contacts',
      { contactIds: [...manyOf('contact_', 10_000), 7] },
      'contactIds: must have at most 10000 entries',
    ],
  ])('refuses %s', (_what, audience, problem) => {
    const [first] = problemsOf(audience);
    if (problem instanceof RegExp) expect(first).toMatch(problem);
    else expect(first).toBe(problem);
  });

  it('takes 10,000 contacts, 100 tags and 100 groups', () => {
    const [contactIds, groupIds] = [manyOf('contact_', 10_000), manyOf('grp_', 100)];
    expect(problemsOf({ contactIds, groupIds, includeTags: manyOf('t', 100) })).toEqual([]);
  });
});

describe.each(bothStores)('an audience on %s', (store) => {
  const test = eachApp({ store });
  const none: Audience = { includeTags: [], excludeTags: [], contactIds: [], groupIds: [] };

  const refusalOf = (audience: Partial<Audience>) =>
    assertAudience(test.app.store.db, test.caller.organizationId, { ...none, ...audience }).then(
      () => 'taken',
      (error: ValidationError | ResourceNotFoundError) => error.fields(),
    );
  const fieldsOf = async (audience: Partial<Audience>) => {
    const refusal = await refusalOf(audience);
    return typeof refusal === 'object' && 'fields' in refusal ? refusal.fields : refusal;
  };

  it('is refused if it includes nothing', async () => {
    const problem = ['needs at least one of includeTags, contactIds, groupIds'];
    expect(await fieldsOf({ excludeTags: ['a'] })).toEqual({ audience: problem });
  });

  it('is refused if it excludes all that it includes', async () => {
    const problem = ['excludes all that the audience includes'];
    const audience = { includeTags: ['a', 'b'], excludeTags: ['b', 'c', 'a'] };
    expect(await fieldsOf(audience)).toEqual({ 'audience.excludeTags': problem });
    expect(await fieldsOf({ ...audience, excludeTags: ['a'] })).toBe('taken');
  });

  it('answers 404 that names an unknown contact or group', async () => {
    const { app, caller } = test;
    const { id } = await createContact(app, caller, { email: 'ada@example.com' });
    const unknown = app.newId(contactNoun);
    const contact = { resource: 'contact', id: unknown };
    expect(await fieldsOf({ contactIds: [id, unknown] })).toEqual(contact);
    const group = app.newId(contactGroupNoun);
    expect(await fieldsOf({ contactIds: [id], groupIds: [group] })).toEqual({
      resource: 'contact-group',
      id: group,
    });
    expect(await fieldsOf({ contactIds: [id] })).toBe('taken');
  });

  it('does not know contacts and groups of another organization', async () => {
    const { app, caller } = test;
    const { id } = await createContact(app, caller, { email: 'ada@example.com' });
    const group = await createContactGroup(app, caller, { name: 'Testers' });
    const asOther = (audience: Partial<Audience>) =>
      assertAudience(app.store.db, 'org_other', { ...none, ...audience });
    await expect(asOther({ contactIds: [id] })).rejects.toMatchObject({ id });
    await expect(asOther({ groupIds: [group.id] })).rejects.toMatchObject({ id: group.id });
  });

  it('keeps the query of a group that is deleted', async () => {
    const { app, caller } = test;
    const { organizationId } = caller;
    const { id } = await createContact(app, caller, { email: 'ada@example.com', tags: ['vip'] });
    const group = await createContactGroup(app, caller, { name: 'Very important' });
    const query = JSON.stringify({ tag: 'vip' });
    const { db } = app.store;
    await app.store.write((trx) =>
      sql`update contact_groups set query = ${query} where id = ${group.id}`.execute(trx),
    );
    const audience = { ...none, groupIds: [group.id] };
    const snapshot = await snapshotAudience(db, organizationId, audience, app.clock.now());
    await app.store.write((trx) => sql`delete from contact_groups`.execute(trx));
    const asked = { runId: 'run_1', after: null, until: id, limit: 5 };
    const found = await readCandidates(app, organizationId, snapshot, asked);
    expect(found).toEqual({ ids: [id], reached: id });
    const gone = await snapshotAudience(db, organizationId, audience, app.clock.now());
    expect((await readCandidates(app, organizationId, gone, asked)).ids).toEqual([]);
  });

  describe('that is judged', () => {
    const judge = (ids: readonly string[], audience: Audience | null, omitRunIds: string[] = []) =>
      test.app.store.write((trx) =>
        judgeContacts(
          trx,
          {
            organizationId: test.caller.organizationId,
            ...{ runId: 'run_new', unsubscribeGroupId: null, omitRunIds },
            audience: audience && { ...audience, queries: [], at: 0 },
          },
          ids,
        ),
      );

    const insertRun = (id: string) =>
      test.app.store.write((trx) =>
        sql`insert into campaign_runs (id, organization_id, campaign_id, status, fingerprint, only_new,
            total_recipients, dispatched_count, failed_count, skipped_count, is_test, created_at, updated_at)
          values (${id}, ${test.caller.organizationId}, 'camp_1', 'running', '', 0, 0, 0, 0, 0, 0, 1, 1)`.execute(
          trx,
        ),
      );

    it('gives the address, the name and the quiet hours of a contact', async () => {
      const { app, caller } = test;
      const quiet_hours = { start: '22:00', end: '07:00' };
      const { id } = await createContact(app, caller, {
        ...{ email: 'Ada@example.com', name: 'Ada', tags: ['a'] },
        profile: { location: { timezone: 'Europe/Paris' } },
        preferences: { notifications: { quiet_hours } },
      });
      const other = await createContact(app, caller, {
        ...{ email: 'bob@example.com', tags: ['a'] },
        profile: { location: { timezone: 'Europe/Paris' } },
        preferences: { timezone: 'Asia/Tokyo' },
      });
      const [ada, bob] = await judge([id, other.id], { ...none, includeTags: ['a'] });
      expect(ada).toMatchObject({ contactId: id, email: 'Ada@example.com', name: 'Ada' });
      expect(ada).toMatchObject({ skip: null, quietHours: quiet_hours, timezone: 'Europe/Paris' });
      expect(bob).toMatchObject({ name: null, quietHours: null, timezone: 'Asia/Tokyo' });
    });

    it('has every given contact of a run without an audience', async () => {
      const { app, caller } = test;
      const { id } = await createContact(app, caller, { email: 'ada@example.com' });
      const missing = app.newId(contactNoun);
      const judged = await judge([id, missing], null);
      expect(judged.map(({ contactId, skip }) => [contactId, skip])).toEqual([[id, null]]);
    });

    it('skips a contact whose address the run has sent to', async () => {
      const { app, caller } = test;
      const { id } = await createContact(app, caller, { email: 'ada@example.com' });
      const other = await createContact(app, caller, { email: 'bob@example.com' });
      await insertRun('run_new');
      const addressKey = addressKeyOf('ada@example.com');
      await app.store.write((trx) =>
        sql`insert into campaign_recipients (run_id, contact_id, outcome, address_key, created_at)
          values ('run_new', 'contact_gone', 'dispatched', ${addressKey}, 1)`.execute(trx),
      );
      const judged = await judge([id, other.id], null);
      expect(judged.map(({ skip }) => skip)).toEqual(['duplicate', null]);
    });

    it('keeps all groups of an audience, and the queries among them', async () => {
      const { app, caller } = test;
      const { db } = app.store;
      const byHand = await createContactGroup(app, caller, { name: 'By hand' });
      const query = { tag: 'vip' };
      const byQuery = await createContactGroup(app, caller, { name: 'By query', query });
      const audience = { ...none, groupIds: [byQuery.id, byHand.id] };
      const kept = await snapshotAudience(db, caller.organizationId, audience, 1);
      expect(kept).toEqual({ ...audience, queries: [query], at: 1 });
    });

    it('leaves out contacts that an earlier run has judged', async () => {
      const { app, caller } = test;
      const ids: string[] = [];
      for (const name of ['a', 'b']) {
        ids.push((await createContact(app, caller, { email: `${name}@example.com` })).id);
      }
      const group = await createContactGroup(app, caller, { name: 'Both' });
      await addGroupMembers(app, caller, group.id, ids);
      await insertRun('run_old');
      await app.store.write((trx) =>
        sql`insert into campaign_recipients (run_id, contact_id, outcome, created_at)
          values ('run_old', ${ids[0]}, 'skipped', 1)`.execute(trx),
      );
      const audience = { ...none, groupIds: [group.id] };
      const idsOf = async (omit: string[]) =>
        (await judge(ids, audience, omit)).map(({ contactId }) => contactId);
      expect(await idsOf(['run_old'])).toEqual([ids[1]]);
      expect(await idsOf([])).toEqual(ids);
    });
  });
});
