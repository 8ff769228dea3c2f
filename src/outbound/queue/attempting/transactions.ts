// The SMTP transactions of an attempt: a name for each group, by return-path.ts. Only a retry of a
// message with several recipients reads the earlier transactions.
import type { App } from '../../../core/app.ts';
import { findTransactions } from '../../deliveries/queries.ts';
import type { MessageRow } from '../../messages/queries.ts';
import type { Group } from './groups.ts';
import { transactionOf } from './return-path.ts';

/** Names of transactions by their group. */
export type Transactions = ReadonlyMap<Group, string>;

/** Names the transaction of each group. */
export async function transactionsOf(
  app: App,
  message: Pick<MessageRow, 'id' | 'delivery_count'>,
  groups: readonly Group[],
): Promise<Transactions> {
  const claimed = groups.flatMap(({ deliveries }) => deliveries);
  const isRetry = claimed.some(({ attempt_count: attempt }) => attempt > 1);
  const isComplete = claimed.length === message.delivery_count;
  const siblings =
    isRetry && !isComplete ? await findTransactions(app.store.db, message.id) : claimed;
  return new Map(
    groups.flatMap((group) => {
      const [first, ...rest] = group.deliveries;
      return first ? [[group, transactionOf([first, ...rest], siblings)] as const] : [];
    }),
  );
}
