// Changes the state of an installation (state table: installations.ts): people disable and enable
// it, and a disabled endpoint makes it failing. Also replaces credentials.
import { keysChanged } from '../access/keys/changes.ts';
import {
  replaceInstallationKey,
  requireGrantable,
  switchInstallationKey,
} from '../access/keys/installation-keys.ts';
import type { Caller } from '../core/api/route.ts';
import type { App, Hooks } from '../core/app.ts';
import type { AuditAction } from '../history/audit/schema.ts';
import { eventToRecord, record } from '../history/events/record.ts';
import type { Db } from '../platform/store/db.ts';
import {
  endpointsChanged,
  resumeInstallationEndpoint,
  rotateInstallationSecret,
  suspendInstallationEndpoint,
} from '../webhooks/endpoints/installation-endpoints.ts';
import { extensionInstallationDisabled } from './events.ts';
import { grantsOf } from './grants.ts';
import { type InstallationRow, installations, lockInstallation } from './installation-queries.ts';
import type { Installation, Installed } from './installation-schema.ts';
import { rightsOf, versionOf } from './installations.ts';
import { presentInstallation, scopeOf, withoutUrl } from './present-installation.ts';

/** Marks an active installation as failing. `enableInstallation` makes it active again. */
export const markFailing: Hooks['endpointDisabled'] = async (
  { clock },
  trx,
  { organizationId, installationId },
) => {
  const row = await installations.find(trx, organizationId, installationId);
  if (row?.status !== 'active') return;
  const change = { status: 'failing', updated_at: clock.now() } as const;
  await installations.update(trx, organizationId, installationId, change);
};

/** Audits that an installation was enabled or disabled. Publishes an event only for disabling. */
async function recordMove(
  app: App,
  trx: Db,
  caller: Caller,
  shown: Installation,
  action: AuditAction,
): Promise<void> {
  const event =
    shown.status === 'disabled'
      ? eventToRecord(extensionInstallationDisabled, withoutUrl(shown))
      : null;
  const details = { name: shown.name, version: shown.version.version };
  await record(app, trx, caller, { subject: shown.id, action, details, event });
}

/**
 * Disables an installation at once: the key is refused, streams end, and posts wait. A
 * repeat succeeds.
 * @throws ResourceNotFoundError.
 */
export async function disableInstallation(
  app: App,
  caller: Caller,
  id: string,
): Promise<Installation> {
  const { organizationId } = caller;
  const disabled = await app.store.write(async (trx) => {
    const row = await lockInstallation(trx, organizationId, id);
    if (row.status === 'disabled') return presentInstallation(trx, row);
    await switchInstallationKey(trx, organizationId, row.key_id, false);
    const { endpoint_id: endpointId } = row;
    if (endpointId !== null) {
      await suspendInstallationEndpoint(app, trx, organizationId, endpointId);
    }
    const now = app.clock.now();
    const change = { status: 'disabled', disabled_at: now, updated_at: now } as const;
    const changed = await installations.update(trx, organizationId, id, change);
    const shown = await presentInstallation(trx, changed);
    await recordMove(app, trx, caller, shown, 'extension-installation.disabled');
    return shown;
  });
  keysChanged(app);
  endpointsChanged(app);
  return disabled;
}

/** @throws ForbiddenError if the caller lacks a right of the installation. */
async function requireRights(
  app: App,
  trx: Db,
  caller: Caller,
  row: InstallationRow,
): Promise<void> {
  const grants = grantsOf(await versionOf(trx, row));
  const { key } = rightsOf(grants, scopeOf(row), row.send_mode);
  await requireGrantable(app, trx, caller, row.key_id, key);
}

/**
 * Enables an installation with the key, the endpoint and the waiting posts that it had. A repeat
 * succeeds.
 * @throws ResourceNotFoundError; ForbiddenError for rights that the caller lacks.
 */
export async function enableInstallation(
  app: App,
  caller: Caller,
  id: string,
): Promise<Installation> {
  const { organizationId } = caller;
  const enabled = await app.store.write(async (trx) => {
    const row = await lockInstallation(trx, organizationId, id);
    if (row.status === 'active') return presentInstallation(trx, row);
    await requireRights(app, trx, caller, row);
    await switchInstallationKey(trx, organizationId, row.key_id, true);
    const { endpoint_id: endpointId } = row;
    if (endpointId !== null) await resumeInstallationEndpoint(app, trx, organizationId, endpointId);
    const change = { status: 'active', disabled_at: null, updated_at: app.clock.now() } as const;
    const changed = await installations.update(trx, organizationId, id, change);
    const shown = await presentInstallation(trx, changed);
    await recordMove(app, trx, caller, shown, 'extension-installation.enabled');
    return shown;
  });
  keysChanged(app);
  endpointsChanged(app);
  return enabled;
}

/**
 * Replaces key and secret. The old key ends at once; the old and the new secret sign for 24 hours.
 * @throws ResourceNotFoundError; ForbiddenError for rights that the caller lacks.
 */
export async function rotateCredentials(app: App, caller: Caller, id: string): Promise<Installed> {
  const { organizationId } = caller;
  const rotated = await app.store.write(async (trx) => {
    const row = await lockInstallation(trx, organizationId, id);
    const key = await replaceInstallationKey(app, trx, caller, row.key_id);
    const { endpoint_id: endpointId } = row;
    const secret =
      endpointId === null
        ? null
        : await rotateInstallationSecret(app, trx, organizationId, endpointId);
    const change = { key_id: key.id, updated_at: app.clock.now() };
    const changed = await installations.update(trx, organizationId, id, change);
    const shown = await presentInstallation(trx, changed);
    await record(app, trx, caller, {
      subject: id,
      action: 'extension-installation.rotated',
      details: { name: shown.name, keyId: key.id },
    });
    const { webhook } = shown;
    const secretly = webhook && secret !== null ? { ...webhook, secret } : null;
    return { ...shown, key: key.plaintext, webhook: secretly };
  });
  keysChanged(app);
  endpointsChanged(app);
  return rotated;
}
