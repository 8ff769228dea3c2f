// API keys (specification 2.4, 4.3): create, list, change, rotate, revoke. authenticator.ts decides
// about access; every change that removes rights is counted here.
//
//   state    moved by         to         also
//   (none)   create, rotate   active     plaintext shown once
//   active   revoke, rotate   inactive   for good; refused everywhere within a second
//   active   rotate (grace)   active     expires at the end of the grace period; replacement valid too
//   active   expiresAt        expired    isActive stays true: `expiresAt` shows it

import { type Page, toPage } from '../../core/api/pagination.ts';
import { allows, type PermissionMap } from '../../core/api/permission.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import { type Caller, callerId, type KeyConstraints } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { type Change, record } from '../../history/events/record.ts';
import {
  ConflictError,
  ForbiddenError,
  ResourceNotFoundError,
  ValidationError,
} from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson, toJson } from '../../platform/store/db.ts';
import { keysChanged } from './changes.ts';
import { areNoLooser, isBound } from './constraints.ts';
import { constraintsOf, permissionsOf, requireStanding } from './key-caller.ts';
import { isTestKey, makeKey } from './key-format.ts';
import * as queries from './queries.ts';
import { covers, customRole } from './roles.ts';
import {
  type ApiKey,
  type CreateKey,
  createKeyInput,
  type ListKeys,
  type RotateKey,
  type UpdateKey,
} from './schema.ts';

const defaultRole = 'developer';

/** Returns a key that belongs to no installation. @throws ResourceNotFoundError. */
async function getRow(db: Db, organizationId: string, id: string): Promise<queries.KeyRow> {
  const row = await queries.keys.get(db, organizationId, id);
  if (row.installation_id !== null) throw new ResourceNotFoundError('api-key', id);
  return row;
}

/** Presents a key as in the API. Only creation and rotation pass `plaintext`. */
function toApiKey(row: queries.KeyRow, plaintext: string | null = null): ApiKey {
  const permissions = Object.entries(permissionsOf(row));
  return {
    id: row.id,
    name: row.name,
    key: plaintext,
    start: row.start,
    description: row.description,
    createdAt: isoTime(row.created_at),
    expiresAt: isoTime(row.expires_at),
    lastUsedAt: isoTime(row.last_used_at),
    isActive: row.is_active === 1,
    permissions: Object.fromEntries(permissions.map(([name, actions]) => [name, [...actions]])),
    roleName: row.role_name,
    owner: row.owner,
    constraints: fromJson<ApiKey['constraints']>(row.constraints),
    // `none` is for keys of installations, which are not shown here.
    sendMode: row.send_mode === 'approval' ? 'approval' : 'send',
    createdBy: row.created_by,
  };
}

/** Returns a new row and the plaintext. @throws ValidationError. */
export function newKey(
  app: App,
  organizationId: string,
  input: CreateKey,
  createdBy: string | null = null,
) {
  const wanted = parseWith(createKeyInput, input, 'body');
  const now = app.clock.now();
  const expiresAt = wanted.expiresAt ? Date.parse(wanted.expiresAt) : null;
  if (expiresAt !== null && expiresAt <= now) {
    throw ValidationError.of('expiresAt', 'must be in the future');
  }
  const { plaintext, hash, start } = makeKey(app.random, wanted.mode);
  const id = app.newId('key');
  const row: queries.KeyRow = {
    id,
    lineage: id,
    replaced_by: null,
    created_by: createdBy,
    organization_id: organizationId,
    name: wanted.name ?? null,
    description: wanted.description ?? null,
    hash,
    start,
    role_name: wanted.permissions ? customRole : (wanted.role ?? defaultRole),
    permissions: toJson(wanted.permissions),
    owner: wanted.owner,
    constraints: toJson(wanted.constraints),
    send_mode: wanted.sendMode,
    installation_id: null,
    events: null,
    is_active: 1,
    expires_at: expiresAt,
    last_used_at: null,
    created_at: now,
  };
  return { row, plaintext };
}

function requireOwnerFor(caller: Caller, row: queries.KeyRow): void {
  if (row.role_name === 'owner' && caller.roleName !== 'owner') {
    throw new ForbiddenError('Only an owner creates or changes keys of owners');
  }
}

/** Returns a right of the new key that the caller lacks, as text for the refusal; null for none. */
function excessOf(caller: Caller, maker: queries.KeyRow | undefined, row: queries.KeyRow) {
  if (!covers(caller.permissions, permissionsOf(row))) return 'permissions that this key lacks';
  if (row.owner === 'person' && caller.owner !== 'person') return 'the rights of a person';
  if (caller.isTest && !isTestKey(row.start)) return 'live sending';
  if (caller.sendMode === 'approval' && row.send_mode === 'send') return 'sending without approval';
  const constraints = maker ? constraintsOf(maker) : caller.constraints;
  if (!areNoLooser(constraintsOf(row), constraints)) {
    return 'looser constraints than this key: name all of its limits, each as strict or stricter';
  }
  const end = maker?.expires_at ?? null;
  if (end !== null && (row.expires_at === null || row.expires_at > end)) {
    return `a life beyond ${isoTime(end)}, when this key expires`;
  }
  return null;
}

/**
 * Refuses to change or revoke a key with more permissions than the caller. @throws ForbiddenError
 */
function requireNoStronger(caller: Caller, row: queries.KeyRow): void {
  requireOwnerFor(caller, row);
  if (covers(caller.permissions, permissionsOf(row))) return;
  throw new ForbiddenError('That key has permissions that this key lacks');
}

/**
 * Enforces "A key can never make a key that can do more than itself", also for the plaintext of a
 * rotation. `named` begins the text of a refusal. @throws ForbiddenError; UnauthorizedError if the
 * caller was revoked.
 */
export async function requireNoMoreThan(
  app: App,
  db: Db,
  caller: Caller,
  row: queries.KeyRow,
  named = 'The key',
): Promise<void> {
  requireOwnerFor(caller, row);
  // Without this check, a caller that was revoked meanwhile could leave a valid key behind.
  const maker = await requireStanding(app, db, caller);
  const excess = excessOf(caller, maker, row);
  if (excess) throw new ForbiddenError(`${named} would have ${excess}`);
}

/**
 * Requires that a key that only proposes mail is bound to mailboxes or to a namespace.
 * @throws ValidationError.
 */
function requireReview(row: queries.KeyRow): void {
  if (row.send_mode === 'send' || isBound(constraintsOf(row))) return;
  const needed = 'must name mailboxIds or a namespaceId: the key only proposes mail';
  throw ValidationError.of('constraints', needed);
}

/** Refuses a listed permission that bound keys never have. @throws ValidationError. */
function requireNoConfiguring(row: queries.KeyRow): void {
  const listed = fromJson<PermissionMap>(row.permissions);
  if (!listed || !isBound(constraintsOf(row)) || !allows(listed, 'mailboxes:configure')) return;
  const excess =
    'include mailboxes:configure, which a key bound to mailboxes never has: name the ' +
    'others in place of *';
  throw ValidationError.of('permissions', excess);
}

/** Returns the editable fields of a key for the audit. */
function textsOf({ name, description, constraints }: queries.KeyRow) {
  return { name, description, constraints: fromJson<KeyConstraints>(constraints) };
}

/** Returns the audit entry of a new key, without any part of the plaintext. */
function created(row: queries.KeyRow, besides: { replaces?: string } = {}): Change {
  const details = {
    ...textsOf(row),
    role: row.role_name,
    permissions: fromJson<PermissionMap>(row.permissions),
    owner: row.owner,
    mode: isTestKey(row.start) ? 'test' : 'live',
    ...(row.send_mode === 'approval' && { sendMode: row.send_mode }),
    expiresAt: isoTime(row.expires_at),
    ...besides,
  };
  return { subject: row.id, action: 'key.created', details };
}

/**
 * Creates a key. Only this answer has the plaintext, in `key`.
 * @throws ValidationError; ForbiddenError if it could do more than the caller.
 */
export async function createKey(app: App, caller: Caller, input: CreateKey): Promise<ApiKey> {
  const { row, plaintext } = newKey(app, caller.organizationId, input, callerId(caller));
  requireNoConfiguring(row);
  await app.store.write(async (trx) => {
    await requireNoMoreThan(app, trx, caller, row);
    await queries.keys.insert(trx, row);
    await record(app, trx, caller, created(row));
  });
  return toApiKey(row, plaintext);
}

/**
 * Returns a page of the organization's keys, newest first, including revoked keys. Leaves out keys
 * of installations.
 */
export async function listKeys(
  { store }: App,
  { organizationId }: Caller,
  { createdBy, ...page }: ListKeys,
): Promise<Page<ApiKey>> {
  const filter = { ...queries.madeByHand, equal: { created_by: createdBy } };
  const { rows, total } = await queries.keys.page(store.db, organizationId, page, filter);
  return toPage(
    rows.map((row) => toApiKey(row)),
    total,
    page,
  );
}

/** Returns a key. @throws ResourceNotFoundError. */
export async function getKey(app: App, caller: Caller, id: string): Promise<ApiKey> {
  return toApiKey(await getRow(app.store.db, caller.organizationId, id));
}

/**
 * Changes name, description or constraints. Constraints need a caller that could create the key,
 * both before and after the change. @throws ResourceNotFoundError; ForbiddenError for a key
 * stronger than the caller.
 */
export async function updateKey(
  app: App,
  caller: Caller,
  id: string,
  { name, description, constraints }: UpdateKey,
): Promise<ApiKey> {
  const changes = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(constraints !== undefined && { constraints: toJson(constraints) }),
  };
  const updated = await app.store.write(async (trx) => {
    const row = await getRow(trx, caller.organizationId, id);
    requireNoStronger(caller, row);
    const changed = { ...row, ...changes };
    requireReview(changed);
    if (constraints !== undefined) {
      requireNoConfiguring(changed);
      await requireNoMoreThan(app, trx, caller, row);
      await requireNoMoreThan(app, trx, caller, changed);
    }
    const details = changesOf(textsOf(row), textsOf(changed));
    if (Object.keys(details).length > 0) {
      await queries.keys.update(trx, caller.organizationId, id, changes);
      await record(app, trx, caller, { subject: id, action: 'key.updated', details });
      // Cached callers hold name and constraints, so all processes must read them again.
      queries.keyChanges.note(trx);
    }
    return toApiKey(changed);
  });
  keysChanged(app);
  return updated;
}

/**
 * Replaces a key by a key with the same owner, name, permissions, constraints and expiry. The old
 * key ends now, or after the grace period.
 * @throws ResourceNotFoundError; ConflictError (revoked, expired or replaced); ForbiddenError.
 */
export async function rotateKey(
  app: App,
  caller: Caller,
  id: string,
  { graceSeconds = 0 }: RotateKey = {},
): Promise<ApiKey> {
  const rotated = await app.store.write(async (trx) => {
    const old = await getRow(trx, caller.organizationId, id);
    const now = app.clock.now();
    if (old.expires_at !== null && old.expires_at <= now) {
      throw new ConflictError('api-key', `API key ${id} has expired and cannot be rotated`);
    }
    const revoked = new ConflictError('api-key', `API key ${id} is revoked and cannot be rotated`);
    if (old.is_active === 0) throw revoked;
    if (old.replaced_by !== null) {
      const text = `API key ${id} was replaced by ${old.replaced_by}: rotate that one`;
      throw new ConflictError('api-key', text);
    }
    await requireNoMoreThan(app, trx, caller, old);
    const { plaintext, ...text } = makeKey(app.random, isTestKey(old.start) ? 'test' : 'live');
    const fresh = { id: app.newId('key'), created_at: now, last_used_at: null };
    const row = { ...old, ...text, ...fresh, created_by: callerId(caller) };
    const graceEnds = now + graceSeconds * 1000;
    const expiresAt = Math.min(graceEnds, old.expires_at ?? graceEnds);
    const hasEnded =
      graceSeconds > 0
        ? await queries.replaceKey(trx, id, { replacedBy: row.id, expiresAt })
        : await queries.deactivateKey(trx, id);
    if (!hasEnded) throw revoked;
    await queries.keys.insert(trx, row);
    const details = {
      replacedBy: row.id,
      ...(graceSeconds > 0 && { expiresAt: isoTime(expiresAt) }),
    };
    await record(app, trx, caller, { subject: id, action: 'key.rotated', details });
    await record(app, trx, caller, created(row, { replaces: id }));
    queries.keyChanges.note(trx);
    return toApiKey(row, plaintext);
  });
  keysChanged(app);
  return rotated;
}

/** Revokes a key for good; a repeat succeeds. @throws ResourceNotFoundError, ForbiddenError. */
export async function revokeKey(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    const row = await getRow(trx, caller.organizationId, id);
    requireNoStronger(caller, row);
    // The grace period of replaced keys ends too: a revocation leaves no key of the lineage active.
    const earlier =
      row.replaced_by === null ? await queries.findReplacedKeys(trx, row.lineage) : [];
    const details = { name: row.name, role: row.role_name };
    for (const subject of [...earlier, id]) {
      if (!(await queries.deactivateKey(trx, subject))) continue;
      await record(app, trx, caller, { subject, action: 'key.revoked', details });
    }
    queries.keyChanges.note(trx);
  });
  keysChanged(app);
  return { success: true, message: `API key ${id} is revoked` };
}
