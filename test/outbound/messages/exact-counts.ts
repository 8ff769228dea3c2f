// The counts of messages (src/outbound/messages/lists/counts.ts) beside the messages themselves.
import { sql } from 'kysely';
import type { App } from '../../../src/core/app.ts';

interface Count {
  key: string;
  count: number;
}

/** Both tables of counts, computed from the messages: by key, without zeros. */
const exact = sql`select organization_id || ' ' || direction || ' ' || status || ' '
      || (created_at - created_at % 86400000) as key, count(*) as count
    from messages group by 1
  union all select organization_id || ' ' || direction || ' slot '
      || (created_at - created_at % 10000), count(*)
    from messages group by 1`;

const kept = sql`select organization_id || ' ' || direction || ' ' || status || ' '
      || day as key, cast(sum(count) as bigint) as count
    from message_counts group by 1 having sum(count) <> 0
  union all select organization_id || ' ' || direction || ' slot ' || slot, count
    from message_slots where count <> 0`;

/** Returns the counts computed from the messages, and the stored ones. */
export async function messageCounts({
  store,
}: Pick<App, 'store'>): Promise<{ exact: Count[]; kept: Count[] }> {
  const inOrder = (rows: readonly Count[]) => rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return {
    exact: inOrder((await sql<Count>`${exact}`.execute(store.db)).rows),
    kept: inOrder((await sql<Count>`${kept}`.execute(store.db)).rows),
  };
}

/** Recounts after a test wrote to the table past the service. */
export async function recountMessages({ store }: App): Promise<void> {
  await store.write(async (trx) => {
    await sql`delete from message_counts`.execute(trx);
    await sql`insert into message_counts (organization_id, direction, status, day, shard, count)
      select organization_id, direction, status, created_at - created_at % 86400000, 0, count(*)
      from messages group by 1, 2, 3, 4`.execute(trx);
    await sql`delete from message_slots`.execute(trx);
    await sql`insert into message_slots (organization_id, direction, slot, count)
      select organization_id, direction, created_at - created_at % 10000, count(*)
      from messages group by 1, 2, 3`.execute(trx);
  });
}
