// Webhook endpoints (specification 2.14, 4.9): create, list, change and delete them, and rotate
// their secrets. Every change increments a counter, so that each process clears the cache.
//
//   state     event                         to        also
//   (none)    create                        active    the secret is shown this once
//   active    update, a 410, days of        disabled  waiting deliveries become `cancelled`
//             failures
//   disabled  update                        active    disabledReason and failures cleared
//   any       rotate-secret                 the same  both secrets sign for 24 hours
//   any       delete                        (none)    deliveries and statistics are gone with it

import { lockOrganization } from '../../access/organizations/queries.ts';
import { type Page, type PageRequest, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { holdRootKey } from '../../core/root-keys/root-keys.ts';
import { changesOf, type Details } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError, ForbiddenError, ValidationError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import { deleteCounters } from '../deliveries/counter-queries.ts';
import { toWebhook } from '../present.ts';
import type { EndpointRow } from '../rows.ts';
import { type CreateWebhook, type UpdateWebhook, type Webhook, webhookNoun } from '../schema.ts';
import { cancelPending, deleteBacklog } from './backlog.ts';
import { requireByHand } from './installation-endpoints.ts';
import { knownEndpoints } from './known-endpoints.ts';
import { endpointChanges, endpoints, madeByHand } from './queries.ts';
import { makeSecret, openHeaders, renewed, rotated, sealHeaders } from './secrets.ts';
import { urlProblem } from './url-rules.ts';

const mostEndpoints = 50;

/**
 * Returns the settings of an endpoint for the audit. Leaves out the path of the URL and the values
 * of the headers.
 */
function settingsOf(app: App, row: EndpointRow) {
  return {
    name: row.name,
    origin: new URL(row.url).origin,
    events: fromJson<string[]>(row.events),
    channels: fromJson<string[]>(row.channels),
    headers: Object.keys(openHeaders(app, row)),
    status: row.status,
  };
}

/**
 * Returns the changed settings for the audit. For a changed path or header value it records only
 * that the value changed.
 */
function differences(app: App, before: EndpointRow, after: EndpointRow): Details {
  const values = (row: EndpointRow) => JSON.stringify(openHeaders(app, row));
  return {
    ...changesOf(settingsOf(app, before), settingsOf(app, after)),
    ...(before.url !== after.url && { urlChanged: true }),
    ...(values(before) !== values(after) && { headersChanged: true }),
  };
}

/**
 * Refuses an installation of an extension: it has its own endpoint, which is limited by its
 * grants.
 * @throws ForbiddenError.
 */
function refuseInstallation({ installation }: Caller): void {
  if (installation === null) return;
  throw new ForbiddenError('An installation makes and changes no webhooks: it has one of its own');
}

async function checkUrl(app: App, url: string): Promise<void> {
  const problem = await urlProblem(app, url);
  if (problem !== null) throw ValidationError.of('url', problem);
}

/**
 * Creates an endpoint; only this response includes the `secret`.
 * @throws ForbiddenError for an installation; ValidationError for a URL that may not be posted to;
 * ConflictError beyond 50.
 */
export async function createWebhook(
  app: App,
  caller: Caller,
  input: CreateWebhook,
): Promise<Webhook> {
  refuseInstallation(caller);
  const { organizationId } = caller;
  await checkUrl(app, input.url);
  const id = app.newId(webhookNoun);
  const now = app.clock.now();
  const { plaintext, sealed } = makeSecret(app, id);
  const row: EndpointRow = {
    id,
    organization_id: organizationId,
    name: input.name ?? null,
    url: input.url,
    events: JSON.stringify(input.events),
    channels: JSON.stringify(input.channels ?? ['email']),
    headers: sealHeaders(app, id, input.headers ?? null),
    status: 'active',
    disabled_reason: null,
    secret: sealed,
    previous_secret: null,
    previous_until: null,
    failing_since: null,
    cancel_before: null,
    installation_id: null,
    reach: null,
    permissions: null,
    created_at: now,
    updated_at: now,
  };
  await app.store.write(async (trx) => {
    // Locks the organization, so that concurrent creations are counted in sequence.
    await lockOrganization(trx, organizationId, now);
    if ((await endpoints.count(trx, organizationId, madeByHand)) >= mostEndpoints) {
      const text = `The organization already has ${mostEndpoints} webhooks, the limit`;
      throw new ConflictError('webhook', text);
    }
    await endpoints.insert(trx, renewed(row, await holdRootKey(app, trx)));
    endpointChanges.note(trx);
    const details = settingsOf(app, row);
    await record(app, trx, caller, { subject: id, action: webhookNoun.created, details });
  });
  knownEndpoints(app).forget();
  return toWebhook(app, row, caller.permissions, plaintext);
}

/** Returns a page of the organization's endpoints, newest first. */
export async function listWebhooks(
  app: App,
  caller: Caller,
  page: PageRequest,
): Promise<Page<Webhook>> {
  const { rows, total } = await endpoints.page(
    app.store.db,
    caller.organizationId,
    page,
    madeByHand,
  );
  return toPage(
    rows.map((row) => toWebhook(app, row, caller.permissions)),
    total,
    page,
  );
}

/** Returns an endpoint, also of an installation. @throws ResourceNotFoundError. */
export async function getWebhook(app: App, caller: Caller, id: string): Promise<Webhook> {
  const row = await endpoints.get(app.store.db, caller.organizationId, id);
  return toWebhook(app, row, caller.permissions);
}

/** Returns the columns to set for a new status; no columns if the status stays. */
function statusColumns(
  row: EndpointRow,
  status: UpdateWebhook['status'],
  now: number,
): Partial<EndpointRow> {
  if (status === undefined || status === row.status) return {};
  const columns = { status, disabled_reason: null, failing_since: null };
  return status === 'disabled' ? { ...columns, cancel_before: now } : columns;
}

/**
 * Changes the given fields. Disabling cancels waiting deliveries and stops new deliveries; enabling
 * clears earlier failures.
 * @throws ForbiddenError for an installation; ResourceNotFoundError; ConflictError for the endpoint
 * of an installation; ValidationError for a URL that may not be posted to.
 */
export async function updateWebhook(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateWebhook,
): Promise<Webhook> {
  refuseInstallation(caller);
  const { organizationId } = caller;
  requireByHand(await endpoints.get(app.store.db, organizationId, id));
  if (input.url !== undefined) await checkUrl(app, input.url);
  const updated = await app.store.write(async (trx) => {
    const now = app.clock.now();
    // Locks the row and returns it with all changes committed so far.
    const row = await endpoints.update(trx, organizationId, id, { id });
    await holdRootKey(app, trx);
    const changed: EndpointRow = {
      ...row,
      ...(input.name !== undefined && { name: input.name }),
      ...(input.url !== undefined && { url: input.url }),
      ...(input.events && { events: JSON.stringify(input.events) }),
      ...(input.channels && { channels: JSON.stringify(input.channels) }),
      ...(input.headers !== undefined && { headers: sealHeaders(app, id, input.headers) }),
      ...statusColumns(row, input.status, now),
      updated_at: now,
    };
    const details = differences(app, row, changed);
    if (Object.keys(details).length === 0) return row;
    await endpoints.update(trx, organizationId, id, changed);
    endpointChanges.note(trx);
    await record(app, trx, caller, { subject: id, action: webhookNoun.updated, details });
    return changed;
  });
  knownEndpoints(app).forget();
  if (input.status === 'disabled') await cancelPending(app, id);
  return toWebhook(app, updated, caller.permissions);
}

/**
 * Replaces the secret; only this response includes the new `secret`. Old and new secret
 * both sign for 24 hours.
 * @throws ResourceNotFoundError.
 */
export async function rotateSecret(app: App, caller: Caller, id: string): Promise<Webhook> {
  refuseInstallation(caller);
  const { plaintext, sealed } = makeSecret(app, id);
  requireByHand(await endpoints.get(app.store.db, caller.organizationId, id));
  const row = await app.store.write(async (trx) => {
    const now = app.clock.now();
    const old = await endpoints.update(trx, caller.organizationId, id, { updated_at: now });
    const columns = renewed({ ...rotated(old, sealed, now), id }, await holdRootKey(app, trx));
    const changed = await endpoints.update(trx, caller.organizationId, id, columns);
    endpointChanges.note(trx);
    await record(app, trx, caller, { subject: id, action: 'webhook.secret-rotated' });
    return changed;
  });
  knownEndpoints(app).forget();
  return toWebhook(app, row, caller.permissions, plaintext);
}

/**
 * Deletes an endpoint with all deliveries and statistics. Posts that have begun still arrive.
 * @throws ResourceNotFoundError.
 */
export async function deleteWebhook(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  requireByHand(await endpoints.get(app.store.db, organizationId, id));
  await deleteBacklog(app, id);
  await app.store.write(async (trx) => {
    // Removes the endpoint first, so that no further deliveries are queued for it.
    const row = await endpoints.remove(trx, organizationId, id);
    endpointChanges.note(trx);
    await deleteBacklog(app, id, trx);
    await deleteCounters(trx, id);
    const { name, origin } = settingsOf(app, row);
    await record(app, trx, caller, {
      subject: id,
      action: webhookNoun.deleted,
      details: { name, origin },
    });
  });
  knownEndpoints(app).forget();
  return { success: true, message: `Webhook ${id} is deleted` };
}
