// Due mails to confirm a group, of an organization in a single transaction.
//
//   the loop finds                          | then, in the same transaction
//   ----------------------------------------+--------------------------------------------------------
//   a due row                               | the mail is in the queue, counted, no longer due
//   the address blocked or gone             | no mail, no longer due
//   the key revoked, or without a right to  | the same
//   send                                    |
//   no token of the organization's bucket   | it stays due and waits, with `waitReason`, as a run
//                                           | does (src/run-ledger/next-look.ts)
//   no room in the daily quota              | the same
//   an organization that may not send now   | due again in an hour; nothing is counted
//   an address with ten mails in a day      | the same (addresses.ts)
//   an error of the service                 | the same for the first rows of the organization
import { type Allowances, openAllowances } from '../../access/admission/quota.ts';
import { refusedServiceMail } from '../../access/keys/constraints.ts';
import { operatorOf } from '../../access/keys/roles.ts';
import { standingCaller } from '../../access/members/persons.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { firstOutward } from '../../identity/senders/outward.ts';
import { resolveSenders } from '../../identity/senders/resolve.ts';
import { type AcceptRequest, acceptAll } from '../../outbound/sending/accept.ts';
import { recentOf } from '../../outbound/sending/send.ts';
import { hasPublicBase, trackingBase } from '../../outbound/tracking/base-url.ts';
import { unreachableLinks } from '../../outbound/tracking/send-check.ts';
import { findBlocked } from '../../people/blocks/suppression.ts';
import { findAddressed, lockContacts } from '../../people/contacts/queries.ts';
import { unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { ServiceError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { takeMail } from './addresses.ts';
import { type AskedTexts, readTexts } from './asking.ts';
import { linkLivesMs, mailsPerSecond } from './limits.ts';
import { confirmRequest } from './mail.ts';
import {
  type ConfirmationRow,
  type ConfirmationWait,
  findConfirmations,
  findDue,
  updateConfirmation,
} from './queries.ts';
import { confirmToken } from './tokens.ts';

/** Time until an organization that may not send is tried again. */
const retryMs = 3_600_000;

interface Turn {
  organizationId: string;
  now: number;
  /** Number of mails that the rate limit allows now. */
  tokens: number;
}

interface Mailed {
  mailed: number;
  /** The last refusal of a mail. */
  refusal: ServiceError | null;
  /** Wait of the organization; null if all due mails could leave. */
  wait: { reason: ConfirmationWait; until: number } | null;
}

/** Mails the first due confirmations of an organization, as far as `tokens` and the quota allow. */
export async function mailIn(app: App, trx: Db, turn: Turn): Promise<Mailed> {
  const { organizationId, now } = turn;
  // The quota must be the first lock of the transaction (`openAllowances`).
  const allowances = await openAllowances(app, trx, [organizationId]);
  const { rows, ids } = await lockDue(trx, organizationId, now);
  const [sender] = await resolveSenders(
    trx,
    [{ organizationId, from: undefined }],
    findHostedSender,
  );
  if (!sender || sender instanceof ServiceError) {
    await putOff(trx, rows, now);
    return { mailed: 0, refusal: rows.length > 0 ? (sender ?? null) : null, wait: null };
  }
  return mailRows(app, trx, allowances, { ...turn, rows, ids, sender: sender.email });
}

/**
 * Locks the contacts of the first due rows, and reads the rows again: another daemon may have
 * mailed them.
 */
async function lockDue(
  trx: Db,
  organizationId: string,
  now: number,
): Promise<{ rows: ConfirmationRow[]; ids: string[] }> {
  const due = await findDue(trx, organizationId, now, mailsPerSecond);
  const ids = [...new Set(due.map(({ contact_id }) => contact_id))].sort();
  await lockContacts(trx, ids);
  const rows: ConfirmationRow[] = [];
  for (const [groupId, own] of Map.groupBy(due, ({ group_id }) => group_id)) {
    const contacts = own.map(({ contact_id }) => contact_id);
    rows.push(...(await findConfirmations(trx, groupId, contacts)));
  }
  return { rows: rows.filter(({ due_at }) => due_at !== null && due_at <= now), ids };
}

async function putOff(trx: Db, rows: readonly ConfirmationRow[], now: number): Promise<void> {
  for (const row of rows) {
    await updateConfirmation(trx, { ...row, due_at: now + retryMs, wait_reason: null });
  }
}

/** Puts the first due confirmations of an organization off for an hour. */
export async function putOffDue(trx: Db, organizationId: string, now: number): Promise<void> {
  await putOff(trx, (await lockDue(trx, organizationId, now)).rows, now);
}

interface DueRows extends Turn {
  rows: readonly ConfirmationRow[];
  /** Ids of the contacts that are locked for the rows. */
  ids: readonly string[];
  /** Address of the default sender. */
  sender: string;
}

async function mailRows(app: App, trx: Db, allowances: Allowances, due: DueRows): Promise<Mailed> {
  const { organizationId, rows, ids, sender, now, tokens } = due;
  const found = await findAddressed(trx, organizationId, ids);
  const emails = new Map(found.map(({ id, email }) => [id, email]));
  const folded = found.flatMap(({ email }) => (email === null ? [] : foldAddress(email)));
  const blocked = await findBlocked(trx, organizationId, folded);
  const callers = await callersOf(trx, organizationId, rows);
  const isLost = await lostLinks(app, trx, organizationId, sender);
  const asked: { row: ConfirmationRow; request: AcceptRequest }[] = [];
  const unreached: ConfirmationRow[] = [];
  const flooded: ConfirmationRow[] = [];
  let wait: Mailed['wait'] = null;
  for (const row of rows) {
    const email = emails.get(row.contact_id) ?? null;
    const caller = callers.get(row.key_id) ?? null;
    if (email === null || caller === null || blocked.has(foldAddress(email))) {
      await updateConfirmation(trx, { ...row, due_at: null });
    } else if (isLost(email)) {
      unreached.push(row);
    } else {
      wait ??= waitFor(allowances, { ...due, isDrawn: asked.length < tokens });
      const asking = { caller, sender, email, now };
      if (wait) await updateConfirmation(trx, { ...row, wait_reason: wait.reason });
      else if (!takeMail(app, foldAddress(email), now)) flooded.push(row);
      else asked.push({ row, request: await requestFor(app, trx, row, asking) });
    }
  }
  await putOff(trx, [...unreached, ...flooded], now);
  const results = await acceptAll(
    app,
    trx,
    recentOf(app, trx),
    asked.map(({ request }) => request),
  );
  let mailed = 0;
  let refusal: ServiceError | null = unreached.length > 0 ? unreachableLinks() : null;
  for (const [index, { row }] of asked.entries()) {
    const result = results[index];
    if (!result || 'error' in result) {
      refusal = result?.error ?? refusal;
      await putOff(trx, [row], now);
      continue;
    }
    mailed++;
    await updateConfirmation(trx, {
      ...row,
      mails: row.mails + 1,
      mailed_at: now,
      expires_at: now + linkLivesMs,
      due_at: null,
      wait_reason: null,
      texts: null,
    });
  }
  return { mailed, refusal, wait };
}

/**
 * Takes quota for a mail. Returns null if a token was drawn too; else the wait for quota or token.
 */
function waitFor(
  allowances: Allowances,
  { organizationId, now, isDrawn }: { organizationId: string; now: number; isDrawn: boolean },
): Mailed['wait'] {
  const clearsAt = allowances.clearsAt(organizationId);
  if (allowances.take(organizationId, 1)) return { reason: 'daily-quota', until: clearsAt };
  return isDrawn ? null : { reason: 'rate', until: now };
}

/** Maps each row's key to a caller, or to null if the key may no longer send this mail. */
async function callersOf(
  trx: Db,
  organizationId: string,
  rows: readonly ConfirmationRow[],
): Promise<Map<string | null, Caller | null>> {
  const callers = new Map<string | null, Caller | null>([[null, operatorOf(organizationId)]]);
  for (const { key_id: id } of rows) {
    if (id === null || callers.has(id)) continue;
    const caller = await standingCaller(trx, id);
    const isRefused = caller !== null && refusedServiceMail(caller, 'a confirmation') !== null;
    callers.set(id, isRefused ? null : caller);
  }
  return callers;
}

/**
 * Returns a function that tells whether an address cannot open the link: without a public URL,
 * links work only for local recipients.
 */
async function lostLinks(
  app: App,
  trx: Db,
  organizationId: string,
  onBehalfOf: string,
): Promise<(email: string) => boolean> {
  if (hasPublicBase(app, null)) return () => false;
  const question = { organizationId, from: undefined, onBehalfOf };
  const [service] = await resolveSenders(trx, [question], findHostedSender);
  // Without a sender of the service, the accept refuses the mail, so the link needs no check.
  if (!service || service instanceof ServiceError) return () => false;
  const from = { organizationId, email: service.email };
  return (email) => firstOutward(app, [email], from) !== undefined;
}

async function requestFor(
  app: App,
  trx: Db,
  row: ConfirmationRow,
  { caller, sender, email, now }: { caller: Caller; sender: string; email: string; now: number },
): Promise<AcceptRequest> {
  const { organization_id: organizationId, group_id: groupId, contact_id: contactId } = row;
  const texts =
    fromJson<AskedTexts>(row.texts) ??
    (await readTexts(trx, await unsubscribeGroups.get(trx, organizationId, groupId)));
  const asked = { organizationId, groupId, contactId, mailedAt: now, address: email };
  const url = `${trackingBase(app, null)}/c/${confirmToken(app, asked)}`;
  return confirmRequest({ caller, contactId, ...texts, onBehalfOf: sender, url });
}
