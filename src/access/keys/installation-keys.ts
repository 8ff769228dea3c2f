// Keys of installed extensions. src/extensions makes, changes and ends each key with the
// installation, so the operations on API keys leave these keys out.
import type { PermissionMap } from '../../core/api/permission.ts';
import type { Caller, KeyConstraints, SendMode } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { isTestKey, makeKey } from './key-format.ts';
import { requireNoMoreThan } from './keys.ts';
import * as queries from './queries.ts';
import { installationRole } from './roles.ts';

/** Rights of the key of an installation. */
export interface InstallationRights {
  permissions: PermissionMap;
  constraints: KeyConstraints | null;
  sendMode: SendMode;
  /** Kinds of events that the installation may read. */
  events: readonly string[];
}

/** A key with the plaintext, which nothing stores. */
export interface MadeKey {
  id: string;
  plaintext: string;
}

const named = 'The installation';

function columnsOf({ permissions, constraints, sendMode, events }: InstallationRights) {
  return {
    permissions: JSON.stringify(permissions),
    constraints: toJson(constraints),
    send_mode: sendMode,
    events: JSON.stringify(events),
  };
}

/**
 * Makes the key of a new installation; a test key if the caller is a test key.
 * @throws ForbiddenError if the new key could do more than the caller.
 */
export async function makeInstallationKey(
  app: App,
  trx: Db,
  caller: Caller,
  {
    installationId,
    name,
    ...rights
  }: { installationId: string; name: string } & InstallationRights,
): Promise<MadeKey> {
  const { plaintext, ...text } = makeKey(app.random, caller.isTest ? 'test' : 'live');
  const id = app.newId('key');
  const row: queries.KeyRow = {
    id,
    organization_id: caller.organizationId,
    name,
    description: null,
    ...text,
    role_name: installationRole,
    owner: 'service',
    ...columnsOf(rights),
    installation_id: installationId,
    lineage: id,
    replaced_by: null,
    created_by: null,
    is_active: 1,
    expires_at: null,
    last_used_at: null,
    created_at: app.clock.now(),
  };
  await requireNoMoreThan(app, trx, caller, row, named);
  await queries.keys.insert(trx, row);
  return { id, plaintext };
}

/** Requires that the caller may grant these rights to the key. @throws ForbiddenError */
export async function requireGrantable(
  app: App,
  trx: Db,
  caller: Caller,
  keyId: string,
  rights: InstallationRights,
): Promise<void> {
  const row = await queries.keys.get(trx, caller.organizationId, keyId);
  await requireNoMoreThan(app, trx, caller, { ...row, ...columnsOf(rights) }, named);
}

/** Changes the rights of a key. Call `keysChanged` after the commit. */
export async function changeInstallationKey(
  trx: Db,
  organizationId: string,
  keyId: string,
  rights: InstallationRights,
): Promise<void> {
  await queries.keys.update(trx, organizationId, keyId, columnsOf(rights));
  queries.keyChanges.note(trx);
}

/**
 * Replaces a key; the old key ends at once. Scheduled mail of the old key is sent with the rights
 * of the new key. Call `keysChanged` after the commit.
 * @throws ForbiddenError if the key can do more than the caller.
 */
export async function replaceInstallationKey(
  app: App,
  trx: Db,
  caller: Caller,
  keyId: string,
): Promise<MadeKey> {
  const old = await queries.keys.get(trx, caller.organizationId, keyId);
  await requireNoMoreThan(app, trx, caller, old, named);
  const { plaintext, ...text } = makeKey(app.random, isTestKey(old.start) ? 'test' : 'live');
  const id = app.newId('key');
  await queries.deactivateKey(trx, keyId);
  await queries.keys.insert(trx, {
    ...old,
    ...text,
    id,
    created_at: app.clock.now(),
    last_used_at: null,
  });
  queries.keyChanges.note(trx);
  return { id, plaintext };
}

/** Activates or deactivates a key. Call `keysChanged` after the commit. */
export async function switchInstallationKey(
  trx: Db,
  organizationId: string,
  keyId: string,
  isActive: boolean,
): Promise<void> {
  await queries.keys.update(trx, organizationId, keyId, { is_active: isActive });
  queries.keyChanges.note(trx);
}
