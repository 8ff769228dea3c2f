// Installations of extensions (specification 2.15, 4.9, 5.7): a person accepts exactly the grants
// of a version. Each installation has a key, and an endpoint if events are posted: all three are
// made, changed and ended together.
//
//   state      moved by                                     to         also
//   (none)     install                                      active     key and secret shown this once
//   active     disable                                      disabled   key 401, streams ended, posts kept
//   active     the endpoint is disabled for failures        failing    the key still works
//   failing    disable                                      disabled
//   failing,   enable                                       active     the same key; kept posts continue
//   disabled
//   any        upgrade (upgrade.ts)                         the same   new version, new grants
//   any        rotate-credentials                           the same   new key and secret
//   any        uninstall (installation-routes.ts)           (none)     open proposals expire
import { keysChanged } from '../access/keys/changes.ts';
import { areNoLooser } from '../access/keys/constraints.ts';
import {
  changeInstallationKey,
  type InstallationRights,
  makeInstallationKey,
  requireGrantable,
} from '../access/keys/installation-keys.ts';
import { permissionMapOf } from '../access/keys/roles.ts';
import { lockOrganization } from '../access/organizations/queries.ts';
import { type CursorPage, cutPage, positionOfId, readCursor } from '../core/api/cursor.ts';
import { allows } from '../core/api/permission.ts';
import { type Caller, type SendMode, sendModes } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { changesOf } from '../history/audit/audit.ts';
import { eventToRecord, record } from '../history/events/record.ts';
import { isShown } from '../history/events/shown-data.ts';
import { findMailboxes, namespaces } from '../identity/mailboxes/queries.ts';
import { authorOf } from '../inbox/threads/authors.ts';
import {
  ConflictError,
  ForbiddenError,
  ResourceNotFoundError,
  ValidationError,
} from '../platform/errors.ts';
import { type Db, fromJson } from '../platform/store/db.ts';
import { createdWithin } from '../platform/store/rows/rows.ts';
import { boundsOf as timeBoundsOf } from '../platform/store/rows/time-range.ts';
import {
  changeInstallationEndpoint,
  checkInstallationUrl,
  createInstallationEndpoint,
  type EndpointRights,
  endpointsChanged,
} from '../webhooks/endpoints/installation-endpoints.ts';
import { extensionInstallationCreated } from './events.ts';
import { getVisible } from './extensions.ts';
import { type Grants, grantsOf, namesOf, requireAccepted } from './grants.ts';
import * as queries from './installation-queries.ts';
import {
  type Install,
  type Installation,
  type Installed,
  installationNoun,
  type ListInstallations,
  type Scope,
  type UpdateInstallation,
} from './installation-schema.ts';
import {
  presentInstallation,
  presentInstallations,
  scopeOf,
  shownTo,
  withoutUrl,
} from './present-installation.ts';
import { type ExtensionRow, findVersionRow, lockExtensions, type VersionRow } from './queries.ts';
import { versionNoun } from './schema.ts';
import { findVersion } from './versions.ts';

const mostInstallations = 10_000;

type ScopeInput = Install['scope'];

/** Returns the scope of a request, without repeated ids. */
function wantedScope(input: ScopeInput): Scope {
  const { mailboxIds = [], namespaceId = null } = input ?? {};
  return { mailboxIds: [...new Set(mailboxIds)], namespaceId };
}

/**
 * @throws ResourceNotFoundError for a mailbox or a namespace that the organization does not have.
 */
async function checkScope(db: Db, organizationId: string, scope: Scope): Promise<void> {
  const { mailboxIds, namespaceId } = scope;
  const rows = mailboxIds.length > 0 ? await findMailboxes(db, mailboxIds) : [];
  const known = new Set(
    rows.flatMap((row) =>
      row.organization_id === organizationId && row.status !== 'deleted' ? row.id : [],
    ),
  );
  const unknown = mailboxIds.find((id) => !known.has(id));
  if (unknown !== undefined) throw new ResourceNotFoundError('mailbox', unknown);
  if (namespaceId !== null) await namespaces.get(db, organizationId, namespaceId);
}

/** Returns the mailboxes to which a key and an endpoint are bound; null for all. */
function boundsOf({ mailboxIds, namespaceId }: Scope) {
  if (mailboxIds.length > 0) return { mailboxIds };
  return namespaceId === null ? null : { namespaceId };
}

/** Returns the rights of the key and of the endpoint of an installation. */
export function rightsOf(
  { permissions, events }: Grants,
  scope: Scope,
  sendMode: SendMode,
): { key: InstallationRights; endpoint: EndpointRights } {
  const map = permissionMapOf(permissions);
  const bounds = boundsOf(scope);
  return {
    key: { permissions: map, constraints: bounds, sendMode, events },
    endpoint: { events, reach: bounds, permissions: map },
  };
}

/**
 * Requires that the caller may receive these events.
 * @throws ForbiddenError.
 */
export function requireHearing({ permissions }: Caller, events: readonly string[]): void {
  if (allows(permissions, 'webhooks:read')) return;
  const beyond = events.find((type) => !isShown(type, permissions));
  if (beyond === undefined) return;
  throw new ForbiddenError(
    `The installation would have the events ${beyond}, which this key lacks`,
  );
}

/**
 * Returns the requested send mode, or the strictest mode that the version offers. @throws
 * ValidationError.
 */
function chosenMode(version: VersionRow, wanted: SendMode | null): SendMode {
  const offered = fromJson<SendMode[]>(version.send_modes);
  if (wanted === null) return sendModes.find((mode) => offered.includes(mode)) ?? 'none';
  if (offered.includes(wanted)) return wanted;
  const text = `must be one that version ${version.version} offers: ${offered.join(', ')}`;
  throw ValidationError.of('sendMode', text);
}

/** Refuses a withdrawn version. @throws ConflictError. */
export function requireOffered({ version, withdrawn_at: at }: VersionRow): void {
  if (at === null) return;
  throw new ConflictError(versionNoun.name, `Version ${version} is withdrawn: choose another one`);
}

/** Refuses a URL for `hosted`, and a missing URL for events (`hears`). @throws ValidationError */
function checkRuntime({ runtime, version }: VersionRow, url: string | null, hears: boolean): void {
  if (runtime === 'hosted' && url !== null) {
    const text = `must be left out: version ${version} reads its events from the stream (hosted)`;
    throw ValidationError.of('webhookUrl', text);
  }
  if (runtime === 'webhook' && hears && url === null) {
    throw ValidationError.of('webhookUrl', `is needed: version ${version} has its events posted`);
  }
}

/** Returns the settings of an installation for the audit. */
function settingsOf(row: queries.InstallationRow) {
  return { sendMode: row.send_mode, ...scopeOf(row) };
}

function columnsOf({ mailboxIds, namespaceId }: Scope) {
  return {
    mailbox_ids: mailboxIds.length > 0 ? JSON.stringify(mailboxIds) : null,
    namespace_id: namespaceId,
  };
}

/** Locks an extension and reads the version again: it may have been deleted or withdrawn. */
async function lockVersion(trx: Db, extension: ExtensionRow, version: VersionRow): Promise<void> {
  await lockExtensions(trx, [extension.id]);
  const row = await findVersionRow(trx, extension.id, version.id);
  if (!row) throw new ResourceNotFoundError(versionNoun.name, version.version);
  requireOffered(row);
}

/**
 * Installs a version of an extension with exactly the accepted grants. Only this answer has the
 * credentials.
 * @throws ResourceNotFoundError; ValidationError; ConflictError for different grants, a withdrawn
 * version, and beyond 10,000; ForbiddenError for rights that the caller lacks.
 */
export async function install(app: App, caller: Caller, input: Install): Promise<Installed> {
  const { organizationId } = caller;
  const { db } = app.store;
  const extension = await getVisible(db, organizationId, input.extensionId);
  const version = await findVersion(db, extension, input.version ?? null);
  requireOffered(version);
  const grants = grantsOf(version);
  const sendMode = chosenMode(version, input.sendMode ?? null);
  const url = input.webhookUrl ?? null;
  checkRuntime(version, url, grants.events.length > 0);
  if (url !== null) await checkInstallationUrl(app, url);
  const scope = wantedScope(input.scope);
  await checkScope(db, organizationId, scope);
  requireAccepted(namesOf(grants), input.acceptPermissions, `the grants of ${version.version}`);
  requireHearing(caller, grants.events);
  const rights = rightsOf(grants, scope, sendMode);
  const name = extension.display_name ?? extension.name;
  const id = app.newId(installationNoun);
  const installed = await app.store.write(async (trx) => {
    const now = app.clock.now();
    // Locks the organization, so that concurrent installations are counted in series.
    await lockOrganization(trx, organizationId, now);
    await lockVersion(trx, extension, version);
    if ((await queries.installations.count(trx, organizationId)) >= mostInstallations) {
      const text = `The organization already has ${mostInstallations} installations, the limit`;
      throw new ConflictError(installationNoun.name, text);
    }
    const key = await makeInstallationKey(app, trx, caller, {
      installationId: id,
      name,
      ...rights.key,
    });
    const endpoint =
      url === null
        ? null
        : await createInstallationEndpoint(app, trx, organizationId, {
            installationId: id,
            name,
            url,
            rights: rights.endpoint,
          });
    const row: queries.InstallationRow = {
      id,
      organization_id: organizationId,
      extension_id: extension.id,
      version_id: version.id,
      key_id: key.id,
      endpoint_id: endpoint?.id ?? null,
      status: 'active',
      send_mode: sendMode,
      ...columnsOf(scope),
      created_by: JSON.stringify(authorOf(caller)),
      created_at: now,
      updated_at: now,
      disabled_at: null,
    };
    await queries.installations.insert(trx, row);
    const shown = await presentInstallation(trx, row);
    await record(app, trx, caller, {
      subject: id,
      action: installationNoun.created,
      details: {
        extensionId: extension.id,
        name: extension.name,
        version: version.version,
        grants: namesOf(grants),
        ...settingsOf(row),
      },
      event: eventToRecord(extensionInstallationCreated, withoutUrl(shown)),
    });
    const { webhook } = shown;
    return {
      ...shown,
      key: key.plaintext,
      webhook: webhook && endpoint && { ...webhook, secret: endpoint.secret },
    };
  });
  endpointsChanged(app);
  return installed;
}

/**
 * Returns a page of the installations in the organization, newest first.
 * @throws ValidationError (a foreign cursor).
 */
export async function listInstallations(
  app: App,
  caller: Caller,
  { status, extensionId, limit, cursor, ...times }: ListInstallations,
): Promise<CursorPage<Installation>> {
  const { organizationId } = caller;
  const { db } = app.store;
  const { from, to } = timeBoundsOf(times);
  const scope = ['extension-installations', organizationId, status, extensionId, from, to];
  const before = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const filter = { status, extensionId, within: createdWithin(times) };
  const rows = await queries.selectInstallations(db, organizationId, filter, before, limit + 1);
  const { shown, nextCursor } = cutPage(scope, rows, limit, positionOfId);
  const items = await presentInstallations(db, shown);
  return { items: items.map((one) => shownTo(caller, one)), nextCursor };
}

/** Returns an installation as the caller may see it. @throws ResourceNotFoundError. */
export async function getInstallation(app: App, caller: Caller, id: string): Promise<Installation> {
  const { db } = app.store;
  const row = await queries.installations.get(db, caller.organizationId, id);
  return shownTo(caller, await presentInstallation(db, row));
}

/** Shows the calling installation. @throws ResourceNotFoundError for any other caller. */
export async function getOwnInstallation(app: App, caller: Caller): Promise<Installation> {
  const { db } = app.store;
  const { organizationId, installation } = caller;
  if (!installation) throw new ResourceNotFoundError(installationNoun.name, 'me');
  return presentInstallation(
    db,
    await queries.installations.get(db, organizationId, installation.id),
  );
}

/**
 * Requires a person for a change that widens an installation: a looser send mode, or more
 * mailboxes.
 * @throws ForbiddenError.
 */
function requirePersonToWiden(
  { owner }: Caller,
  from: InstallationRights,
  to: InstallationRights,
): void {
  const sendsMore = sendModes.indexOf(to.sendMode) > sendModes.indexOf(from.sendMode);
  const widened = [
    ...(sendsMore ? ['sendMode'] : []),
    ...(areNoLooser(to.constraints, from.constraints) ? [] : ['scope']),
  ];
  if (owner === 'person' || widened.length === 0) return;
  throw new ForbiddenError(
    `Only a person widens ${widened.join(' and ')} of an installation: use a key made with ` +
      '--owner person',
  );
}

/** Returns the version that an installation has now, with the grants. */
export async function versionOf(db: Db, row: queries.InstallationRow): Promise<VersionRow> {
  const version = await findVersionRow(db, row.extension_id, row.version_id);
  if (!version) throw new Error(`${row.id} has no version`);
  return version;
}

/**
 * Changes send mode, scope or URL of an installation, within the rights of the caller.
 * @throws ResourceNotFoundError; ValidationError; ForbiddenError for rights that the caller lacks,
 * and for a service that widens the installation.
 */
export async function updateInstallation(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateInstallation,
): Promise<Installation> {
  const { organizationId } = caller;
  const { db } = app.store;
  await queries.installations.get(db, organizationId, id);
  const { webhookUrl: url } = input;
  if (url !== undefined) await checkInstallationUrl(app, url);
  const wanted = input.scope === undefined ? null : wantedScope(input.scope);
  if (wanted) await checkScope(db, organizationId, wanted);
  const updated = await app.store.write(async (trx) => {
    const row = await queries.lockInstallation(trx, organizationId, id);
    const version = await versionOf(trx, row);
    const sendMode = chosenMode(version, input.sendMode ?? row.send_mode);
    if (url !== undefined && row.endpoint_id === null) {
      const text = 'cannot be set: the installation was made without a webhook, so install it anew';
      throw ValidationError.of('webhookUrl', text);
    }
    const scope = wanted ?? scopeOf(row);
    const grants = grantsOf(version);
    const rights = rightsOf(grants, scope, sendMode);
    const present = rightsOf(grants, scopeOf(row), row.send_mode);
    requirePersonToWiden(caller, present.key, rights.key);
    await requireGrantable(app, trx, caller, row.key_id, rights.key);
    requireHearing(caller, rights.endpoint.events);
    await changeInstallationKey(trx, organizationId, row.key_id, rights.key);
    if (row.endpoint_id !== null) {
      const change = { rights: rights.endpoint, ...(url !== undefined && { url }) };
      await changeInstallationEndpoint(app, trx, organizationId, row.endpoint_id, change);
    }
    const columns = { send_mode: sendMode, ...columnsOf(scope), updated_at: app.clock.now() };
    const changed = await queries.installations.update(trx, organizationId, id, columns);
    const details = {
      ...changesOf(settingsOf(row), settingsOf(changed)),
      ...(url !== undefined && { urlChanged: true }),
    };
    if (Object.keys(details).length > 0) {
      await record(app, trx, caller, { subject: id, action: installationNoun.updated, details });
    }
    return presentInstallation(trx, changed);
  });
  keysChanged(app);
  endpointsChanged(app);
  return updated;
}
