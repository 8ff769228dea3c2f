// Runs to groups by query that cost a millisecond for each contact: the event loop never pays for
// them.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createContactGroup } from '../../../src/people/contacts/groups/groups.ts';
import { eachApp } from '../../support/each-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

const largeQuery = {
  any: Array.from({ length: 50 }, (_, at) => ({
    field: 'profile.customFields.notes',
    contains: at === 49 ? 'yes' : `no${at}`,
  })),
};

describe('a run to a group by query', () => {
  const test = eachApp();
  const group = async (name: string) =>
    (await createContactGroup(test.app, test.operator, { name, query: largeQuery })).id;

  it('compares contacts beside the event loop only', async () => {
    const { app, operator } = test;
    const ids = await makeContacts(app, operator, 20);
    const profile = JSON.stringify({ customFields: { notes: 'yes' } });
    const some = ids.slice(5);
    await app.store.write((trx) =>
      sql`update contacts set profile = ${profile} where id >= ${some[0]}`.execute(trx),
    );
    const audience = { groupIds: [await group('Yes')] };
    const run = await makeRun(app, operator, await makeCampaign(app, operator, { audience }));
    const queries = watchQueries();
    try {
      await whileWalking(app, (loop) => loop.idle());
      const compared = queries.take().filter(({ text }) => text.includes('lower(contacts.profile'));
      expect(compared).toEqual([]);
    } finally {
      queries.stop();
    }
    expect(await readRun(app, operator, run)).toMatchObject({
      status: 'completed',
      dispatchedCount: 15,
      totalRecipients: 15,
    });
  });

  it('is refused with more than 100 conditions in all', async () => {
    const groupIds = [await group('One'), await group('Two'), await group('Three')];
    const made = makeCampaign(test.app, test.operator, { audience: { groupIds } });
    await expect(made).rejects.toThrow(/at most 100 conditions .* these have 150/);
  });
});
