// Roles and what they may do, and the one question that guards every grant: does this
// map of permissions cover that one? The vocabulary itself is src/api/permission.ts.
import {
  actionsOf,
  allows,
  allPermissions,
  type Permission,
  type PermissionMap,
  type Resource,
  resources,
} from '../api/permission.ts';
import type { Caller } from '../api/route.ts';

export const roles = ['owner', 'admin', 'developer', 'sender', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** `roleName` of a key whose permissions were listed one by one. */
export const customRole = 'custom';

const developerResources = resources.filter((name) => name !== 'keys' && name !== 'organization');

/** Read at each use, never stored: a new resource reaches the keys of a role with the version. */
const permissionsOfRole: Readonly<Record<Role, PermissionMap>> = {
  owner: allPermissions,
  admin: allPermissions,
  developer: Object.fromEntries(developerResources.map((name) => [name, ['*']])),
  sender: { messages: ['send', 'read'], templates: ['read'] },
  viewer: { '*': ['read'] },
};

function isRole(name: string): name is Role {
  return (roles as readonly string[]).includes(name);
}

/** What a role may do; a name that is no role may do nothing. */
export function rolePermissions(name: string): PermissionMap {
  return isRole(name) ? permissionsOfRole[name] : {};
}

/** Whether `holder` can do all that `wanted` can, now and when resources or actions are added. */
export function covers(holder: PermissionMap, wanted: PermissionMap): boolean {
  return Object.entries(wanted).every(([resource, actions]) =>
    // A wildcard is covered by a wildcard only: `allows` finds `*` as any other word.
    actions.every((action) => allows(holder, `${resource}:${action}` as Permission)),
  );
}

/** The actions that a map of permissions may name for a resource or `*`; empty for neither. */
export function grantableActions(resource: string): string[] {
  if (resource === '*') return [...new Set(resources.flatMap(actionsOf)), '*'];
  if (!(resources as readonly string[]).includes(resource)) return [];
  return [...actionsOf(resource as Resource), '*'];
}

/** Reads the command line's `messages:send` forms into a map; unknown words fail validation later. */
export function permissionMapOf(permissions: readonly string[]): Record<string, string[]> {
  const map = new Map<string, string[]>();
  for (const permission of permissions) {
    const [resource = '', action = ''] = permission.split(':', 2);
    map.set(resource, [...new Set([...(map.get(resource) ?? []), action])]);
  }
  return Object.fromEntries(map);
}

/** The person at the command line: whoever can read the store may do everything in it. */
export function operatorOf(organizationId: string): Caller {
  return {
    organizationId,
    keyId: null,
    keyName: null,
    permissions: allPermissions,
    roleName: 'owner',
    owner: 'person',
    isTest: false,
    constraints: null,
    sendMode: 'send',
  };
}
