// Deletes unsubscribe groups with their members (src/people/unsubscribe-groups has the groups).
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { deleteEmptyGroup, getGroup } from '../../people/unsubscribe-groups/groups.ts';
import { deleteConfirmations } from './queries.ts';

/** Confirmations deleted per transaction. */
const rowsPerTransaction = 5_000;

/**
 * Deletes a group with all confirmations; the blocks stay in force. The group exists until the last
 * transaction, so a repeated request completes an interrupted deletion.
 * @throws ResourceNotFoundError.
 */
export async function deleteGroup(app: App, caller: Caller, id: string): Promise<Deleted> {
  await getGroup(app, caller, id);
  const step = () => app.store.write((trx) => deleteConfirmations(trx, id, rowsPerTransaction));
  while ((await step()) === rowsPerTransaction);
  return deleteEmptyGroup(app, caller, id);
}
