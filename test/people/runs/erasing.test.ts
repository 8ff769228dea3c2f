// The ledger of runs after the deletion of a contact or a message.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { deleteContact } from '../../../src/outbound/messages/forget/forget-contact.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { findRunCounts } from '../../../src/run-ledger/counters.ts';
import { insertRecipients, type RecipientRow } from '../../../src/run-ledger/queries.ts';
import { mark, tracesInTables } from '../../service/erasing/traces.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { giveToRun, newRun } from './entries.ts';

describe.each(stores)('the ledger of a run on %s', (store) => {
  const test = eachApp({ store });

  const insert = async (runId: string, contactId: string, more: Partial<RecipientRow>) => {
    const row: RecipientRow = {
      run_id: runId,
      contact_id: contactId,
      outcome: 'dispatched',
      reason: null,
      message_id: 'msg_1',
      address_key: 12_345,
      created_at: test.clock.now(),
      opened_at: 1,
      clicked_at: null,
      unsubscribed_at: null,
      ...more,
    };
    await test.app.store.write((trx) => insertRecipients(trx, [row]));
  };
  const ledger = async () => {
    const rows = sql<RecipientRow>`select contact_id, outcome, reason, address_key
      from campaign_recipients order by contact_id, run_id`;
    return (await rows.execute(test.app.store.db)).rows;
  };

  it('keeps only the id and the outcome of a deleted contact', async () => {
    const { app, operator } = test;
    const { id } = await createContact(app, operator, { email: 'ada@example.com' });
    const other = await createContact(app, operator, { email: 'bob@example.com' });
    const runIds = [
      await newRun(app, operator.organizationId),
      await newRun(app, operator.organizationId),
      await newRun(app, operator.organizationId),
    ];
    const [first = '', second = '', third = ''] = runIds;
    await insert(first, id, {});
    await insert(second, id, { outcome: 'failed', reason: `${mark} is missing` });
    await insert(third, id, { outcome: 'skipped', reason: 'blocked', address_key: null });
    await insert(first, other.id, {});
    await deleteContact(app, operator, id);
    expect(await ledger()).toEqual([
      { contact_id: id, outcome: 'dispatched', reason: null, address_key: null },
      { contact_id: id, outcome: 'failed', reason: null, address_key: null },
      { contact_id: id, outcome: 'skipped', reason: 'blocked', address_key: null },
      { contact_id: other.id, outcome: 'dispatched', reason: null, address_key: 12_345 },
    ]);
    expect(await tracesInTables(app)).toEqual([]);
  });

  it('outlives the message, whose values go with it', async () => {
    const { app, operator } = test;
    const { id } = await createContact(app, operator, { email: 'ada@example.com' });
    const runId = await newRun(app, operator.organizationId);
    const message = await send(app, operator, 'ada@example.com');
    await giveToRun(app, runId, [message.id], new Map([[message.id, id]]));
    await app.store.write((trx) =>
      sql`insert into message_values (message_id, merge_data)
        values (${message.id}, ${JSON.stringify({ name: mark })})`.execute(trx),
    );
    await deleteMessage(app, operator, message.id);
    expect(await ledger()).toHaveLength(1);
    expect(await tracesInTables(app)).toEqual([]);
  });

  it('and the counters are as before after the deletion of a message', async () => {
    const { app, operator } = test;
    const runId = await newRun(app, operator.organizationId);
    const message = await send(app, operator, 'ada@example.com');
    await giveToRun(app, runId, [message.id]);
    const counts = async () => (await findRunCounts(app.store.db, [runId]))(runId);
    const before = await counts();
    await deleteMessage(app, operator, message.id);
    expect(await counts()).toEqual(before);
  });
});
