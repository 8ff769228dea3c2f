// Upgrades and rollbacks of an installation (specification 3, 4.9, 5.5): a person accepts exactly
// the new grants. Checks run in this order: person, installation, version, grants. Credentials,
// owner, scope, send mode, status and waiting posts stay. Only posts of events that are no longer
// granted are dropped.
import { keysChanged } from '../access/keys/changes.ts';
import {
  changeInstallationKey,
  type InstallationRights,
  requireGrantable,
} from '../access/keys/installation-keys.ts';
import { requireStanding } from '../access/keys/key-caller.ts';
import { type CursorPage, cutPage, positionOfId, readCursor } from '../core/api/cursor.ts';
import type { Caller, SendMode } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { eventToRecord, record } from '../history/events/record.ts';
import { authorOf } from '../inbox/threads/authors.ts';
import { ConflictError, ForbiddenError, ResourceNotFoundError } from '../platform/errors.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { type Db, fromJson } from '../platform/store/db.ts';
import { boundsOf } from '../platform/store/rows/time-range.ts';
import {
  changeInstallationEndpoint,
  endpointsChanged,
} from '../webhooks/endpoints/installation-endpoints.ts';
import { extensionInstallationUpgraded } from './events.ts';
import { getInstalled } from './extensions.ts';
import {
  type Difference,
  differenceOf,
  eventsIn,
  grantsOf,
  permissionsIn,
  requireAccepted,
} from './grants.ts';
import * as queries from './installation-queries.ts';
import {
  installationNoun,
  type ListVersionChanges,
  type Upgrade,
  type Upgraded,
  type VersionChange,
  versionChangeNoun,
} from './installation-schema.ts';
import { requireHearing, requireOffered, rightsOf, versionOf } from './installations.ts';
import { presentInstallation, scopeOf } from './present-installation.ts';
import { lockExtensions, type VersionRow } from './queries.ts';
import { findVersion } from './versions.ts';

/** An upgrade that has passed all checks except the acceptance of grants. */
interface Plan {
  row: queries.InstallationRow;
  from: VersionRow;
  to: VersionRow;
  difference: Difference;
}

const refOf = ({ id, version }: VersionRow) => ({ id, version });

/** Checks that a version may follow the installed version. @throws ConflictError. */
function requireFitting(row: queries.InstallationRow, from: VersionRow, to: VersionRow): void {
  const refuse = (text: string) => new ConflictError(installationNoun.name, text);
  requireOffered(to);
  if (to.id === from.id) throw refuse(`Version ${to.version} is installed already`);
  if (to.runtime !== from.runtime) {
    throw refuse(
      `Version ${to.version} has the runtime ${to.runtime} instead of ${from.runtime}: uninstall ` +
        'the extension and install that version',
    );
  }
  if (to.runtime === 'webhook' && row.endpoint_id === null && grantsOf(to).events.length > 0) {
    throw refuse(
      `Version ${to.version} has its events posted, and the installation was made without a ` +
        'webhook: uninstall the extension and install that version',
    );
  }
  const offered = fromJson<SendMode[]>(to.send_modes);
  if (offered.includes(row.send_mode)) return;
  throw refuse(
    `Version ${to.version} does not offer the send mode ${row.send_mode}: change it first to one ` +
      `of ${offered.join(', ')}`,
  );
}

/** Requires that the caller has the added grants too. @throws ForbiddenError. */
async function requireCovered(
  app: App,
  db: Db,
  caller: Caller,
  row: queries.InstallationRow,
  { added }: Difference,
): Promise<void> {
  if (added.length === 0) return;
  const { key } = rightsOf({ permissions: [], events: [] }, scopeOf(row), row.send_mode);
  const rights: InstallationRights = { ...key, permissions: permissionsIn(added) };
  await requireGrantable(app, db, caller, row.key_id, rights);
  requireHearing(caller, eventsIn(added));
}

/** Returns the requested upgrade after all checks except the acceptance of grants. */
async function plan(app: App, db: Db, caller: Caller, id: string, input: Upgrade): Promise<Plan> {
  const row = await queries.installations.get(db, caller.organizationId, id);
  const extension = await getInstalled(db, row.extension_id);
  const from = await versionOf(db, row);
  const to = await findVersion(db, extension, input.version ?? null);
  const { expectedVersion: expected = null } = input;
  if (expected !== null && expected !== from.id && expected !== from.version) {
    const text = `Version ${from.version} is installed, and not ${expected}: look at it again`;
    throw new ConflictError(installationNoun.name, text);
  }
  requireFitting(row, from, to);
  const difference = differenceOf(grantsOf(from), grantsOf(to));
  await requireCovered(app, db, caller, row, difference);
  return { row, from, to, difference };
}

/**
 * Changes the version of an installation, or shows the change with `dryRun`.
 * @throws ForbiddenError for a service, and for grants that the caller lacks;
 * ResourceNotFoundError; ConflictError for different grants, the same or a withdrawn version, a
 * different runtime, and an upgrade meanwhile; UnauthorizedError for a key that was revoked
 * meanwhile.
 */
export async function upgradeInstallation(
  app: App,
  caller: Caller,
  id: string,
  input: Upgrade,
): Promise<Upgraded> {
  if (caller.owner !== 'person') {
    throw new ForbiddenError('Only a person upgrades: use a key made with --owner person');
  }
  const { db } = app.store;
  const seen = await plan(app, db, caller, id, input);
  const shown = {
    fromVersion: refOf(seen.from),
    toVersion: refOf(seen.to),
    permissionDiff: seen.difference,
  };
  if (input.dryRun === true) {
    const installation = await presentInstallation(db, seen.row);
    return { installation, ...shown, dryRun: true, versionChange: null };
  }
  const { added } = seen.difference;
  requireAccepted(added, input.acceptPermissions ?? [], `the grants that ${seen.to.version} adds`);
  const upgraded = await app.store.write(async (trx) => {
    await requireStanding(app, trx, caller);
    await lockExtensions(trx, [seen.row.extension_id]);
    await queries.lockInstallation(trx, caller.organizationId, id);
    const now = await plan(app, trx, caller, id, { ...input, version: seen.to.id });
    if (now.from.id !== seen.from.id) {
      const text = `Installation ${id} has got version ${now.from.version} meanwhile: look at it again`;
      throw new ConflictError(installationNoun.name, text);
    }
    return store(app, trx, caller, now);
  });
  keysChanged(app);
  endpointsChanged(app);
  return { ...upgraded, ...shown, dryRun: false };
}

/** Stores an upgrade: version, rights, the change, audit and event. */
async function store(app: App, trx: Db, caller: Caller, { row, from, to, difference }: Plan) {
  const { organizationId } = caller;
  const rights = rightsOf(grantsOf(to), scopeOf(row), row.send_mode);
  await changeInstallationKey(trx, organizationId, row.key_id, rights.key);
  if (row.endpoint_id !== null) {
    const change = { rights: rights.endpoint };
    await changeInstallationEndpoint(app, trx, organizationId, row.endpoint_id, change);
  }
  const now = app.clock.now();
  const columns = { version_id: to.id, updated_at: now };
  const changed = await queries.installations.update(trx, organizationId, row.id, columns);
  const change: queries.VersionChangeRow = {
    id: app.newId(versionChangeNoun),
    organization_id: organizationId,
    installation_id: row.id,
    extension_id: row.extension_id,
    from_version_id: from.id,
    from_version: from.version,
    to_version_id: to.id,
    to_version: to.version,
    added: JSON.stringify(difference.added),
    removed: JSON.stringify(difference.removed),
    changed_by: JSON.stringify(authorOf(caller)),
    changed_at: now,
  };
  await queries.versionChanges.insert(trx, change);
  const installation = await presentInstallation(trx, changed);
  await record(app, trx, caller, {
    subject: row.id,
    action: 'extension-installation.upgraded',
    details: { from: from.version, to: to.version, ...difference },
    event: eventToRecord(extensionInstallationUpgraded, installation, { from: from.version }),
  });
  return { installation, versionChange: presentChange(change) };
}

function presentChange(row: queries.VersionChangeRow): VersionChange {
  return {
    id: row.id,
    organizationId: row.organization_id,
    installationId: row.installation_id,
    extensionId: row.extension_id,
    fromVersion: { id: row.from_version_id, version: row.from_version },
    toVersion: { id: row.to_version_id, version: row.to_version },
    permissionDiff: {
      added: fromJson<string[]>(row.added),
      removed: fromJson<string[]>(row.removed),
    },
    changedBy: fromJson<VersionChange['changedBy']>(row.changed_by),
    changedAt: isoTime(row.changed_at),
  };
}

/**
 * Returns a page of the upgrades and rollbacks of an installation, newest first; even of a deleted
 * installation.
 * @throws ResourceNotFoundError; ValidationError (a foreign cursor).
 */
export async function listVersionChanges(
  app: App,
  { organizationId }: Caller,
  id: string,
  { limit, cursor, ...times }: ListVersionChanges,
): Promise<CursorPage<VersionChange>> {
  const { db } = app.store;
  const { from, to } = boundsOf(times);
  const scope = ['installation-version-changes', id, from, to];
  const before = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const rows = await queries.selectVersionChanges(
    db,
    organizationId,
    id,
    { before, from, to },
    limit + 1,
  );
  const isKnown =
    rows.length > 0 || (await queries.installations.find(db, organizationId, id)) !== undefined;
  if (!isKnown) throw new ResourceNotFoundError(installationNoun.name, id);
  const { shown, nextCursor } = cutPage(scope, rows, limit, positionOfId);
  return { items: shown.map(presentChange), nextCursor };
}
