// Plans that warm a sending domain: how much campaigns may send from it, window by window, and the decisions
// with their authors (specification 2.11).
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const warming: Migration = {
  name: '0025-warming',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // What was counted in an hour that began before `evidence_since` tells nothing of the plan.
      `create table warming_plans (
        id text primary key, organization_id text not null references organizations (id),
        domain_id text not null references domains (id) on delete cascade, domain text not null,
        status text not null, identity text not null, initial_daily_recipients integer not null,
        daily_growth_percent integer not null, target_daily_recipients integer not null,
        evidence_since bigint not null, hold_reason text, held_at bigint, paused_at bigint,
        completed_at bigint, created_at bigint not null, updated_at bigint not null)`,
      'create index warming_plans_domain on warming_plans (domain_id, id)',
      // One at a time for a domain, and which domains of an organization have one.
      `create unique index warming_plans_live on warming_plans (organization_id, domain_id)
        where status in ('active', 'paused', 'held')`,

      `create table warming_batches (
        id text primary key, plan_id text not null references warming_plans (id) on delete cascade,
        domain_id text not null, sequence integer not null, state text not null,
        starts_at bigint not null, ends_at bigint not null, allowance_recipients integer not null,
        reserved_recipients integer not null, accepted_recipients integer not null,
        cancelled_at bigint, created_at bigint not null)`,
      'create unique index warming_batches_sequence on warming_batches (plan_id, sequence)',
      `create unique index warming_batches_open on warming_batches (domain_id)
        where state = 'open'`,
      `create index warming_batches_ends on warming_batches (ends_at) where state = 'open'`,

      `create table warming_decisions (
        id text primary key, plan_id text not null references warming_plans (id) on delete cascade,
        kind text not null, batch_id text, actor text not null, note text,
        created_at bigint not null) ${compact}`,
      'create index warming_decisions_plan on warming_decisions (plan_id, id)',

      'create table warming_changes (counter bigint not null)',
      'insert into warming_changes (counter) values (0)',
    ];
  },
};
