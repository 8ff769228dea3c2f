// Organizations (contract 3): making, finding and listing them. The operator's: no HTTP route is
// here. Pausing, limits and usage are other areas'.
import type { App } from '../app.ts';
import { isoTime } from '../clock.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../errors.ts';
import { type Page, type PageRequest, toPage } from '../pagination.ts';
import { parseWith } from '../validate.ts';
import * as queries from './queries.ts';
import { type CreateOrganization, createOrganizationInput, type Organization } from './schema.ts';

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

/** The row of a new organization, checked; `insertOrganization` stores it. */
export function newOrganizationRow(app: App, input: CreateOrganization): queries.OrganizationRow {
  const { name, plan, paymentMethodOnFile, timezone, createdAt } = parseWith(
    createOrganizationInput,
    input,
    'body',
  );
  const plans = Object.keys(app.config.plans);
  if (!plans.includes(plan)) {
    throw ValidationError.of('plan', `is not one of ${plans.join(', ')}`);
  }
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

/** By id (`org_…`) or name. @throws ResourceNotFoundError. */
export async function getOrganization(app: App, idOrName: string): Promise<Organization> {
  const { db } = app.store;
  const row = idOrName.startsWith('org_')
    ? await queries.findOrganization(db, idOrName)
    : await queries.findOrganizationByName(db, idOrName);
  if (!row) throw new ResourceNotFoundError('organization', idOrName);
  return toOrganization(row);
}
