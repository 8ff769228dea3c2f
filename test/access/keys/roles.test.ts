import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { covers, permissionMapOf, rolePermissions } from '../../../src/access/keys/roles.ts';
import { allows, everyPermission } from '../../../src/core/api/permission.ts';
import { type Role, roles } from '../../../src/core/config/roles.ts';

const allowed: Record<Role, (resource: string, action: string) => boolean> = {
  owner: () => true,
  admin: () => true,
  developer: (resource) => !['keys', 'members', 'organization'].includes(resource),
  editor: (resource, action) =>
    ['campaigns', 'templates', 'brands', 'contacts'].includes(resource) ||
    (['senders', 'domains', 'analytics'].includes(resource) && action === 'read'),
  support: (resource, action) =>
    (resource === 'mailboxes' && ['read', 'write', 'send'].includes(action)) ||
    (['messages', 'contacts', 'blocks'].includes(resource) && action === 'read'),
  analyst: (resource, action) => ['analytics', 'campaigns'].includes(resource) && action === 'read',
  sender: (resource, action) =>
    (resource === 'messages' && ['send', 'read'].includes(action)) ||
    (resource === 'templates' && action === 'read'),
  viewer: (_, action) => action === 'read',
};

describe('roles', () => {
  it.each(roles)('grant %s the permissions listed here and nothing else', (role) => {
    for (const permission of everyPermission()) {
      const [resource = '', action = ''] = permission.split(':');
      expect([permission, allows(rolePermissions(role), permission)]).toEqual([
        permission,
        allowed[role](resource, action),
      ]);
    }
  });

  it('grant nothing to an unknown name', () => {
    expect(rolePermissions('custom')).toEqual({});
    expect(rolePermissions('constructor')).toEqual({});
  });
});

describe('the comparison of permissions', () => {
  it.each<[Role, Role, boolean]>([
    ['owner', 'owner', true],
    ['admin', 'owner', true],
    ['admin', 'viewer', true],
    ['developer', 'sender', true],
    ['developer', 'viewer', false],
    ['developer', 'admin', false],
    ['developer', 'editor', true],
    ['editor', 'analyst', true],
    ['editor', 'sender', false],
    ['support', 'viewer', false],
    ['viewer', 'analyst', true],
    ['viewer', 'sender', false],
    ['sender', 'sender', true],
  ])('%s covers %s: %s', (holder, wanted, expected) => {
    expect(covers(rolePermissions(holder), rolePermissions(wanted))).toBe(expected);
  });

  it('a wildcard is covered by a wildcard only, because it grants future actions', () => {
    const all = { messages: ['read', 'write', 'delete', 'send'] };
    expect(covers(all, { messages: ['*'] })).toBe(false);
    expect(covers({ messages: ['*'] }, all)).toBe(true);
    expect(covers({ messages: ['*'] }, { '*': ['read'] })).toBe(false);
    expect(covers({ '*': ['read'] }, { messages: ['read'], keys: ['read'] })).toBe(true);
  });
});

describe('permissions of the command line', () => {
  it('become a map with each action once', () => {
    expect(
      permissionMapOf(['messages:send', 'messages:read', 'messages:send', 'keys:read']),
    ).toEqual({ messages: ['send', 'read'], keys: ['read'] });
    expect(permissionMapOf(['*:*'])).toEqual({ '*': ['*'] });
  });
});

describe('the operator', () => {
  /** Asks whether a caller has a key; `record.keyId` is the id of a DKIM key. */
  const asks = /(?<!record\.)\bkeyId\b[^\n=]{0,12}[=!]== null|(?<!record\.)\bkeyId \?\? (?!'')/;

  it('is found by a planted question', () => {
    expect(asks.test('if (caller.keyId === null) return;')).toBe(true);
    expect(asks.test("return keyId ?? 'svc';")).toBe(true);
  });

  it('is known by the kind of the caller, and not by a missing key, outside of src/access', () => {
    const files = globSync('{src,commands,daemon}/**/*.ts').filter(
      (file) => !file.startsWith('src/access/'),
    );
    expect(files.length).toBeGreaterThan(1_000);
    expect(files.filter((file) => asks.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
