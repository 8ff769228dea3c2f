// Sender identities (specification 2.10, 4.7): the resource. resolve.ts decides on the right to
// send. An identity is verified by a verified domain, or by proof of the address (`verified_at`).
// The state of the domain is not copied here, so a change of the domain takes effect at once.

import { admissionOf } from '../../access/admission/admission.ts';
import { openAllowances } from '../../access/admission/quota.ts';
import { findOrganizations, lockOrganization } from '../../access/organizations/queries.ts';
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import { domainOf, foldAddress } from '../../platform/net/address.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { findOwner } from '../domains/owners.ts';
import { lockDomain, selectDomainsNamed } from '../domains/queries.ts';
import { findDomainHolds } from '../reputation/domain-holds.ts';
import { type SenderHealth, senderHealth } from '../reputation/health.ts';
import * as queries from './queries.ts';
import {
  type CreateSender,
  createSenderInput,
  type ListSenders,
  type Sender,
  senderFields,
  senderNoun,
  type UpdateSender,
} from './schema.ts';

type SenderDomain = Awaited<ReturnType<typeof selectDomainsNamed>>[number];

function toSender(
  row: queries.SenderRow,
  domain: SenderDomain | undefined,
  sendingStatus: Sender['deliverability']['sendingStatus'],
  { series, ...deliverability }: SenderHealth,
  proof: Pick<Sender, 'providerLifecycle' | 'providerFailureCode'>,
): Sender {
  const domainVerifiedAt = domain?.status === 'verified' ? domain.verified_at : null;
  // The domain verifies the sender from the time at which domain and sender existed.
  const byDomain = domainVerifiedAt === null ? null : Math.max(domainVerifiedAt, row.created_at);
  const verifiedAt = row.verified_at ?? byDomain;
  const isVerified = verifiedAt !== null;
  return senderFields.present(row, {
    domainId: domain?.id ?? null,
    verificationStatus: isVerified ? 'verified' : 'pending',
    verifiedAt: isoTime(verifiedAt),
    verificationToken: null,
    ...(isVerified ? { providerLifecycle: 'active', providerFailureCode: null } : proof),
    deliverability: { ...deliverability, sendingStatus },
    series,
  });
}

async function present(
  app: App,
  db: Db,
  organizationId: string,
  rows: readonly queries.SenderRow[],
): Promise<Sender[]> {
  const names = [...new Set(rows.map((row) => row.domain))];
  const domains = await selectDomainsNamed(db, organizationId, names);
  const byName = new Map(domains.map((domain) => [domain.domain, domain]));
  const [organization] = await findOrganizations(db, [organizationId]);
  const isPaused = organization?.sending_status === 'paused';
  const holds = await findDomainHolds(db, organizationId);
  const statusOf = (domain: string) => (holds.has(domain) ? 'held' : 'enabled');
  const addresses = rows.map((row) => row.folded_email);
  const lost = await app.hooks.findLostMails(
    db,
    rows.flatMap(({ verified_at, proof_message_id: id }) =>
      verified_at === null && id !== null ? [id] : [],
    ),
  );
  const healthOf = await senderHealth(db, organizationId, addresses, app.clock.now());
  return rows.map((row) => {
    const sendingStatus = isPaused ? 'paused' : statusOf(row.domain);
    const health = healthOf(row.folded_email);
    const proof = proofOf(row, lost, app.clock.now());
    return toSender(row, byName.get(row.domain), sendingStatus, health, proof);
  });
}

/** Returns the state of the proof (proof.ts) of an address that is not verified. */
function proofOf(
  { proof_message_id: id, proof_expires_at: expiresAt }: queries.SenderRow,
  lost: ReadonlySet<string>,
  now: number,
): Pick<Sender, 'providerLifecycle' | 'providerFailureCode'> {
  const isExpired = expiresAt !== null && expiresAt <= now;
  const isLost = id !== null && lost.has(id);
  if (!isExpired && !isLost)
    return { providerLifecycle: 'provisioning', providerFailureCode: null };
  const providerFailureCode = isLost ? 'token-undeliverable' : 'token-expired';
  return { providerLifecycle: 'failed', providerFailureCode };
}

/** Presents a sender as in the API. */
export async function presentSender(app: App, db: Db, row: queries.SenderRow): Promise<Sender> {
  const [sender] = await present(app, db, row.organization_id, [row]);
  return sender as Sender;
}

/** Returns the row of a new sender, not yet the default. @throws ValidationError. */
export function newSenderRow(
  app: App,
  organizationId: string,
  input: CreateSender,
): queries.SenderRow {
  const parsed = parseWith(createSenderInput, input, 'body');
  const now = app.clock.now();
  return {
    id: app.newId(senderNoun),
    organization_id: organizationId,
    ...senderFields.created({ ...parsed, isDefault: false }),
    folded_email: foldAddress(parsed.email),
    domain: domainOf(parsed.email),
    verified_at: null,
    verification_token_hash: null,
    proof_message_id: null,
    proof_token: null,
    proof_expires_at: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Creates a sender identity. On a verified domain it is verified at once; to a different address a
 * token is mailed, as a send of the caller. The first sender of an organization is the default
 * unless `isDefault` is given. @throws ValidationError; ConflictError if the address is a sender
 * already, or a hosted mailbox elsewhere, or too many proofs are pending; RateLimitedError,
 * PaymentRequiredError or ForbiddenError for a caller that may not send the mail.
 */
export async function createSender(app: App, caller: Caller, input: CreateSender): Promise<Sender> {
  const { organizationId } = caller;
  const wanted = newSenderRow(app, organizationId, input);
  await drawForProof(app, caller, wanted);
  return app.store.write(async (trx) => {
    await openAllowances(app, trx, [organizationId]);
    // Locks the organization, so that it has a single default even if two senders are created at
    // once.
    await lockOrganization(trx, organizationId, wanted.created_at);
    await requireFreeAddress(app, trx, wanted);
    const isDefault = input.isDefault ?? (await queries.senders.count(trx, organizationId)) === 0;
    if (isDefault) await queries.clearDefaultSender(trx, organizationId, wanted.created_at);
    const row = { ...wanted, is_default: isDefault ? 1 : 0 };
    if (!(await queries.insertSender(trx, row))) {
      throw new ConflictError('sender', `${row.email} is already a sender of this organization`);
    }
    const details = { email: row.email, ...senderFields.settings(row) };
    await record(app, trx, caller, { subject: row.id, action: senderNoun.created, details });
    const made = await presentSender(app, trx, row);
    if (made.verificationStatus === 'verified') return made;
    await app.hooks.askForProof(app, trx, caller, row.id);
    return presentSender(app, trx, await queries.senders.get(trx, organizationId, row.id));
  });
}

/**
 * Counts the mail that proves an address towards the send rate of a key. @throws RateLimitedError.
 */
async function drawForProof(
  app: App,
  caller: Caller,
  { domain }: queries.SenderRow,
): Promise<void> {
  if (caller.by.kind === 'operator') return;
  const [known] = await selectDomainsNamed(app.store.db, caller.organizationId, [domain]);
  if (known?.status !== 'verified') await admissionOf(app).admit(caller, 'createSender');
}

/** Refuses a hosted address if a mailbox of a second organization has it. @throws ConflictError. */
async function requireFreeAddress(
  app: App,
  trx: Db,
  { organization_id, folded_email, email, domain }: queries.SenderRow,
): Promise<void> {
  if (domain !== app.config.mailboxes.hostedDomain) return;
  const owner = await findOwner(trx, domain);
  // Locks the domain, so that a new mailbox with this address cannot be created at the same time.
  if (owner) await lockDomain(trx, owner.id);
  const holder = await app.hooks.findAddressHolder(trx, folded_email);
  if (holder === undefined || holder === organization_id) return;
  throw new ConflictError('sender', `${email} belongs to a mailbox of another organization`);
}

/** Lists a page of the organization's senders, newest first. */
export async function listSenders(
  app: App,
  caller: Caller,
  query: ListSenders,
): Promise<Page<Sender>> {
  const { db } = app.store;
  const { organizationId } = caller;
  const filter = queries.filterOf(db, organizationId, query);
  const { rows, total } = await queries.senders.page(db, organizationId, query, filter);
  return toPage(await present(app, db, organizationId, rows), total, query);
}

/** Returns a sender. @throws ResourceNotFoundError. */
export async function getSender(app: App, caller: Caller, id: string): Promise<Sender> {
  const { db } = app.store;
  return presentSender(app, db, await queries.senders.get(db, caller.organizationId, id));
}

/** Changes the given settings. A new default replaces the old. @throws ResourceNotFoundError. */
export async function updateSender(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateSender,
): Promise<Sender> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const now = app.clock.now();
    await lockOrganization(trx, organizationId, now);
    const row = await queries.senders.get(trx, organizationId, id);
    if (input.isDefault) await queries.clearDefaultSender(trx, organizationId, now);
    const changed = await queries.senders.update(trx, organizationId, id, {
      ...senderFields.changed(input),
      updated_at: now,
    });
    const changes = changesOf(senderFields.settings(row), senderFields.settings(changed));
    if (Object.keys(changes).length > 0) {
      const details = { email: row.email, ...changes };
      await record(app, trx, caller, { subject: id, action: senderNoun.updated, details });
    }
    return presentSender(app, trx, changed);
  });
}

/**
 * Deletes a sender identity. On a verified domain the address can still send. No other sender
 * becomes the default.
 * @throws ResourceNotFoundError.
 */
export async function deleteSender(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    const { email } = await queries.senders.remove(trx, caller.organizationId, id);
    await record(app, trx, caller, { subject: id, action: senderNoun.deleted, details: { email } });
  });
  return { success: true, message: `Sender ${id} is deleted` };
}
