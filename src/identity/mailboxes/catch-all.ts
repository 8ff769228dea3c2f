// Catch-all (specification 4.7): the mailbox that receives mail for every unused address of a
// domain. The service's own addresses come first (src/inbox/receiving/resolve.ts).

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { byService, type ChangeAuthor, record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { ReleaseName } from '../domains/hooks.ts';
import { type DomainRow, domains } from '../domains/queries.ts';
import { keepReceiving } from './addresses.ts';
import {
  deleteCatchAll,
  findCatchAll,
  putCatchAll,
  selectCatchingDomains,
} from './catch-all-queries.ts';
import { getMailboxRow } from './mailbox-rows.ts';
import type { DisableCatchAll, EnableCatchAll } from './schema.ts';

function change(action: 'domain.catch-all-enabled' | 'domain.catch-all-disabled', row: DomainRow) {
  return { subject: row.id, action };
}

/**
 * Makes the mailbox the catch-all of the domain and replaces an earlier catch-all.
 * @throws ResourceNotFoundError; ConflictError (domain not verified, or another domain of this name
 * has a catch-all).
 */
export async function enableCatchAll(
  app: App,
  caller: Caller,
  { domainId, mailboxId }: EnableCatchAll,
): Promise<{ success: boolean }> {
  const { organizationId } = caller;
  await app.store.write(async (trx) => {
    const row = await domains.get(trx, organizationId, domainId);
    await getMailboxRow(trx, organizationId, mailboxId);
    const { domain, status } = row;
    if (status !== 'verified') {
      throw new ConflictError('domain', `${domain} is not verified (${status})`);
    }
    if ((await findCatchAll(trx, domainId)) === mailboxId) return;
    const caught = {
      domain,
      domain_id: domainId,
      mailbox_id: mailboxId,
      created_at: app.clock.now(),
    };
    if (!(await putCatchAll(trx, caught))) {
      throw new ConflictError('domain', `Another organization has the catch-all of ${domain}`);
    }
    await keepReceiving(trx, [domainId]);
    const details = { domain, mailboxId };
    await record(app, trx, caller, { ...change('domain.catch-all-enabled', row), details });
  });
  return { success: true };
}

/** Disables the catch-all; a second call succeeds too. @throws ResourceNotFoundError. */
export async function disableCatchAll(
  app: App,
  by: Caller | ChangeAuthor,
  { domainId }: DisableCatchAll,
): Promise<{ success: boolean }> {
  await app.store.write(async (trx) => {
    const row = await domains.get(trx, by.organizationId, domainId);
    const mailboxId = await findCatchAll(trx, domainId);
    if (mailboxId === null) return;
    await deleteCatchAll(trx, domainId);
    await keepReceiving(trx, [domainId]);
    const details = { domain: row.domain, mailboxId };
    await record(app, trx, by, { ...change('domain.catch-all-disabled', row), details });
  });
  return { success: true };
}

/** Disables the catch-alls of domains with a name that another organization has verified. */
export const releaseCatchAlls: ReleaseName = async (app, { formerIds }) => {
  for (const { domainId, organizationId } of await selectCatchingDomains(app.store.db, formerIds)) {
    await disableCatchAll(app, byService(organizationId), { domainId });
  }
};
