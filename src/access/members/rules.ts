// Rules about roles. An owner is above an admin, though both have all permissions: only an owner
// makes, changes and removes owners, as with keys.
import { allows } from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import { ConflictError, ForbiddenError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { covers, rolePermissions } from '../keys/roles.ts';
import type { MemberRow } from './queries.ts';
import { selectActiveOwners } from './queries.ts';

/**
 * Tells whether a caller may give a role: a person with `members:write` and all permissions of the
 * role. Only an owner may give the role `owner`.
 */
export function mayGive(caller: Caller, role: string): boolean {
  if (role === 'owner' && caller.roleName !== 'owner') return false;
  const writes = allows(caller.permissions, 'members:write') && caller.owner === 'person';
  return writes && covers(caller.permissions, rolePermissions(role));
}

/** Requires that the caller may give or take away a role. @throws ForbiddenError */
export function requireMayGive(caller: Caller, role: string): void {
  if (mayGive(caller, role)) return;
  throw new ForbiddenError(
    role === 'owner'
      ? 'Only an owner makes, changes or removes owners: ask an owner'
      : `The role ${role} has permissions that you lack: ask an owner`,
  );
}

/**
 * Requires a second active owner if this member is an active owner. The caller holds the lock of
 * the organization.
 * @throws ConflictError for the last owner, unless the operator asks.
 */
export async function requireOtherOwner(db: Db, { by }: Caller, row: MemberRow): Promise<void> {
  if (by.kind === 'operator' || row.role !== 'owner' || row.status !== 'active') return;
  const owners = await selectActiveOwners(db, row.organization_id, 2);
  if (owners.some(({ id }) => id !== row.id)) return;
  throw new ConflictError(
    'member',
    `${row.email} is the last active owner: make another member an owner first`,
  );
}
