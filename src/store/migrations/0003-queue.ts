// State of the queue shared by operator and daemons: holds (src/queue/desk/holds.ts) and
// the lanes at work (src/queue/lanes/lane-report.ts). The queue itself is the table `deliveries`.
import type { Migration } from '../migration.ts';

export const queue: Migration = {
  name: '0003-queue',
  statements(): string[] {
    return [
      // `scope` joins the columns after it, so that one unique index covers those that are null.
      `create table queue_holds (
        id text primary key, scope text not null unique, organization_id text, domain text,
        message_id text, delivery_id text, note text, created_at bigint not null,
        released_at bigint)`,
      `create table lane_states (
        worker text primary key, reported_at bigint not null, lanes text not null)`,
      // What waits for its time alone, so that it can be counted and listed among a million others.
      // Only retries enter it: what goes out at the first attempt never does.
      `create index deliveries_waiting on deliveries (due_at)
        where turn is null and due_at is not null and lane is null and claimed_by is null`,
    ];
  },
};
