// Organizations: making, finding, listing, changing, pausing and resuming them. Only the operator
// does so, except that owners choose `signIn`; the audit names the author. Onboarding is in
// onboarding.ts, limits and usage are in src/access/admission.
//
//   sendingStatus  event     to       also
//   enabled        pause     paused   pausedAt, pauseReason; every send answers 403 with the reason
//   paused         resume    enabled  both are null again

import { type Page, type PageRequest, toPage } from '../../core/api/pagination.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { type Actor, changesOf, operatorActor } from '../../history/audit/audit.ts';
import type { AuditAction } from '../../history/audit/schema.ts';
import {
  byOperator,
  type ChangeAuthor,
  eventToRecord,
  record,
} from '../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import { type Db, fromJson, isDuplicate } from '../../platform/store/db.ts';
import { workspacePaused, workspaceResumed } from './events.ts';
import * as queries from './queries.ts';
import {
  type CreateOrganization,
  createOrganizationInput,
  type Organization,
  type PauseOrganization,
  pauseOrganizationInput,
  type ResumeOrganization,
  resumeOrganizationInput,
  type UpdateOrganization,
  updateOrganizationInput,
} from './schema.ts';

const pausedByHand = 'the operator paused it';

/** Presents an organization as in the API and `--json`. */
export function toOrganization(row: queries.OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    paymentMethodOnFile: row.payment_method_on_file === 1,
    timezone: row.timezone,
    sendingStatus: row.sending_status,
    pausedAt: isoTime(row.paused_at),
    pauseReason: row.pause_reason,
    onboarding: { status: row.onboarding_status, generation: row.onboarding_generation },
    tracking: { opens: row.track_opens === 1, clicks: row.track_clicks === 1 },
    retention: { messagesDays: row.messages_days, contentDays: row.content_days },
    metadataKeys: fromJson<string[]>(row.metadata_keys) ?? [],
    signIn: row.sign_in,
    createdAt: isoTime(row.created_at),
  };
}

function checkPlan(app: App, plan: string): void {
  const plans = Object.keys(app.config.plans);
  if (plans.includes(plan)) return;
  throw ValidationError.of('plan', `is not one of ${plans.join(', ')}`);
}

/** Returns the row of a new organization, checked; `insertOrganization` stores it. */
export function newOrganizationRow(app: App, input: CreateOrganization): queries.OrganizationRow {
  const wanted = parseWith(createOrganizationInput, input, 'body');
  const { name, plan, paymentMethodOnFile, timezone, createdAt, onboarding } = wanted;
  checkPlan(app, plan);
  const now = app.clock.now();
  const createdAtMs = createdAt === undefined ? now : Date.parse(createdAt);
  if (createdAtMs > now) throw ValidationError.of('createdAt', 'is in the future');
  return {
    id: app.newId('organization'),
    name,
    is_first: 0,
    plan,
    payment_method_on_file: paymentMethodOnFile ? 1 : 0,
    timezone,
    sending_status: 'enabled',
    paused_at: null,
    pause_reason: null,
    onboarding_status: onboarding,
    onboarding_generation: 1,
    track_opens: 0,
    track_clicks: 0,
    messages_days: null,
    content_days: null,
    sign_in: 'any',
    metadata_keys: null,
    metadata_indexed_to: null,
    created_at: createdAtMs,
    updated_at: now,
  };
}

/**
 * Creates an organization. A past `createdAt` keeps the age of an organization that moves here.
 * @throws ValidationError (unknown plan or time zone), ConflictError (name taken).
 */
export async function createOrganization(
  app: App,
  input: CreateOrganization,
): Promise<Organization> {
  const row = newOrganizationRow(app, input);
  const inserted = await app.store.write((trx) =>
    storeOrganization(app, trx, byOperator(row.id), row),
  );
  if (!inserted) throw nameTaken(row.name);
  return toOrganization(row);
}

/** Stores a new row, audited. Returns false and stores nothing if the name is taken. */
export async function storeOrganization(
  app: App,
  trx: Db,
  by: ChangeAuthor,
  row: queries.OrganizationRow,
): Promise<boolean> {
  if (!(await queries.insertOrganization(trx, row))) return false;
  await app.hooks.equipOrganization(app, trx, row.id);
  const { name, plan, paymentMethodOnFile, timezone } = toOrganization(row);
  const onboarding = row.onboarding_status;
  const details = { name, plan, paymentMethodOnFile, timezone, onboarding };
  await record(app, trx, by, { subject: row.id, action: 'organization.created', details });
  return true;
}

/** Lists a page of all organizations, oldest first. */
export async function listOrganizations(app: App, page: PageRequest): Promise<Page<Organization>> {
  const range = { limit: page.limit, offset: (page.page - 1) * page.limit };
  const [rows, total] = await Promise.all([
    queries.selectOrganizations(app.store.db, range),
    queries.countOrganizations(app.store.db),
  ]);
  return toPage(rows.map(toOrganization), total, page);
}

async function getRow(app: App, idOrName: string): Promise<queries.OrganizationRow> {
  const { db } = app.store;
  const row = idOrName.startsWith('org_')
    ? await queries.findOrganization(db, idOrName)
    : await queries.findOrganizationByName(db, idOrName);
  if (!row || row.id === serviceOrganizationId) {
    throw new ResourceNotFoundError('organization', idOrName);
  }
  return row;
}

/**
 * Finds the operator's own organization (`is_first`), even after it was renamed. @throws
 * ResourceNotFoundError before the first start
 */
export async function getFirstOrganization(db: Db): Promise<queries.OrganizationRow> {
  const row = await queries.findFirstOrganization(db);
  if (!row) throw new ResourceNotFoundError('organization', 'the first');
  return row;
}

/** Finds an organization by id (`org_…`) or name. @throws ResourceNotFoundError. */
export async function getOrganization(app: App, idOrName: string): Promise<Organization> {
  return toOrganization(await getRow(app, idOrName));
}

/**
 * Returns the operator as the author of a change to an organization. A change to all organizations
 * is recorded in the first organization, the operator's own.
 */
export async function operatorIn(db: Db, organizationId: string | null): Promise<ChangeAuthor> {
  return byOperator(organizationId ?? (await getFirstOrganization(db)).id);
}

/** A change of an organization: columns, audit entry, and the kind of event if it has an event. */
interface Changing {
  set: queries.OrganizationChanges;
  action: AuditAction;
  details: Readonly<Record<string, unknown>>;
  kind?: typeof workspacePaused;
}

/**
 * Changes a row by the result of `decide`, audited. Null changes nothing.
 * @throws ResourceNotFoundError, ConflictError (name taken), and errors of `decide`.
 */
export async function changeOrganization(
  app: App,
  idOrName: string,
  actor: Actor,
  decide: (before: queries.OrganizationRow) => Changing | null,
): Promise<Organization> {
  const { id } = await getRow(app, idOrName);
  let name = '';
  const changed = app.store.write(async (trx) => {
    const before = await queries.lockOrganizationRow(trx, id);
    if (!before) throw new ResourceNotFoundError('organization', idOrName);
    const change = decide(before);
    if (!change) return before;
    const { set, action, details, kind } = change;
    name = set.name ?? before.name;
    const after = await queries.updateOrganization(trx, id, {
      ...set,
      updated_at: app.clock.now(),
    });
    if (!after) throw new ResourceNotFoundError('organization', idOrName);
    const event = kind && eventToRecord(kind, toOrganization(after));
    const by = { actor, organizationId: id };
    await record(app, trx, by, { subject: id, action, details, ...(event && { event }) });
    queries.organizationChanges.note(trx);
    return after;
  });
  return changed.then(toOrganization, (error: unknown) => {
    throw isDuplicate(error) ? nameTaken(name) : error;
  });
}

function nameTaken(name: string): ConflictError {
  return new ConflictError('organization', `An organization named "${name}" exists already`);
}

/** Returns the settings that can be changed by hand, by their names in the API. */
function settingsOf(organization: Organization) {
  const { name, plan, paymentMethodOnFile, timezone, tracking, retention } = organization;
  const { metadataKeys, signIn } = organization;
  const { opens: trackOpens, clicks: trackClicks } = tracking;
  return {
    ...{ name, plan, paymentMethodOnFile, timezone, trackOpens, trackClicks, metadataKeys, signIn },
    ...retention,
  };
}

/**
 * Changes the given settings. The quota takes effect with the next send, rate limit and tracking in
 * every daemon within a second, retention with the next run of the job. For new metadata keys, the
 * existing messages are indexed first (src/outbound/messages/lists/search.ts).
 * @throws ValidationError (unknown plan or time zone), ConflictError (name taken),
 * ResourceNotFoundError.
 */
export async function updateOrganization(
  app: App,
  idOrName: string,
  input: UpdateOrganization,
  actor: Actor = operatorActor,
): Promise<Organization> {
  const changes = parseWith(updateOrganizationInput, input, 'body');
  const { name, plan, paymentMethodOnFile, timezone, trackOpens, trackClicks } = changes;
  const { messagesDays, contentDays, metadataKeys, signIn } = changes;
  if (plan !== undefined) checkPlan(app, plan);
  const set: queries.OrganizationChanges = {
    ...(name !== undefined && { name }),
    ...(plan !== undefined && { plan }),
    ...(paymentMethodOnFile !== undefined && {
      payment_method_on_file: paymentMethodOnFile ? 1 : 0,
    }),
    ...(timezone !== undefined && { timezone }),
    ...(trackOpens !== undefined && { track_opens: trackOpens ? 1 : 0 }),
    ...(trackClicks !== undefined && { track_clicks: trackClicks ? 1 : 0 }),
    ...(messagesDays !== undefined && { messages_days: messagesDays }),
    ...(contentDays !== undefined && { content_days: contentDays }),
    ...(signIn !== undefined && { sign_in: signIn }),
    ...(metadataKeys !== undefined && {
      metadata_keys: metadataKeys.length === 0 ? null : JSON.stringify(metadataKeys),
      metadata_indexed_to: '',
    }),
  };
  return changeOrganization(app, idOrName, actor, (before) => {
    const after = settingsOf(toOrganization({ ...before, ...set }));
    const details = changesOf(settingsOf(toOrganization(before)), after);
    if (Object.keys(details).length === 0) return null;
    return { set, action: 'organization.updated', details };
  });
}

/**
 * Stops all sending. `note` is the reason that callers get.
 * @throws ConflictError if it is paused already, ResourceNotFoundError.
 */
export async function pauseOrganization(
  app: App,
  idOrName: string,
  input: PauseOrganization,
): Promise<Organization> {
  const { note } = parseWith(pauseOrganizationInput, input, 'body');
  return changeOrganization(app, idOrName, operatorActor, (before) => {
    if (before.sending_status === 'paused') {
      throw new ConflictError('organization', `Sending of "${before.name}" is already paused`);
    }
    return {
      set: {
        sending_status: 'paused',
        paused_at: app.clock.now(),
        pause_reason: note ?? pausedByHand,
      },
      action: 'organization.paused',
      details: { reason: note ?? pausedByHand },
      kind: workspacePaused,
    };
  });
}

/**
 * Lets the organization send again. `note` is the finding of the review.
 * @throws ConflictError if it is not paused, ResourceNotFoundError.
 */
export async function resumeOrganization(
  app: App,
  idOrName: string,
  input: ResumeOrganization = {},
): Promise<Organization> {
  const { note } = parseWith(resumeOrganizationInput, input, 'body');
  return changeOrganization(app, idOrName, operatorActor, (before) => {
    if (before.sending_status !== 'paused') {
      throw new ConflictError('organization', `Sending of "${before.name}" is not paused`);
    }
    return {
      set: { sending_status: 'enabled', paused_at: null, pause_reason: null },
      action: 'organization.resumed',
      details: { note, pausedAt: isoTime(before.paused_at), pauseReason: before.pause_reason },
      kind: workspaceResumed,
    };
  });
}
