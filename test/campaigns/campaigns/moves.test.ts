// The table of a run's moves: each possible one, and each refused one, by a person and by the
// service.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Author, moveRun, type RunChange } from '../../../src/campaigns/setup/moves.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { byService } from '../../../src/history/events/record.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { lockRun, type RunRow, runs } from '../../../src/run-ledger/queries.ts';
import { type RunStatus, runStatuses } from '../../../src/run-ledger/schema.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { loggedEvents, storedRun } from './fixtures.ts';

/** `from to author`: written out, so that a move that joins or leaves the table is seen. */
const possible = new Set([
  'scheduled running service',
  'scheduled failed service',
  'scheduled paused service',
  'scheduled cancelled person',
  'scheduled cancelled service',
  'running paused person',
  'running paused service',
  'running held service',
  'running completed service',
  'running failed service',
  'running cancelled person',
  'paused running person',
  'paused scheduled person',
  'paused cancelled person',
  'held running person',
  'held running service',
  'held cancelled person',
]);
const authors: Author[] = ['person', 'service'];
const all = authors.flatMap((author) =>
  runStatuses.flatMap((from) => runStatuses.map((to) => ({ from, to, author }))),
);

describe.each(stores)('the moves of a run on %s', (store) => {
  const test = eachApp({ store });
  const hourMs = 3_600_000;
  let now: number;
  beforeEach(() => {
    now = test.app.clock.now();
  });

  function move(row: RunRow, to: RunStatus, author: Author, change: RunChange = {}) {
    const { app, operator } = test;
    const by = author === 'service' ? byService(row.organization_id) : operator;
    return app.store.write(async (trx) => {
      const run = await lockRun(trx, row.id);
      if (!run) throw new Error('there is no run');
      return moveRun(app, trx, run, to, change, by);
    });
  }
  const stored = ({ organization_id, id }: RunRow) =>
    runs.get(test.app.store.db, organization_id, id);

  it('makes the moves of the table, and refuses all others without a change', async () => {
    for (const { from, to, author } of all) {
      const row = await storedRun(test.app, test.operator, from);
      const name = `${from} ${to} ${author}`;
      const refused = await move(row, to, author).then(
        ({ status }) => {
          expect(status, name).toBe(to);
          return false;
        },
        (error: unknown) => {
          expect(error, name).toBeInstanceOf(ConflictError);
          expect(String(error), name).toContain(`is ${from} and cannot be`);
          return true;
        },
      );
      expect(refused, name).toBe(!possible.has(name));
      if (refused) expect(await stored(row), name).toEqual(row);
    }
  });

  it('of a completed run stop its queued mail, and nothing else', async () => {
    const { app, caller, operator } = test;
    const row = await storedRun(app, operator, 'completed');
    await expect(move(row, 'paused', 'person')).rejects.toThrow('it has ended and can be retried');
    const { id } = await send(app, caller, 'ada@example.com');
    await app.store.write((trx) =>
      sql`update deliveries set campaign_run_id = ${row.id} where message_id = ${id}`.execute(trx),
    );
    await expect(move(row, 'running', 'person')).rejects.toThrow('it can be paused or cancelled');
    await expect(move(row, 'paused', 'service')).rejects.toThrow('it has ended');
    expect(await move(row, 'paused', 'person')).toMatchObject({ completed_at: row.completed_at });
    await expect(move(row, 'running', 'person')).rejects.toThrow('it can be resumed or cancelled');
    await test.clock.advance(hourMs);
    expect(await move(row, 'completed', 'person')).toMatchObject({
      completed_at: row.completed_at,
      due_at: null,
    });
    expect(await move(row, 'cancelled', 'person')).toMatchObject({
      completed_at: row.completed_at,
    });
    expect((await loggedEvents(app)).map(({ type }) => type)).toEqual([]);
  });

  it.each([
    ['scheduled', 'paused', 'it can be cancelled'],
    ['running', 'scheduled', 'it can be paused or cancelled'],
    ['paused', 'paused', 'it can be resumed or cancelled'],
    ['held', 'paused', 'it can be resumed or cancelled'],
    ['completed', 'cancelled', 'it has ended and can be retried'],
    ['failed', 'running', 'it has ended and can be retried'],
    ['cancelled', 'cancelled', 'it has ended and can be retried'],
  ] as const)(
    'says what a person can do with a %s run that cannot be %s',
    async (from, to, can) => {
      const row = await storedRun(test.app, test.operator, from);
      await expect(move(row, to, 'person')).rejects.toThrow(can);
    },
  );

  it('starts a run: its time, its next step and its event', async () => {
    const row = await storedRun(test.app, test.operator, 'scheduled', { total_recipients: 7 });
    await test.clock.advance(hourMs);
    const change = { worker: 'wrk_2', leased_until: now + 2 * hourMs };
    const started = await move(row, 'running', 'service', change);
    expect(started).toMatchObject({
      ...change,
      started_at: now + hourMs,
      due_at: now + hourMs,
      updated_at: now + hourMs,
    });
    expect(await loggedEvents(test.app)).toMatchObject([
      { type: 'campaign.run.started', subject: row.id, data: { totalRecipients: 7 } },
    ]);
  });

  it.each(['paused', 'completed', 'failed', 'held'] as const)(
    'gives up the lease, the wait and the next step of a run that becomes %s',
    async (to) => {
      const row = await storedRun(test.app, test.operator, 'running');
      const moved = await move(row, to, 'service');
      expect(moved).toMatchObject({
        worker: null,
        leased_until: null,
        wait_reason: null,
        next_dispatch_at: null,
        due_at: null,
        completed_at: to === 'completed' ? now : null,
      });
    },
  );

  it('keeps a cancelled run due, so that its queued mail is cancelled after a crash', async () => {
    const row = await storedRun(test.app, test.operator, 'paused');
    expect((await move(row, 'cancelled', 'person')).due_at).toBe(now);
  });

  it('clears the reason of a hold when the run continues, and keeps the start', async () => {
    const row = await storedRun(test.app, test.operator, 'held', { hold_domain_id: 'dom_1' });
    await test.clock.advance(hourMs);
    expect(await move(row, 'running', 'service')).toMatchObject({
      hold_reason: null,
      hold_domain_id: null,
      started_at: now,
      due_at: now + hourMs,
    });
  });

  it.each([
    ['a future time', 2, 2],
    ['a time that has passed', -1, 0],
  ])('schedules a resumed run that never started at %s', async (_title, hours, due) => {
    const row = await storedRun(test.app, test.operator, 'paused', {
      scheduled_for: now + hours * hourMs,
      started_at: null,
    });
    expect((await move(row, 'scheduled', 'person')).due_at).toBe(now + due * hourMs);
  });

  it('publishes the start, the end, a hold and a failure once each', async () => {
    const one = await storedRun(test.app, test.operator, 'scheduled');
    await move(one, 'running', 'service');
    await move(one, 'held', 'service', { hold_reason: 'run-health' });
    await move(one, 'running', 'person', { note: 'The list is cleaned' });
    await move(one, 'paused', 'person');
    await move(one, 'running', 'person');
    await move(one, 'completed', 'service');
    const other = await storedRun(test.app, test.operator, 'scheduled');
    await move(other, 'failed', 'service', { failure_reason: 'sender: is not verified' });
    const events = await loggedEvents(test.app);
    expect(events.map(({ type, data }) => [type, data['status']])).toEqual([
      ['campaign.run.started', 'running'],
      ['campaign.run.held', 'held'],
      ['campaign.run.completed', 'completed'],
      ['campaign.run.failed', 'failed'],
    ]);
    expect(events[1]?.data).toMatchObject({ holdReason: 'run-health' });
    expect(events[3]?.data).toMatchObject({ failureReason: 'sender: is not verified' });
  });

  it('audits each move with its author, reason and note', async () => {
    const row = await storedRun(test.app, test.operator, 'running');
    await move(row, 'held', 'service', { hold_reason: 'provider' });
    await move(row, 'running', 'person', { note: 'They raised our limit' });
    await move(row, 'cancelled', 'person');
    const { items } = await listAudit(test.app, test.operator, { resource: row.id, limit: 10 });
    const campaignId = row.campaign_id;
    expect(items.map(({ action, actor, details }) => [action, actor.type, details])).toEqual([
      ['campaign-run.cancelled', 'operator', { campaignId }],
      ['campaign-run.resumed', 'operator', { campaignId, note: 'They raised our limit' }],
      ['campaign-run.held', 'service', { campaignId, holdReason: 'provider' }],
    ]);
  });
});
