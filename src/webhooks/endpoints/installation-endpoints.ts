// The endpoints of installations of extensions. Each installation has at most a single endpoint,
// which the API of webhooks shows but does not change: src/extensions makes, changes and ends it
// with the installation.
//
//   state      event                               to         also
//   active     the installation is disabled        suspended  waiting deliveries are kept, none is posted
//   suspended  the installation is enabled         active     waiting deliveries continue
//   disabled   the installation is enabled         active     earlier failures are forgotten
//   any        the version changes                 the same   deliveries of lost kinds become `cancelled`
import type { PermissionMap } from '../../core/api/permission.ts';
import type { App } from '../../core/app.ts';
import { holdRootKey } from '../../core/root-keys/root-keys.ts';
import { typesOf } from '../../history/events/patterns.ts';
import { ConflictError, ValidationError } from '../../platform/errors.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { deleteCounters } from '../deliveries/counter-queries.ts';
import { cancelOfKinds } from '../deliveries/delivery-queries.ts';
import type { EndpointRow } from '../rows.ts';
import { webhookNoun } from '../schema.ts';
import { deleteBacklog } from './backlog.ts';
import { countCancelled } from './disable.ts';
import { type EndpointReach, knownEndpoints } from './known-endpoints.ts';
import { endpointChanges, endpoints } from './queries.ts';
import { makeSecret, rotated } from './secrets.ts';
import { urlProblem } from './url-rules.ts';

/**
 * Number of deliveries that an upgrade cancels at once. The loop cancels the rest when due.
 */
const mostCancelled = 1_000;

/** Rights of the endpoint of an installation. */
export interface EndpointRights {
  /** Kinds of events, without patterns. */
  events: readonly string[];
  /** Mailboxes that the endpoint receives events of; null for all events. */
  reach: EndpointReach | null;
  /** Permissions that decide which data the posted bodies show (shown-data.ts). */
  permissions: PermissionMap;
}

/** Checks the URL of an endpoint before the transaction. @throws ValidationError. */
export async function checkInstallationUrl(app: App, url: string): Promise<void> {
  const problem = await urlProblem(app, url);
  if (problem !== null) throw ValidationError.of('webhookUrl', problem);
}

function columnsOf({ events, reach, permissions }: EndpointRights) {
  return {
    events: JSON.stringify(events),
    reach: toJson(reach),
    permissions: JSON.stringify(permissions),
  };
}

/** Creates the endpoint of an installation. Returns the secret, which nothing shows again. */
export async function createInstallationEndpoint(
  app: App,
  trx: Db,
  organizationId: string,
  {
    installationId,
    name,
    url,
    rights,
  }: { installationId: string; name: string; url: string; rights: EndpointRights },
): Promise<{ id: string; secret: string }> {
  const id = app.newId(webhookNoun);
  const now = app.clock.now();
  await holdRootKey(app, trx);
  const { plaintext, sealed } = makeSecret(app, id);
  const row: EndpointRow = {
    id,
    organization_id: organizationId,
    name,
    url,
    ...columnsOf(rights),
    channels: JSON.stringify(['email']),
    headers: null,
    status: 'active',
    disabled_reason: null,
    failing_since: null,
    cancel_before: null,
    secret: sealed,
    previous_secret: null,
    previous_until: null,
    installation_id: installationId,
    created_at: now,
    updated_at: now,
  };
  await endpoints.insert(trx, row);
  endpointChanges.note(trx);
  return { id, secret: plaintext };
}

/** Changes rights or URL of an endpoint. Cancels waiting deliveries of kinds that it lost. */
export async function changeInstallationEndpoint(
  app: App,
  trx: Db,
  organizationId: string,
  id: string,
  { rights, url }: { rights?: EndpointRights; url?: string },
): Promise<void> {
  const now = app.clock.now();
  const change = { url, ...(rights && columnsOf(rights)), updated_at: now };
  await endpoints.update(trx, organizationId, id, change);
  endpointChanges.note(trx);
  if (!rights) return;
  const lost = typesOf(['*']).filter((type) => !rights.events.includes(type));
  countCancelled(trx, await cancelOfKinds(trx, id, lost, now, mostCancelled));
}

/** Replaces the secret and returns the new secret. Both secrets sign for 24 hours. */
export async function rotateInstallationSecret(
  app: App,
  trx: Db,
  organizationId: string,
  id: string,
): Promise<string> {
  await holdRootKey(app, trx);
  const { plaintext, sealed } = makeSecret(app, id);
  const now = app.clock.now();
  const old = await endpoints.update(trx, organizationId, id, { updated_at: now });
  await endpoints.update(trx, organizationId, id, rotated(old, sealed, now));
  endpointChanges.note(trx);
  return plaintext;
}

/** Suspends an endpoint. An endpoint disabled for failures stays disabled. */
export async function suspendInstallationEndpoint(
  app: App,
  trx: Db,
  organizationId: string,
  id: string,
): Promise<void> {
  const now = app.clock.now();
  const { status } = await endpoints.update(trx, organizationId, id, { updated_at: now });
  if (status !== 'active') return;
  await endpoints.update(trx, organizationId, id, { status: 'suspended' });
  endpointChanges.note(trx);
}

/** Makes an endpoint active again, and forgets earlier failures. */
export async function resumeInstallationEndpoint(
  app: App,
  trx: Db,
  organizationId: string,
  id: string,
): Promise<void> {
  const well = { status: 'active', disabled_reason: null, failing_since: null } as const;
  await endpoints.update(trx, organizationId, id, { ...well, updated_at: app.clock.now() });
  endpointChanges.note(trx);
}

/**
 * Deletes an endpoint with all deliveries. Call `emptyInstallationEndpoint` first: then few remain.
 */
export async function deleteInstallationEndpoint(
  app: App,
  trx: Db,
  organizationId: string,
  id: string,
): Promise<void> {
  // Removes the endpoint first, so that no further deliveries are queued for it.
  await endpoints.remove(trx, organizationId, id);
  endpointChanges.note(trx);
  await deleteBacklog(app, id, trx);
  await deleteCounters(trx, id);
}

/** Removes the deliveries of an endpoint in several transactions, before it is deleted. */
export async function emptyInstallationEndpoint(app: App, id: string): Promise<void> {
  await deleteBacklog(app, id);
}

/** Clears the memory of endpoints. Call it after the commit of a change. */
export function endpointsChanged(app: App): void {
  knownEndpoints(app).forget();
}

/**
 * Refuses the endpoint of an installation, which only the installation changes.
 * @throws ConflictError
 */
export function requireByHand({ id, installation_id: of }: EndpointRow): void {
  if (of === null) return;
  const text =
    `Webhook ${id} belongs to installation ${of}: change, disable or uninstall that one ` +
    '(svc extensions)';
  throw new ConflictError(webhookNoun.name, text);
}
