// The end of an attempt alone: the data of earlier attempts that a delivery keeps.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { settleAll } from '../../../src/outbound/queue/settling/settle.ts';
import { firstDelivery } from '../../support/delivery.ts';
import { testApp } from '../../support/test-app.ts';
import { claim, queued, rowOf } from './entries.ts';

it('a delivery keeps its latest 20 attempts, the oldest first', async () => {
  const { app, caller, clock, close } = await testApp();
  try {
    const { id, message_id } = await queued(app, caller, 'ada@example.com');
    const earlier = Array.from({ length: 20 }, (_, at) => ({ number: at + 1, transcript: null }));
    await app.store.write((trx) =>
      sql`update deliveries set attempt_count = 20, attempts = ${JSON.stringify(earlier)}
        where id = ${id}`.execute(trx),
    );
    expect(await claim(app)).toEqual(['ada@example.com']);
    const delivery = await rowOf(app, message_id);
    const nobody = { host: null, address: null, tls: null, transcript: '' };
    await app.store.write((trx) =>
      settleAll(app, trx, 'wrk_test', [
        {
          delivery,
          fromEmail: 'hello@sandbox.test',
          outcome: {
            kind: 'deferred',
            errorCode: 'mailbox-full',
            reply: { code: 452, enhancedCode: '4.2.2', text: 'full', verb: 'RCPT' },
            trace: { ...nobody, startedAt: clock.now(), durationMs: 1 },
          },
          routeKind: 'direct',
          sentIsDelivered: true,
          aftermath: null,
          isSole: true,
        },
      ]),
    );
    const { attempts } = await firstDelivery(app, caller, message_id);
    const latest = Array.from({ length: 20 }, (_, at) => at + 2);
    expect(attempts.map(({ number }) => number)).toEqual(latest);
  } finally {
    await close();
  }
});
