// Organizations (contract 3): making, finding, listing and changing them, and whether they may send.
// The operator's: no HTTP route is here. Limits and usage are other areas'.
//
//   sendingStatus  moved by  to       also
//   enabled        pause     paused   pausedAt, pauseReason; every send is a 403 that says why
//   paused         resume    enabled  both are null again
import type { App } from '../app.ts';
import { isoTime } from '../clock.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../errors.ts';
import { type Page, type PageRequest, toPage } from '../pagination.ts';
import { parseWith } from '../validate.ts';
import * as queries from './queries.ts';
import {
  type CreateOrganization,
  createOrganizationInput,
  type Organization,
  type PauseOrganization,
  pauseOrganizationInput,
  type UpdateOrganization,
  updateOrganizationInput,
} from './schema.ts';

const pausedByHand = 'the operator stopped it';

/** The object of the API and of `--json`. */
function toOrganization(row: queries.OrganizationRow): Organization {
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
    createdAt: isoTime(row.created_at),
  };
}

function checkPlan(app: App, plan: string): void {
  const plans = Object.keys(app.config.plans);
  if (plans.includes(plan)) return;
  throw ValidationError.of('plan', `is not one of ${plans.join(', ')}`);
}

/** The row of a new organization, checked; `insertOrganization` stores it. */
export function newOrganizationRow(app: App, input: CreateOrganization): queries.OrganizationRow {
  const { name, plan, paymentMethodOnFile, timezone, createdAt } = parseWith(
    createOrganizationInput,
    input,
    'body',
  );
  checkPlan(app, plan);
  const now = app.clock.now();
  const createdAtMs = createdAt === undefined ? now : Date.parse(createdAt);
  if (createdAtMs > now) throw ValidationError.of('createdAt', 'lies in the future');
  return {
    id: app.newId('organization'),
    name,
    plan,
    payment_method_on_file: paymentMethodOnFile ? 1 : 0,
    timezone,
    sending_status: 'enabled',
    paused_at: null,
    pause_reason: null,
    onboarding_status: 'approved',
    onboarding_generation: 1,
    created_at: createdAtMs,
    updated_at: now,
  };
}

/**
 * Makes an organization; `createdAt` in the past is for moving one here with its age.
 * @throws ValidationError (unknown plan or time zone), ConflictError (name taken).
 */
export async function createOrganization(
  app: App,
  input: CreateOrganization,
): Promise<Organization> {
  const row = newOrganizationRow(app, input);
  const inserted = await app.store.write((trx) => queries.insertOrganization(trx, row));
  if (!inserted) {
    throw new ConflictError('organization', `An organization named "${row.name}" exists`);
  }
  return toOrganization(row);
}

/** A page of all organizations, oldest first. */
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
  if (!row) throw new ResourceNotFoundError('organization', idOrName);
  return row;
}

/** By id (`org_…`) or name. @throws ResourceNotFoundError. */
export async function getOrganization(app: App, idOrName: string): Promise<Organization> {
  return toOrganization(await getRow(app, idOrName));
}

/**
 * Changes what is named. The quota sees it with the next send, the rate limit of every daemon within
 * a second.
 * @throws ValidationError (unknown plan or time zone), ResourceNotFoundError.
 */
export async function updateOrganization(
  app: App,
  idOrName: string,
  input: UpdateOrganization,
): Promise<Organization> {
  const { plan, paymentMethodOnFile, timezone } = parseWith(updateOrganizationInput, input, 'body');
  if (plan !== undefined) checkPlan(app, plan);
  const { id } = await getRow(app, idOrName);
  const set: queries.OrganizationChanges = {
    ...(plan !== undefined && { plan }),
    ...(paymentMethodOnFile !== undefined && {
      payment_method_on_file: paymentMethodOnFile ? 1 : 0,
    }),
    ...(timezone !== undefined && { timezone }),
    updated_at: app.clock.now(),
  };
  const row = await app.store.write((trx) => queries.updateOrganization(trx, id, set));
  if (!row) throw new ResourceNotFoundError('organization', idOrName);
  return toOrganization(row);
}

/**
 * Stops all sending; `note` says why, to whoever tries.
 * @throws ConflictError when it is paused already, ResourceNotFoundError.
 */
export async function pauseOrganization(
  app: App,
  idOrName: string,
  input: PauseOrganization,
): Promise<Organization> {
  const { note } = parseWith(pauseOrganizationInput, input, 'body');
  const before = await getRow(app, idOrName);
  const now = app.clock.now();
  const set: queries.OrganizationChanges = {
    sending_status: 'paused',
    paused_at: now,
    pause_reason: note ?? pausedByHand,
    updated_at: now,
  };
  const row = await app.store.write((trx) =>
    queries.updateOrganization(trx, before.id, set, 'enabled'),
  );
  if (!row)
    throw new ConflictError('organization', `Sending of "${before.name}" is paused already`);
  return toOrganization(row);
}

/**
 * Lets it send again.
 * @throws ConflictError when it is not paused, ResourceNotFoundError.
 */
export async function resumeOrganization(app: App, idOrName: string): Promise<Organization> {
  const before = await getRow(app, idOrName);
  const set: queries.OrganizationChanges = {
    sending_status: 'enabled',
    paused_at: null,
    pause_reason: null,
    updated_at: app.clock.now(),
  };
  const row = await app.store.write((trx) =>
    queries.updateOrganization(trx, before.id, set, 'paused'),
  );
  if (!row) throw new ConflictError('organization', `Sending of "${before.name}" is not paused`);
  return toOrganization(row);
}
