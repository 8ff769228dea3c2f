// Callers of stored keys. Before a grant, the caller of the request must still be valid: a key or a
// membership may end while the request runs.
import type { PermissionMap } from '../../core/api/permission.ts';
import type { Caller, CallingInstallation, KeyConstraints } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { UnauthorizedError } from '../../platform/errors.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { isTestKey } from './key-format.ts';
import * as queries from './queries.ts';
import { rolePermissions } from './roles.ts';

/** Returns the permissions of a stored key: from the role if the row lists none. */
export function permissionsOf(row: queries.KeyRow): PermissionMap {
  return fromJson<PermissionMap>(row.permissions) ?? rolePermissions(row.role_name);
}

/** Returns the constraints of a stored key; null for a key without constraints. */
export function constraintsOf(row: queries.KeyRow): KeyConstraints | null {
  return fromJson<KeyConstraints>(row.constraints);
}

/** Returns the installation of a stored key; null for a key without an installation. */
function installationOf(row: queries.KeyRow): CallingInstallation | null {
  if (row.installation_id === null) return null;
  return { id: row.installation_id, events: fromJson<string[]>(row.events) ?? [] };
}

/** Returns the caller of a stored key. Does not check whether the key is active or expired. */
export function callerOf(row: queries.KeyRow): Caller {
  return {
    organizationId: row.organization_id,
    by: { kind: row.installation_id === null ? 'key' : 'installation', keyId: row.id },
    keyId: row.id,
    lineage: row.lineage,
    keyName: row.name,
    permissions: permissionsOf(row),
    roleName: row.role_name,
    owner: row.owner,
    isTest: isTestKey(row.start),
    constraints: constraintsOf(row),
    sendMode: row.send_mode,
    installation: installationOf(row),
  };
}

/**
 * Returns the current successor of a key: the key itself, or the replacement by rotations; null
 * once the successor is revoked. An expired key makes no new requests, but earlier requests stay
 * valid.
 */
export async function standingFor(db: Db, keyId: string): Promise<Caller | null> {
  const row = await queries.findHeir(db, keyId);
  return row ? callerOf(row) : null;
}

/**
 * Returns the caller of an installation's active key; null while the installation is disabled, and
 * once it is deleted.
 */
export async function installationFor(db: Db, installationId: string): Promise<Caller | null> {
  const row = await queries.findKeyOfInstallation(db, installationId);
  return row ? callerOf(row) : null;
}

/**
 * Requires that the key of a caller is still active, or that a member still has the membership and
 * the role. Returns the row of the key; undefined for a member or the operator.
 * @throws UnauthorizedError if the caller ended since the request was accepted
 */
export async function requireStanding(
  app: App,
  db: Db,
  { by, organizationId, roleName }: Caller,
): Promise<queries.KeyRow | undefined> {
  if (by.kind === 'operator') return undefined;
  if (by.kind === 'member') {
    const now = (await app.hooks.standingMembers(db, [by.memberId])).get(by.memberId);
    if (now?.roleName === roleName) return undefined;
    throw new UnauthorizedError('Your place in the organization changed: sign in again');
  }
  const row = await queries.keys.find(db, organizationId, by.keyId);
  if (row?.is_active !== 1) throw new UnauthorizedError('Invalid API key');
  return row;
}
