// Campaigns, the resource: content and audience of mail to many contacts. Runs send them (runs.ts).
// A run is frozen when it is made (freeze.ts), so later changes reach only later runs.
import type { TemplateWarning } from '../../content/rendering/compiled.ts';
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { requestErasure } from '../../history/erasures/request.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { createdWithin } from '../../platform/store/rows/rows.ts';
import { findOpenRun } from '../../run-ledger/list-queries.ts';
import { assertAudience } from '../audience/audience.ts';
import { assertReadsTemplate } from '../mail/preview.ts';
import { checkCampaign } from './checks.ts';
import {
  type CampaignFacts,
  contentColumns,
  factsOf,
  presentCampaign,
} from './present-campaign.ts';
import {
  type CampaignRow,
  campaigns,
  lockCampaign,
  lockCampaigns,
  requireCampaign,
  selectCampaigns,
} from './queries.ts';
import {
  type Campaign,
  type CreateCampaign,
  campaignNoun,
  type DuplicateCampaign,
  type ListCampaigns,
  longestName,
  type UpdateCampaign,
} from './schema.ts';

/** Ending of the name of a copy. */
const copied = ' (copy)';

function columnsOf(facts: CampaignFacts, warnings: readonly TemplateWarning[]) {
  return {
    transactional: facts.transactional ? 1 : 0,
    conversation_id: facts.conversationId,
    sender: facts.from ? JSON.stringify(facts.from) : null,
    metadata: toJson(facts.metadata),
    warnings: JSON.stringify(warnings),
    ...contentColumns(facts),
  };
}

/** Returns the settings of a campaign for the audit, without the content. */
function settingsOf(row: CampaignRow) {
  const { transactional, conversationId, from, audience } = factsOf(row);
  const { contactIds, ...lists } = audience;
  return {
    name: row.name,
    transactional,
    conversationId,
    from: from?.email ?? null,
    audience: { ...lists, contacts: contactIds.length },
  };
}

function isSameContent(a: CampaignRow, b: CampaignRow): boolean {
  return a.email === b.email && a.body === b.body && a.metadata === b.metadata;
}

async function store(
  app: App,
  caller: Caller,
  columns: Omit<CampaignRow, 'id' | 'organization_id' | 'created_at' | 'updated_at'>,
  details: object = {},
): Promise<Campaign> {
  const now = app.clock.now();
  const row: CampaignRow = {
    id: app.newId(campaignNoun),
    organization_id: caller.organizationId,
    ...columns,
    created_at: now,
    updated_at: now,
  };
  await app.store.write(async (trx) => {
    await campaigns.insert(trx, row);
    await record(app, trx, caller, {
      subject: row.id,
      action: campaignNoun.created,
      details: { ...settingsOf(row), ...details },
    });
  });
  return presentCampaign(row);
}

/**
 * Creates a campaign. @throws ValidationError; ResourceNotFoundError for a missing group, contact,
 * conversation or template; ConflictError for a template that is not published; ForbiddenError
 * without templates:read.
 */
export async function createCampaign(
  app: App,
  caller: Caller,
  input: CreateCampaign,
): Promise<Campaign> {
  const { name, channel, email, from, audience } = input;
  const facts: CampaignFacts = {
    email,
    audience,
    from: from ?? undefined,
    conversationId: input.conversationId ?? null,
    metadata: input.metadata ?? null,
    transactional: input.transactional ?? false,
  };
  assertReadsTemplate(caller, email);
  await assertAudience(app.store.db, caller.organizationId, audience);
  const warnings = await checkCampaign(app, caller, facts);
  return store(app, caller, { name, channel, ...columnsOf(facts, warnings) });
}

/**
 * Lists a page of the organization's campaigns, newest first, without HTML, text and attachments.
 */
export async function listCampaigns(
  app: App,
  { organizationId }: Caller,
  query: ListCampaigns,
): Promise<Page<Campaign>> {
  const { db } = app.store;
  const [rows, total] = await Promise.all([
    selectCampaigns(db, organizationId, query),
    campaigns.count(db, organizationId, { where: createdWithin(query) }),
  ]);
  return toPage(rows.map(presentCampaign), total, query);
}

/** Returns a campaign. @throws ResourceNotFoundError. */
export async function getCampaign(
  app: App,
  { organizationId }: Caller,
  id: string,
): Promise<Campaign> {
  return presentCampaign(await campaigns.get(app.store.db, organizationId, id));
}

/** Returns the campaign after a change; undefined fields stay. */
function changed(row: CampaignRow, input: UpdateCampaign): CampaignFacts {
  const { email, from, audience, conversationId, metadata, transactional } = input;
  const facts = factsOf(row);
  return {
    email: email ?? facts.email,
    audience: audience ?? facts.audience,
    from: from === undefined ? facts.from : (from ?? undefined),
    conversationId: conversationId === undefined ? facts.conversationId : conversationId,
    metadata: metadata === undefined ? facts.metadata : metadata,
    transactional: transactional ?? facts.transactional,
  };
}

/** Changes the given fields. @throws as `createCampaign`; ResourceNotFoundError. */
export async function updateCampaign(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateCampaign,
): Promise<Campaign> {
  const { organizationId } = caller;
  if (input.email) assertReadsTemplate(caller, input.email);
  const found = await campaigns.get(app.store.db, organizationId, id);
  // Checks only a given audience: a stored audience may name contacts deleted since.
  if (input.audience) await assertAudience(app.store.db, organizationId, input.audience);
  const warnings = await checkCampaign(app, caller, changed(found, input));
  return app.store.write(async (trx) => {
    const row = await lockCampaign(trx, organizationId, id);
    const change = { name: input.name, ...columnsOf(changed(row, input), warnings) };
    const updated_at = app.clock.now();
    const after = await campaigns.update(trx, organizationId, id, { ...change, updated_at });
    const details = {
      ...changesOf(settingsOf(row), settingsOf(after)),
      ...(!isSameContent(row, after) && { content: 'changed' }),
    };
    if (Object.keys(details).length > 0) {
      await record(app, trx, caller, { subject: id, action: campaignNoun.updated, details });
    }
    return presentCampaign(after);
  });
}

/** Copies a campaign without runs. @throws ResourceNotFoundError. */
export async function duplicateCampaign(
  app: App,
  caller: Caller,
  id: string,
  { name }: DuplicateCampaign,
): Promise<Campaign> {
  const row = await campaigns.get(app.store.db, caller.organizationId, id);
  const { organization_id, created_at, updated_at, id: copyOf, ...columns } = row;
  const copyName = name ?? `${row.name.slice(0, longestName - copied.length)}${copied}`;
  return store(app, caller, { ...columns, name: copyName }, { copyOf });
}

/**
 * Deletes a campaign with all runs and their ledgers, which a job erases. Messages stay.
 * @throws ResourceNotFoundError; ConflictError while a run has not ended.
 */
export async function deleteCampaign(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  await app.store.write(async (trx) => {
    await lockCampaigns(trx, [id]);
    await requireCampaign(trx, organizationId, id);
    await assertNoOpenRun(trx, organizationId, id);
    const { name } = await campaigns.remove(trx, organizationId, id);
    await requestErasure(app, trx, { organizationId, id, kind: 'campaign' });
    const change = { subject: id, action: campaignNoun.deleted, details: { name } };
    await record(app, trx, caller, change);
  });
  return { success: true, message: `Campaign ${id} is deleted` };
}

async function assertNoOpenRun(trx: Db, organizationId: string, id: string): Promise<void> {
  const open = await findOpenRun(trx, organizationId, id);
  if (!open) return;
  const remedy =
    open.status === 'cancelled'
      ? 'its queued mail is being cancelled: try again soon'
      : 'cancel it first';
  const text = `Run ${open.id} of the campaign is ${open.status}: ${remedy}`;
  throw new ConflictError(campaignNoun.name, text);
}
