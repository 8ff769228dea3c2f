// The vocabulary of permissions: resource → actions, as `resource:action`. Roles and the rule that
// no key can make a stronger key are in src/access/keys.

export const resources = [
  'messages',
  'mailboxes',
  'contacts',
  'conversations',
  'templates',
  'brands',
  'domains',
  'senders',
  'tracking',
  'blocks',
  'campaigns',
  'webhooks',
  'extensions',
  'keys',
  'members',
  'organization',
  'analytics',
] as const;

export type Resource = (typeof resources)[number];

type CommonAction = 'read' | 'write' | 'delete';

/** A permission, e.g. `messages:send`. */
export type Permission =
  | `${Resource}:${CommonAction}`
  | 'messages:send'
  | 'mailboxes:send'
  | 'mailboxes:configure'
  | 'campaigns:run';

/** Permissions of a key: resource → actions; `"*": ["*"]` grants everything. */
export type PermissionMap = Readonly<Record<string, readonly string[]>>;

/** All permissions, held by the operator at the command line. */
export const allPermissions: PermissionMap = { '*': ['*'] };

/** Returns the actions that exist for a resource. */
export function actionsOf(resource: Resource): string[] {
  const actions = ['read', 'write', 'delete'];
  if (resource === 'messages' || resource === 'mailboxes') actions.push('send');
  if (resource === 'mailboxes') actions.push('configure');
  if (resource === 'campaigns') actions.push('run');
  return actions;
}

/** Returns all permissions, as `resource:action`. */
export function everyPermission(): Permission[] {
  return resources.flatMap((resource) =>
    actionsOf(resource).map((action) => `${resource}:${action}` as Permission),
  );
}

/** Tells whether the map grants the permission. */
export function allows(map: PermissionMap, permission: Permission): boolean {
  const [resource = '', action = ''] = permission.split(':');
  for (const name of [resource, '*']) {
    const granted = map[name];
    if (granted?.includes(action) || granted?.includes('*')) return true;
  }
  return false;
}
