// The name of a member, which each member may choose without the right to change members. It holds
// in a single organization only.

import type { Caller } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import * as queries from './queries.ts';
import { memberNoun, updateMemberInput } from './schema.ts';

/**
 * Renames the calling member in this organization; an empty name removes the name.
 * @throws ForbiddenError for a key or the operator; ValidationError on `name`
 */
export async function renameSelf(app: App, caller: Caller, name: string): Promise<void> {
  const { by, organizationId } = caller;
  if (by.kind !== 'member') throw new ForbiddenError('Only a member has a name here');
  const change = parseWith(updateMemberInput, { name: name.trim() || null }, 'body');
  const after = change.name ?? null;
  await app.store.write(async (trx) => {
    const { name: before } = await queries.members.get(trx, organizationId, by.memberId);
    const updated_at = app.clock.now();
    await queries.members.update(trx, organizationId, by.memberId, { name: after, updated_at });
    const details = { name: { before, after } };
    await record(app, trx, caller, { subject: by.memberId, action: memberNoun.updated, details });
  });
}
