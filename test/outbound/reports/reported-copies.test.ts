// The reach of a token: the recipients of its transaction at its domain, and nobody else.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { findDeliveries } from '../../../src/outbound/deliveries/queries.ts';
import { copiesOf } from '../../../src/outbound/reports/reported-copies.ts';
import { send } from '../../support/delivery.ts';
import { testApp } from '../../support/test-app.ts';

it('a token covers the recipients of its own domain among domains with the same mail hosts', async () => {
  const { app, caller, close } = await testApp();
  try {
    const to = ['ada@a.example', 'bob@a.example', 'cy@b.example', 'dan@a.example'];
    const { id, deliveries } = await send(app, caller, to);
    const deliveryId = deliveries[0]?.id ?? '';
    const transaction = 'one transaction';
    await app.store.write((trx) =>
      sql`update deliveries set transaction_id = ${transaction}
        where message_id = ${id} and email in ('bob@a.example', 'cy@b.example')`.execute(trx),
    );
    const siblings = await findDeliveries(app.store.db, [id]);
    const found = copiesOf({ transaction, deliveryId }, siblings);
    expect(found?.copies.map(({ email }) => email)).toEqual(['ada@a.example', 'bob@a.example']);
    expect(copiesOf({ transaction, deliveryId: 'dlv_none' }, siblings)).toBeNull();
  } finally {
    await close();
  }
});
