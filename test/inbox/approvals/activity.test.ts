// Agent-activity takes whole hours from counters and partial ones from rows; its answer equals a
// count of all rows for any range. Counters equal rows after any sequence of moves.
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import {
  createMailbox,
  pauseMailbox,
  resumeMailbox,
  updateMailbox,
} from '../../../src/identity/mailboxes/mailboxes.ts';
import type { Mailbox } from '../../../src/identity/mailboxes/schema.ts';
import { expireActions, rejectAction } from '../../../src/inbox/approvals/actions.ts';
import type { MailboxActivity } from '../../../src/inbox/approvals/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { act, callerOf, propose } from './fixtures.ts';

const minute = 60_000;
let serial = 0;

describe.each(stores)('agent-activity on %s', (store) => {
  const { test, api } = eachApi({ store });
  let mailbox: Mailbox;
  let agent: Caller;
  beforeEach(async () => {
    const { app, operator } = test;
    mailbox = await createMailbox(app, operator, { slug: 'desk' });
    agent = await callerOf(app, operator, { role: 'developer', name: 'agent' });
    await createKey(app, operator, { role: 'owner' });
  });

  const activity = async (query = '') =>
    (await api.get<MailboxActivity>(`/v1/mailboxes/${mailbox.id}/agent-activity${query}`)).body;

  it('counts actions by type and state, events by type, and open proposals', async () => {
    const { app, operator } = test;
    await act(app, agent, mailbox.id, 'note');
    await act(app, agent, mailbox.id, 'label');
    await act(app, agent, mailbox.id, 'label');
    const { id } = await propose(app, mailbox.id, agent);
    await propose(app, mailbox.id, agent);
    await rejectAction(app, operator, { mailboxId: mailbox.id, actionId: id }, {});
    expect(await activity()).toEqual({
      actions: {
        byType: [
          { type: 'label', count: 2 },
          { type: 'note', count: 1 },
          { type: 'reply', count: 2 },
        ],
        byState: [
          { state: 'executed', count: 3 },
          { state: 'proposed', count: 1 },
          { state: 'rejected', count: 1 },
        ],
      },
      events: {
        byType: [
          { type: 'mailbox.action.proposed', count: 2 },
          { type: 'mailbox.action.rejected', count: 1 },
          { type: 'mailbox.created', count: 1 },
        ],
      },
      pendingApprovals: 1,
    });
  });

  it('is null or zero for an empty range', async () => {
    await act(test.app, agent, mailbox.id);
    const none = {
      actions: { byType: [], byState: [] },
      events: { byType: [] },
      pendingApprovals: 0,
    };
    expect(await activity('?after=2026-01-06T00:00:00Z&before=2026-01-05T00:00:00Z')).toEqual(none);
    expect(await activity('?before=1960-01-01T00:00:00Z')).toEqual(none);
    expect(await activity('?after=2999-01-01T00:00:00Z')).toEqual(none);
    expect((await activity('?after=1960-01-01T00:00:00Z')).actions.byType).toHaveLength(1);
    const bad = await api.get(`/v1/mailboxes/${mailbox.id}/agent-activity?after=yesterday`);
    expect(bad.status).toBe(422);
  });

  /** Computes the same from the rows alone. */
  async function counted(from: number, to: number) {
    const { db } = test.app.store;
    const of = async (table: string, column: string, at: string, whose: string) => {
      const { rows } = await sql<{ name: string; count: number | string }>`
        select ${sql.ref(column)} as name, count(*) as count from ${sql.table(table)}
        where ${sql.ref(whose)} = ${mailbox.id} and ${sql.ref(at)} >= ${from}
          and ${sql.ref(at)} < ${to} group by 1 order by 1`.execute(db);
      return rows.map(({ name, count }) => [name, Number(count)]);
    };
    return {
      byType: await of('mailbox_actions', 'type', 'created_at', 'mailbox_id'),
      byState: await of('mailbox_actions', 'state', 'created_at', 'mailbox_id'),
      events: await of('resource_events', 'event_type', 'timestamp', 'subject'),
    };
  }

  async function shown(query: string) {
    const { actions, events } = await activity(query);
    return {
      byType: actions.byType.map(({ type, count }) => [type, count]),
      byState: actions.byState.map(({ state, count }) => [state, count]),
      events: events.byType.map(({ type, count }) => [type, count]),
    };
  }

  const steps = {
    note: () => act(test.app, agent, mailbox.id, 'note'),
    move: () => act(test.app, agent, mailbox.id, 'move'),
    propose: () => propose(test.app, mailbox.id, agent),
    async reject() {
      const { db } = test.app.store;
      const { rows } = await sql<{ id: string }>`select id from mailbox_actions
        where state = 'proposed' limit 1`.execute(db);
      const actionId = rows[0]?.id;
      if (!actionId) return;
      const at = { mailboxId: mailbox.id, actionId };
      await rejectAction(test.app, test.operator, at, {}).catch(() => {});
    },
    expire: () => expireActions(test.app),
    pause: () => pauseMailbox(test.app, test.operator, mailbox.id),
    resume: () => resumeMailbox(test.app, test.operator, mailbox.id),
    rename: () =>
      updateMailbox(test.app, test.operator, mailbox.id, { displayName: `name ${serial++}` }),
    async wait() {},
  };

  it('equals a count of the rows for any range after random steps', async () => {
    const names = Object.keys(steps) as (keyof typeof steps)[];
    const doing = fc.record({
      step: fc.constantFrom(...names),
      waitMs: fc.constantFrom(0, 1, 20 * minute, 50 * minute, 7 * 24 * 60 * minute),
    });
    const start = test.clock.now();
    await fc.assert(
      fc.asyncProperty(
        fc.array(doing, { minLength: 3, maxLength: 12 }),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), {
          minLength: 3,
          maxLength: 3,
        }),
        async (done, cuts) => {
          for (const { step, waitMs } of done) {
            await steps[step]();
            await test.clock.advance(waitMs);
          }
          const now = test.clock.now();
          for (const [share, isWhole] of cuts) {
            const at = start + Math.floor(share * (now - start));
            const from = isWhole ? at - (at % (60 * minute)) : at;
            const iso = (ms: number) => new Date(ms).toISOString();
            expect(await shown(`?after=${iso(from)}`)).toEqual(await counted(from, now + 1));
            expect(await shown(`?before=${iso(from)}`)).toEqual(await counted(0, from));
            const to = from + 90 * minute;
            expect(await shown(`?after=${iso(from)}&before=${iso(to)}`)).toEqual(
              await counted(from, to),
            );
          }
          expect(await shown('')).toEqual(await counted(0, now + 1));
        },
      ),
      { numRuns: 8 },
    );
  });
});
