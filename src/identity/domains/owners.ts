// The owner of a domain name now. Several organizations may register a name, and at most one
// organization has it verified. Mailbox addresses, catch-alls, postmaster, report addresses,
// senders proven by token and tracking hosts depend on the ownership of the name. `verified_at` is
// set for the last owner alone.
//
//   verified in | registered in            | mail for the name                          | sends from it
//   ------------+--------------------------+--------------------------------------------+--------------
//   A           | A, perhaps others        | the addresses and the catch-all of A       | A
//   nobody      | A alone, the last owner  | the addresses and the catch-all of A still | nobody
//   nobody      | A, the last owner, and B | 450: the next owner is not known yet       | nobody
//   B           | B, and A or not          | addresses of B alone; the rest: 550        | B
//   nobody      | no last owner among them | 550                                        | nobody
//
// When B verifies the name, the same transaction ends the ownership of A. The claims of A have no
// effect from then on, also if B leaves. `Hooks.nameReleases` deletes them, so that B can take the
// same addresses.
import type { App } from '../../core/app.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { lockNamed, type Registration, selectRegistrations } from './queries.ts';

/** State of a name, computed from all registrations of it. */
export type Standing =
  | { state: 'owned'; owner: Registration }
  /** No organization has verified the name now, and a second organization has registered it. */
  | { state: 'disputed' }
  | { state: 'unowned' };

const isVerified = ({ status }: Registration) => status === 'verified';

/** Returns the state of a name by the table above. */
export function standingOf(registrations: readonly Registration[]): Standing {
  const verified = registrations.find(isVerified);
  if (verified) return { state: 'owned', owner: verified };
  const last = registrations.find(({ verified_at }) => verified_at !== null);
  if (!last) return { state: 'unowned' };
  return registrations.length === 1 ? { state: 'owned', owner: last } : { state: 'disputed' };
}

/** Returns the verified domain of a name, of any organization. */
export async function findOwner(db: Db, name: string): Promise<Registration | undefined> {
  return (await selectRegistrations(db, name)).find(isVerified);
}

/**
 * Returns the verified domain of a name in another organization. Locks all domains of the name
 * until the end of the transaction, so that two organizations cannot verify the name at once.
 */
export async function findOtherOwner(
  trx: Db,
  name: string,
  organizationId: string,
): Promise<Registration | undefined> {
  await lockNamed(trx, [name]);
  const owner = await findOwner(trx, name);
  return owner?.organization_id === organizationId ? undefined : owner;
}

/**
 * Deletes the claims of former owners on a verified name. Runs after each check, because the daemon
 * may have stopped before it deleted the claims.
 */
export async function releaseName(
  app: App,
  { id, organization_id: organizationId, domain }: Registration & { domain: string },
): Promise<void> {
  const registrations = await selectRegistrations(app.store.db, domain);
  const formerIds = registrations.map((one) => one.id).filter((one) => one !== id);
  for (const release of app.hooks.nameReleases) {
    await release(app, { domain, organizationId, formerIds });
  }
}

/**
 * Returns the refusal of a claim on a name that another organization has verified. The text does
 * not name that organization.
 */
export function ownedElsewhere(resource: string, domain: string, remedy: string): ConflictError {
  const text = `${domain} is in use: another organization of this service has verified it`;
  return new ConflictError(resource, `${text}. ${remedy}`);
}
