// Decides whether a contact may be asked to confirm a group, and when the mail is due.
//
//   state of the contact       | condition, when it is added           | then
//   ---------------------------+---------------------------------------+--------------------------
//   no member                  | the address gets mail                 | pending, a mail is due
//   pending                    | an hour after the mail, below 3 mails | a mail is due
//   confirmed                  | always                                | confirmed, no mail
//   confirmed, and left since  | as for pending                        | a mail is due: the link
//                              |                                       | lifts the group's block
//   any                        | the address is blocked for all mail   | no mail
//
// The transaction that queues the mail increments `mails` and clears `due_at` (loop.ts).
import { type Allowances, openAllowances } from '../../access/admission/quota.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { resolveSenders } from '../../identity/senders/resolve.ts';
import type { SendPayload } from '../../outbound/messages/send-schema.ts';
import { openAcceptChecks } from '../../outbound/queue/schedule/send-checks.ts';
import { toCheck } from '../../outbound/sending/accept.ts';
import { readSendContent } from '../../outbound/sending/content.ts';
import { findGroupBlocksAmong } from '../../people/blocks/queries.ts';
import {
  type UnsubscribeGroupRow,
  unsubscribeGroups,
} from '../../people/unsubscribe-groups/queries.ts';
import { ConflictError, ServiceError } from '../../platform/errors.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { mailEveryMs, mostMails } from './limits.ts';
import type { ConfirmationRow } from './queries.ts';
import type { AddResult } from './schema.ts';

/**
 * Returns a double opt-in group.
 * @throws ResourceNotFoundError; ConflictError for a group without `confirm`
 */
export async function optInGroup(
  db: Db,
  organizationId: string,
  id: string,
): Promise<UnsubscribeGroupRow> {
  const group = await unsubscribeGroups.get(db, organizationId, id);
  if (group.confirm === 1) return group;
  throw new ConflictError(
    'unsubscribe-group',
    `${id} has no members: its mail reaches every contact that did not unsubscribe. To ask contacts ` +
      `to confirm, set confirm on the group (\`svc unsubscribe-groups update ${id} --confirm\`)`,
  );
}

/**
 * Refuses mail to these addresses as a send of the caller would be refused, except for the quota:
 * mail that asks for confirmation waits for quota.
 * @throws ConflictError without a sender that may send; the error of a send for any other refusal
 */
export async function checkAsking(
  app: App,
  trx: Db,
  allowances: Allowances,
  { caller, groupId, addresses }: { caller: Caller; groupId: string; addresses: readonly string[] },
): Promise<void> {
  const to = addresses.map((email) => ({ email }));
  const email = { subject: '', text: '', unsubscribeGroupId: groupId };
  const payload: SendPayload = { channel: 'email', to, email };
  const content = readSendContent(caller.organizationId, payload);
  const { organizationId } = caller;
  const [sender] = await resolveSenders(
    trx,
    [{ organizationId, from: undefined }],
    findHostedSender,
  );
  if (!sender || sender instanceof ServiceError) throw lacksSender(groupId, sender);
  const send = toCheck({ caller, payload, content, onBehalfOf: sender.email });
  const unlimited = { ...allowances, take: () => null };
  const refusalOf = await openAcceptChecks(app, trx, unlimited, [send]);
  const refusal = refusalOf(send);
  if (!refusal) return;
  throw refusal.check === 'sender' ? lacksSender(groupId, refusal.error) : refusal.error;
}

function lacksSender(groupId: string, error: ServiceError | undefined): ConflictError {
  return new ConflictError(
    'unsubscribe-group',
    `${groupId} cannot ask for confirmation without a default sender that may send. ${error?.message ?? ''}`,
  );
}

/**
 * Checks before an import, while addresses are still unknown, and returns the texts of the mails.
 * @throws as `checkAsking` and `optInGroup`
 */
export function checkAskingAny(app: App, caller: Caller, groupId: string): Promise<AskedTexts> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const allowances = await openAllowances(app, trx, [organizationId]);
    const group = await optInGroup(trx, organizationId, groupId);
    await checkAsking(app, trx, allowances, { caller, groupId, addresses: [] });
    return readTexts(trx, group);
  }, 'quiet');
}

/**
 * Returns the addresses in `folded` that unsubscribed from a group, in the form of `foldAddress`.
 */
export async function addressesLeft(
  trx: Db,
  { id, organization_id }: UnsubscribeGroupRow,
  folded: readonly string[],
): Promise<Set<string>> {
  const asked = folded.map((address) => [organization_id, address, id] as const);
  const blocks = await findGroupBlocksAmong(trx, asked);
  return new Set(blocks.map(({ folded_address }) => folded_address));
}

/** Returns a new row for a contact that was never asked. */
export function unasked(
  group: UnsubscribeGroupRow,
  contactId: string,
  now: number,
): ConfirmationRow {
  return {
    group_id: group.id,
    contact_id: contactId,
    organization_id: group.organization_id,
    status: 'pending',
    mails: 0,
    mailed_at: null,
    expires_at: null,
    due_at: null,
    confirmed_at: null,
    created_at: now,
    key_id: null,
    wait_reason: null,
    texts: null,
  };
}

/** State of the contact's address. */
interface Standing {
  isBlocked: boolean;
  /** Whether the address unsubscribed from this group. */
  hasLeft: boolean;
}

/** Texts of an organization in a confirmation mail, as they were when the mail was requested. */
export interface AskedTexts {
  /** Name of the group. */
  group: string;
  /** Address of the default sender. */
  sender: string;
}

/**
 * Reads the texts of a mail that is requested now. @throws ConflictError without a sender that may
 * send
 */
export async function readTexts(
  db: Db,
  { id, organization_id: organizationId, name }: UnsubscribeGroupRow,
): Promise<AskedTexts> {
  const question = { organizationId, from: undefined };
  const [sender] = await resolveSenders(db, [question], findHostedSender);
  if (!sender || sender instanceof ServiceError) throw lacksSender(id, sender);
  return { group: name, sender: sender.email };
}

/** Request to mail a confirmation link: time in ms since 1970, API key, and texts of the mail. */
export interface Asking {
  now: number;
  keyId: string | null;
  texts: AskedTexts;
}

/** Returns the row of a contact after it was added, and the result for the caller. */
export function added(
  row: ConfirmationRow,
  { isBlocked, hasLeft }: Standing,
  { now, keyId, texts }: Asking,
): { row: ConfirmationRow; result: AddResult } {
  if (row.status === 'confirmed' && !hasLeft) return { row, result: 'confirmed' };
  const member = row.status === 'removed' ? { ...row, status: 'pending' as const } : row;
  if (isBlocked) return { row: { ...member, due_at: null }, result: 'blocked' };
  if (row.mails >= mostMails) return { row: member, result: 'limit' };
  // `Math.abs`: a clock that was set back then delays the next mail no longer than usual.
  const isRecent = row.mailed_at !== null && Math.abs(now - row.mailed_at) < mailEveryMs;
  if (isRecent) return { row: member, result: 'recent' };
  const due = { due_at: now, key_id: keyId, wait_reason: null, texts: toJson(texts) };
  return { row: { ...member, ...due }, result: 'asked' };
}
