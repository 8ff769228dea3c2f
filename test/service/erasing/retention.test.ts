// The audit log, actions and events are kept for the configured time.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sweepAudit } from '../../../src/history/audit/retention.ts';
import { sweepEvents } from '../../../src/history/events/retention.ts';
import { sweepActions } from '../../../src/inbox/approvals/retention.ts';
import { apiOf, config as deskConfig, deskOf } from '../../inbox/replies/world.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

const dayMs = 86_400_000;

describe.each(stores)('configured retention on %s', (store) => {
  const retention = { auditDays: 30, actionsDays: 20, eventsDays: 10 };
  const kept = eachApi({ store, config: { ...deskConfig, retention } });

  const count = async (table: string) => {
    const query = sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`;
    return Number((await query.execute(kept.test.app.store.db)).rows[0]?.n);
  };
  const later = (days: number) => kept.test.clock.advance(days * dayMs);

  it('deletes entries, actions and events when they are old enough, not before', async () => {
    const desk = await deskOf(kept);
    const agent = await apiOf(kept, { name: 'agent' });
    const mail = { to: ['ada@example.com'], subject: 'x', text: 'x' };
    await desk.send(mail, agent);
    await later(9);
    const sweeps = [sweepEvents, sweepActions, sweepAudit];
    for (const sweep of sweeps) expect(await sweep(kept.test.app)).toBe(0);
    await later(2);
    await sweepEvents(kept.test.app);
    expect(await count('resource_events')).toBe(0);
    await later(10);
    expect(await sweepActions(kept.test.app)).toBe(1);
    expect(await count('audit_entries')).toBeGreaterThan(0);
    await later(10);
    await sweepAudit(kept.test.app);
    expect(await count('audit_entries')).toBe(0);
  });

  it('keeps a proposal that waits for a decision', async () => {
    const desk = await deskOf(kept);
    const constraints = { mailboxIds: [desk.id] };
    const agent = await apiOf(kept, { name: 'agent', constraints, sendMode: 'approval' });
    await desk.send({ to: ['ada@example.com'], subject: 'x', text: 'x' }, agent);
    await later(30);
    expect(await sweepActions(kept.test.app)).toBe(0);
    expect(await count('mailbox_proposals')).toBe(1);
  });
});

describe('retention without configuration', () => {
  const own = eachApi({ config: deskConfig });

  it('keeps the audit log and actions forever', async () => {
    const desk = await deskOf(own);
    const agent = await apiOf(own, { name: 'agent' });
    await desk.send({ to: ['ada@example.com'], subject: 'x', text: 'x' }, agent);
    await own.test.clock.advance(36_000 * dayMs);
    expect([await sweepAudit(own.test.app), await sweepActions(own.test.app)]).toEqual([0, 0]);
  });
});
