// The HTTP operations on installations of extensions (specification 4.9).

import { keysChanged } from '../access/keys/changes.ts';
import { ownInstallationPath } from '../access/keys/constraints.ts';
import { switchInstallationKey } from '../access/keys/installation-keys.ts';
import { area } from '../core/api/area.ts';
import { type Deleted, deleted, idPath } from '../core/api/resource-schema.ts';
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { eventToRecord, record } from '../history/events/record.ts';
import { expireProposalsOf } from '../inbox/approvals/actions.ts';
import { ConflictError } from '../platform/errors.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import {
  deleteInstallationEndpoint,
  emptyInstallationEndpoint,
  endpointsChanged,
} from '../webhooks/endpoints/installation-endpoints.ts';
import { extensionInstallationDisabled } from './events.ts';
import { installations, lockInstallation } from './installation-queries.ts';
import {
  installationNoun,
  installationOutput,
  installationPage,
  installedOutput,
  installInput,
  listInstallationsQuery,
  listVersionChangesQuery,
  updateInstallationInput,
  upgradeInput,
  upgradeOutput,
  versionChangePage,
} from './installation-schema.ts';
import {
  getInstallation,
  getOwnInstallation,
  install,
  listInstallations,
  updateInstallation,
} from './installations.ts';
import { presentInstallation, withoutUrl } from './present-installation.ts';
import { disableInstallation, enableInstallation, rotateCredentials } from './standing.ts';
import { listVersionChanges, upgradeInstallation } from './upgrade.ts';

const at = area('extensions', { noun: installationNoun });
const path = '/v1/extension-installations';
const params = idPath(installationNoun, 'an installation');
const onePath = `${path}/{id}` as const;

export const installationRoutes = {
  list: at.get(path, {
    name: 'listExtensionInstallations',
    summary: 'List the installations of extensions, newest first',
    query: listInstallationsQuery,
    output: installationPage,
    run: (app, { caller, query }) => listInstallations(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createExtensionInstallation',
    summary: 'Install an extension with exactly the accepted grants',
    description:
      '`acceptPermissions` must list the grants of the version, no more and no less. What the ' +
      'caller may not do itself it cannot grant. A scope binds the installation to the paths ' +
      'under its mailboxes. Only this answer has the key, and the secret of the webhook.',
    body: installInput,
    output: installedOutput,
    shownOnce: ['key', 'webhook.secret'],
    throws: [ConflictError],
    run: (app, { caller, body }) => install(app, caller, body),
  }),
  own: at.get(ownInstallationPath, {
    name: 'getOwnExtensionInstallation',
    summary: 'Show the calling installation',
    description: 'Each installation may read itself, without a permission. 404 for other keys.',
    output: installationOutput,
    run: (app, { caller }) => getOwnInstallation(app, caller),
  }),
  get: at.get(onePath, {
    name: 'getExtensionInstallation',
    summary: 'Show an installation of an extension',
    params,
    output: installationOutput,
    run: (app, { caller, params: { id } }) => getInstallation(app, caller, id),
  }),
  update: at.patch(onePath, {
    name: 'updateExtensionInstallation',
    summary: 'Change send mode, scope or webhook of an installation',
    description:
      'Its grants change by an upgrade alone. Only a person may widen its send mode or its scope.',
    params,
    body: updateInstallationInput,
    output: installationOutput,
    run: (app, { caller, params: { id }, body }) => updateInstallation(app, caller, id, body),
  }),
  delete: at.delete(onePath, {
    name: 'deleteExtensionInstallation',
    summary: 'Uninstall an extension',
    description:
      'Its key and its webhook end for good, with what waits there, and its proposals expire.',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => uninstall(app, caller, id),
  }),
  disable: at.post(`${onePath}/disable`, {
    name: 'disableExtensionInstallation',
    summary: 'Disable an installation at once',
    description:
      'Its key is refused and its streams end. Posts to its webhook wait, and nothing new is ' +
      'queued for it.',
    params,
    output: installationOutput,
    run: (app, { caller, params: { id } }) => disableInstallation(app, caller, id),
  }),
  enable: at.post(`${onePath}/enable`, {
    name: 'enableExtensionInstallation',
    summary: 'Enable an installation with all that it had',
    description: 'Also one whose webhook was disabled for its failures.',
    params,
    output: installationOutput,
    run: (app, { caller, params: { id } }) => enableInstallation(app, caller, id),
  }),
  rotate: at.post(`${onePath}/rotate-credentials`, {
    name: 'rotateExtensionCredentials',
    summary: 'Replace the key of an installation, and the secret of its webhook',
    description: 'The old key ends at once. Both secrets sign for 24 hours.',
    params,
    output: installedOutput,
    shownOnce: ['key', 'webhook.secret'],
    run: (app, { caller, params: { id } }) => rotateCredentials(app, caller, id),
  }),
  upgrade: at.post(`${onePath}/upgrade`, {
    name: 'upgradeExtensionInstallation',
    summary: 'Change the version of an installation in place',
    description:
      'Only a person may, and `acceptPermissions` must list exactly the grants that are new. An ' +
      'older version rolls back. Credentials, owner, scope, send mode and status stay. With ' +
      '`dryRun` nothing changes.',
    params,
    body: upgradeInput,
    bodyOptional: true,
    output: upgradeOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => upgradeInstallation(app, caller, id, body),
  }),
  changes: at.get(`${onePath}/version-changes`, {
    name: 'listInstallationVersionChanges',
    summary: 'List the upgrades and rollbacks of an installation, newest first',
    description: 'They are kept for good, also after the installation was deleted.',
    params,
    query: listVersionChangesQuery,
    output: versionChangePage,
    run: (app, { caller, params: { id }, query }) => listVersionChanges(app, caller, id, query),
  }),
};

// Uninstalls an extension: the credentials end for good, the endpoint and all queued deliveries are
// deleted, and open proposals expire. The list of installed versions stays.

/** Deletes an installation and the endpoint, and ends the key. @throws ResourceNotFoundError. */
export async function uninstall(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  const { endpoint_id } = await installations.get(app.store.db, organizationId, id);
  if (endpoint_id !== null) await emptyInstallationEndpoint(app, endpoint_id);
  await app.store.write(async (trx) => {
    const row = await lockInstallation(trx, organizationId, id);
    const { name, ...shown } = await presentInstallation(trx, row);
    await switchInstallationKey(trx, organizationId, row.key_id, false);
    if (row.endpoint_id !== null) {
      await deleteInstallationEndpoint(app, trx, organizationId, row.endpoint_id);
    }
    await expireProposalsOf(trx, organizationId, id, `The installation ${id} was uninstalled`);
    await installations.remove(trx, organizationId, id);
    const disabledAt = shown.disabledAt ?? isoTime(app.clock.now());
    const ended = withoutUrl({ ...shown, name, status: 'disabled', disabledAt });
    await record(app, trx, caller, {
      subject: id,
      action: installationNoun.deleted,
      details: { name, version: shown.version.version },
      // Disabling the installation has already published the event.
      event: row.status === 'disabled' ? null : eventToRecord(extensionInstallationDisabled, ended),
    });
  });
  keysChanged(app);
  endpointsChanged(app);
  return { success: true, message: `Installation ${id} is deleted` };
}
