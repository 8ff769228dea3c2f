// Units of work that run again after another transaction took a unique value.
import { describe, expect, it } from 'vitest';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { contacts } from '../../../src/people/contacts/queries.ts';
import { contactNoun } from '../../../src/people/contacts/schema.ts';
import { orAgain } from '../../../src/platform/store/again.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

describe.each(bothStores)('work that may run again on %s', (store) => {
  const test = eachApp({ store });

  /** Fails this many times with a duplicate of this store, then succeeds. */
  async function meeting(times: number) {
    const { app, operator } = test;
    const input = {
      email: `${app.newId(contactNoun)}@example.com`,
      externalId: app.newId(contactNoun),
    };
    const { id } = await createContact(app, operator, input);
    const row = await contacts.get(app.store.db, operator.organizationId, id);
    const twin = { ...row, id: app.newId(contactNoun) };
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs > times) return 'done';
      return app.store.write((trx) => contacts.insert(trx, twin));
    };
    return { work, runs: () => runs };
  }

  it('runs once more after a duplicate, and as often as allowed after several', async () => {
    const once = await meeting(1);
    expect(await orAgain(once.work)).toBe('done');
    const often = await meeting(3);
    expect(await orAgain(often.work, 3)).toBe('done');
    expect([once.runs(), often.runs()]).toEqual([2, 4]);
  });

  it('ends with the last duplicate, or with any other error at once', async () => {
    const { work, runs } = await meeting(2);
    await expect(orAgain(work)).rejects.toThrow(/unique/i);
    expect(runs()).toBe(2);
    let others = 0;
    const fails = async () => {
      others += 1;
      throw new Error('not so');
    };
    await expect(orAgain(fails)).rejects.toThrow('not so');
    expect(others).toBe(1);
  });
});
