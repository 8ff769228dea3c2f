// Uninstalling an extension: the credentials end for good, the endpoint goes with all queued
// deliveries, and open proposals expire. The list of installed versions stays.
import { keysChanged } from '../access/keys/changes.ts';
import { switchInstallationKey } from '../access/keys/installation-keys.ts';
import type { Deleted } from '../core/api/resource-schema.ts';
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { eventToRecord, record } from '../history/events/record.ts';
import { expireProposalsOf } from '../inbox/approvals/actions.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import {
  deleteInstallationEndpoint,
  emptyInstallationEndpoint,
  endpointsChanged,
} from '../webhooks/endpoints/installation-endpoints.ts';
import { extensionInstallationDisabled } from './events.ts';
import { installations, lockInstallation } from './installation-queries.ts';
import { installationNoun } from './installation-schema.ts';
import { presentInstallation, withoutUrl } from './present-installation.ts';

/** Deletes an installation. @throws ResourceNotFoundError. */
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
      ...{ subject: id, action: installationNoun.deleted },
      details: { name, version: shown.version.version },
      // A disabled installation has reported the end before.
      event: row.status === 'disabled' ? null : eventToRecord(extensionInstallationDisabled, ended),
    });
  });
  keysChanged(app);
  endpointsChanged(app);
  return { success: true, message: `Installation ${id} is deleted` };
}
