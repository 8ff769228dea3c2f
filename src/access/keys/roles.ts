// Roles and their permissions, and the check behind every grant: does a permission map cover a
// second map? The vocabulary is src/core/api/permission.ts.
import {
  actionsOf,
  allows,
  allPermissions,
  type Permission,
  type PermissionMap,
  type Resource,
  resources,
} from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import { type Role, roles } from '../../core/config/roles.ts';

/** `roleName` of a key with an explicit list of permissions. */
export const customRole = 'custom';

/** `roleName` of the key of an installation. */
export const installationRole = 'installation';

const developerResources = resources.filter(
  (name) => !['keys', 'members', 'organization'].includes(name),
);

/**
 * Permissions of each role. Read at each use and never stored, so an upgrade that adds a resource
 * extends existing keys too.
 */
const permissionsOfRole: Readonly<Record<Role, PermissionMap>> = {
  owner: allPermissions,
  admin: allPermissions,
  developer: Object.fromEntries(developerResources.map((name) => [name, ['*']])),
  editor: {
    campaigns: ['*'],
    templates: ['*'],
    brands: ['*'],
    contacts: ['*'],
    senders: ['read'],
    domains: ['read'],
    analytics: ['read'],
  },
  support: {
    mailboxes: ['read', 'write', 'send'],
    messages: ['read'],
    contacts: ['read'],
    blocks: ['read'],
  },
  analyst: { analytics: ['read'], campaigns: ['read'] },
  sender: { messages: ['send', 'read'], templates: ['read'] },
  viewer: { '*': ['read'] },
};

function isRole(name: string): name is Role {
  return (roles as readonly string[]).includes(name);
}

/** Returns the permissions of a role; none for an unknown name. */
export function rolePermissions(name: string): PermissionMap {
  return isRole(name) ? permissionsOfRole[name] : {};
}

/**
 * Tells whether `holder` grants all of `wanted`, even after a later version adds resources or
 * actions.
 */
export function covers(holder: PermissionMap, wanted: PermissionMap): boolean {
  return Object.entries(wanted).every(([resource, actions]) =>
    // Only a wildcard covers a wildcard: `allows` treats `*` like a named action.
    actions.every((action) => allows(holder, `${resource}:${action}` as Permission)),
  );
}

/**
 * Returns the actions that a permission map may name for a resource or `*`; empty for unknown
 * names.
 */
export function grantableActions(resource: string): string[] {
  if (resource === '*') return [...new Set(resources.flatMap(actionsOf)), '*'];
  if (!(resources as readonly string[]).includes(resource)) return [];
  return [...actionsOf(resource as Resource), '*'];
}

/**
 * Parses permissions of the command line such as `messages:send` into a map. Validation later
 * rejects unknown words.
 */
export function permissionMapOf(permissions: readonly string[]): Record<string, string[]> {
  const map = new Map<string, string[]>();
  for (const permission of permissions) {
    const [resource = '', action = ''] = permission.split(':', 2);
    map.set(resource, [...new Set([...(map.get(resource) ?? []), action])]);
  }
  return Object.fromEntries(map);
}

/**
 * Returns the caller of the command line: a person who can read the store may do everything in it.
 */
export function operatorOf(organizationId: string): Caller {
  return {
    organizationId,
    by: { kind: 'operator' },
    keyId: null,
    lineage: null,
    keyName: null,
    permissions: allPermissions,
    roleName: 'owner',
    owner: 'person',
    isTest: false,
    constraints: null,
    sendMode: 'send',
    installation: null,
  };
}
