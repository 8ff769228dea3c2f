// Grants of a version, and the person's acceptance of them. A grant is `permission:mailboxes:read`
// or `event:mailbox.message.received`.
import { permissionMapOf } from '../access/keys/roles.ts';
import type { PermissionMap } from '../core/api/permission.ts';
import { ConflictError } from '../platform/errors.ts';
import { fromJson } from '../platform/store/db.ts';
import type { VersionRow } from './queries.ts';
import { inOrder, versionNoun } from './schema.ts';

const permissionPrefix = 'permission:';
const eventPrefix = 'event:';

/** Grants of a version, without their prefixes. */
export interface Grants {
  /** Names of permissions, sorted. */
  permissions: readonly string[];
  events: readonly string[];
}

/** Difference between the grants of two versions, as sorted lists. */
export interface Difference {
  added: string[];
  removed: string[];
}

export function grantsOf({
  permissions,
  events,
}: Pick<VersionRow, 'permissions' | 'events'>): Grants {
  return {
    permissions: fromJson<string[]>(permissions),
    events: fromJson<string[]>(events),
  };
}

/** Returns the grants with their prefixes, sorted. */
export function namesOf({ permissions, events }: Grants): string[] {
  return [
    ...events.map((type) => eventPrefix + type),
    ...permissions.map((permission) => permissionPrefix + permission),
  ].sort(inOrder);
}

/** Returns the permissions among the names of grants. */
export function permissionsIn(names: readonly string[]): PermissionMap {
  const prefixed = names.filter((name) => name.startsWith(permissionPrefix));
  return permissionMapOf(prefixed.map((name) => name.slice(permissionPrefix.length)));
}

/** Returns the kinds of events among the names of grants. */
export function eventsIn(names: readonly string[]): string[] {
  const prefixed = names.filter((name) => name.startsWith(eventPrefix));
  return prefixed.map((name) => name.slice(eventPrefix.length));
}

export function differenceOf(from: Grants, to: Grants): Difference {
  const [before, after] = [namesOf(from), namesOf(to)];
  return {
    added: after.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !after.includes(name)),
  };
}

/**
 * Requires that a person accepts exactly these grants; repeated grants count once. `named`
 * describes the list.
 * @throws ConflictError that names the difference.
 */
export function requireAccepted(
  wanted: readonly string[],
  accepted: readonly string[],
  named: string,
): void {
  const given = new Set(accepted);
  const missing = wanted.filter((name) => !given.has(name));
  const excess = [...given].filter((name) => !wanted.includes(name)).sort(inOrder);
  if (missing.length === 0 && excess.length === 0) return;
  const parts = [
    missing.length > 0 && `it lacks ${missing.join(', ')}`,
    excess.length > 0 && `it has ${excess.join(', ')} too much`,
  ].filter((part) => part !== false);
  const text = `acceptPermissions must list exactly ${named}: ${parts.join('; ')}`;
  throw new ConflictError(versionNoun.name, text);
}
