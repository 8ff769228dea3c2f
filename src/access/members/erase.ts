// Erases name and address of a deleted member from the records, for the operator.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { selectEntries } from '../../history/audit/queries.ts';
import { requestErasure } from '../../history/erasures/request.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError } from '../../platform/errors.ts';
import { members } from './queries.ts';

/**
 * Requests the erasure. The records keep the id and the times.
 * @throws ConflictError for a member that is not deleted; ResourceNotFoundError for an id that the
 * audit does not know, unless the audit forgets (`retention.auditDays`)
 */
export async function requestErasureOfMember(app: App, caller: Caller, id: string): Promise<void> {
  const { organizationId } = caller;
  await app.store.write(async (trx) => {
    if (await members.find(trx, organizationId, id)) {
      throw new ConflictError('member', `${id} is a member still: svc members delete ${id}`);
    }
    const entries = await selectEntries(trx, organizationId, { resourceId: id }, 1);
    if (entries.length === 0 && app.config.retention.auditDays === null) {
      throw new ResourceNotFoundError('member', id);
    }
    await record(app, trx, caller, { subject: id, action: 'member.erased' });
    await requestErasure(app, trx, { organizationId, id, kind: 'member' });
  });
}
