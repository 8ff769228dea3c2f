// Mails the links to confirm. An import makes 100,000 of them due; they leave at a bounded pace, each
// organization in turn, and those that an import placed later than its first ones yield to single requests.
//
//   the loop finds                          | then, in one transaction
//   ----------------------------------------+--------------------------------------------------------
//   a due row                               | its mail is in the queue, counted, no longer due
//   its address blocked or gone             | no mail, no longer due
//   an organization that may not send now   | due again in an hour; nothing is counted
//   an address with ten mails in a day      | the same (addresses.ts)
//   an error of the service                 | the same for the first rows of the organization
import { openAllowances } from '../../access/admission/quota.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { firstOutward } from '../../identity/senders/outward.ts';
import { type ResolvedSender, resolveSender } from '../../identity/senders/resolve.ts';
import { type AcceptRequest, acceptAll } from '../../outbound/sending/accept.ts';
import { recentOf } from '../../outbound/sending/send.ts';
import { hasPublicBase, trackingBase } from '../../outbound/tracking/base-url.ts';
import { unreachableLinks } from '../../outbound/tracking/send-check.ts';
import { senderNameOf } from '../../outbound/unsubscribe-links/page-facts.ts';
import { findBlocked } from '../../people/blocks/suppression.ts';
import { findAddressed, lockContacts } from '../../people/contacts/queries.ts';
import {
  type ConfirmationRow,
  findConfirmations,
  findDue,
  findDueOrganizations,
  updateConfirmation,
} from '../../people/unsubscribe-groups/confirmation-queries.ts';
import { unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { ServiceError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { createDueLoop, type DueLoop } from '../../platform/store/due-loop.ts';
import { takeMail } from './addresses.ts';
import { linkLivesMs, mailsPerSecond } from './limits.ts';
import { confirmRequest } from './mail.ts';
import { confirmToken } from './tokens.ts';

/** Time between two turns of an organization. */
const turnMs = 1_000;
/** Organizations in one turn of the loop. */
const organizationsPerTurn = 20;
/** Wait of an organization that may not send. */
const retryMs = 3_600_000;

/** The loop of one daemon. */
export function createConfirmationLoop(app: App): DueLoop {
  /** The last organization of the turn before. */
  let after = '';
  let nextTurn = 0;
  return createDueLoop(app, {
    name: 'confirmations',
    async step() {
      const wait = nextTurn - app.clock.elapsed();
      if (wait > 0) return app.clock.now() + wait;
      nextTurn = app.clock.elapsed() + turnMs;
      const now = app.clock.now();
      const found = await findDueOrganizations(app.store.db, after, organizationsPerTurn);
      const isCut = found.length === organizationsPerTurn;
      const hasBegun = after !== '';
      after = isCut ? (found.at(-1)?.organization_id ?? '') : '';
      const due = found.filter(({ due_at }) => due_at <= now);
      for (const { organization_id } of due) await mailOrWait(app, organization_id, now);
      if (isCut || hasBegun || due.length > 0) return now + turnMs;
      return Math.min(...found.map(({ due_at }) => due_at));
    },
    trouble: 'mails to confirm a group cannot be sent now: trying again',
  });
}

/** Mails confirmations of an organization. After an error they wait, so that other organizations go on. */
async function mailOrWait(app: App, organizationId: string, now: number): Promise<void> {
  try {
    await mailDue(app, organizationId, now);
  } catch (error) {
    await app.store.write(async (trx) => {
      const due = await findDue(trx, organizationId, now, mailsPerSecond);
      await lockContacts(trx, [...new Set(due.map(({ contact_id }) => contact_id))].sort());
      await putOff(trx, await dueAmong(trx, due, now), now);
    }, 'quiet');
    app.log.error(
      { err: error, organizationId },
      'mails to confirm a group wait for an hour: they met an error of the service',
    );
  }
}

/** Mails the first due confirmations of an organization. */
async function mailDue(app: App, organizationId: string, now: number): Promise<void> {
  const { mailed, refusal } = await app.store.write((trx) => mailIn(app, trx, organizationId, now));
  if (mailed > 0) app.metrics.accepted.inc({ direction: 'outbound', via: 'service' }, mailed);
  if (refusal === null) return;
  app.log.warn(
    { organizationId, reason: refusal.message },
    'mails to confirm a group wait for an hour: the organization may not send them now',
  );
}

interface Mailed {
  mailed: number;
  /** The last refusal. */
  refusal: ServiceError | null;
}

async function mailIn(app: App, trx: Db, organizationId: string, now: number): Promise<Mailed> {
  // As in every accept, the quota is locked before all other rows.
  await openAllowances(app, trx, [organizationId]);
  const due = await findDue(trx, organizationId, now, mailsPerSecond);
  const ids = [...new Set(due.map(({ contact_id }) => contact_id))].sort();
  await lockContacts(trx, ids);
  const rows = await dueAmong(trx, due, now);
  const sender = await resolveSender(trx, organizationId, undefined, findHostedSender).catch(
    (error: unknown) => {
      if (error instanceof ServiceError) return error;
      throw error;
    },
  );
  if (sender instanceof ServiceError) {
    await putOff(trx, rows, now);
    return { mailed: 0, refusal: rows.length > 0 ? sender : null };
  }
  return mailRows(app, trx, { organizationId, rows, ids, sender, now });
}

/** Reads rows anew once their contacts are locked: another daemon may have mailed them. */
async function dueAmong(
  trx: Db,
  due: readonly Pick<ConfirmationRow, 'group_id' | 'contact_id'>[],
  now: number,
): Promise<ConfirmationRow[]> {
  const rows: ConfirmationRow[] = [];
  for (const [groupId, own] of Map.groupBy(due, ({ group_id }) => group_id)) {
    const ids = own.map(({ contact_id }) => contact_id);
    rows.push(...(await findConfirmations(trx, groupId, ids)));
  }
  return rows.filter(({ due_at }) => due_at !== null && due_at <= now);
}

async function putOff(trx: Db, rows: readonly ConfirmationRow[], now: number): Promise<void> {
  for (const row of rows) await updateConfirmation(trx, { ...row, due_at: now + retryMs });
}

interface DueRows {
  organizationId: string;
  rows: readonly ConfirmationRow[];
  /** Their contacts. */
  ids: readonly string[];
  sender: ResolvedSender;
  now: number;
}

async function mailRows(app: App, trx: Db, due: DueRows): Promise<Mailed> {
  const { organizationId, rows, ids, sender, now } = due;
  const found = await findAddressed(trx, organizationId, ids);
  const emails = new Map(found.map(({ id, email }) => [id, email]));
  const folded = found.flatMap(({ email }) => (email === null ? [] : foldAddress(email)));
  const blocked = await findBlocked(trx, organizationId, folded);
  const asked: { row: ConfirmationRow; request: AcceptRequest }[] = [];
  const unreached: ConfirmationRow[] = [];
  const flooded: ConfirmationRow[] = [];
  for (const row of rows) {
    const email = emails.get(row.contact_id) ?? null;
    if (email === null || blocked.has(foldAddress(email))) {
      await updateConfirmation(trx, { ...row, due_at: null });
    } else if (isLost(app, organizationId, sender, email)) {
      unreached.push(row);
    } else if (!takeMail(app, foldAddress(email), now)) {
      flooded.push(row);
    } else {
      asked.push({ row, request: await requestFor(app, trx, row, { sender, email, now }) });
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
    });
  }
  return { mailed, refusal };
}

/** Tells whether the recipient could not open the link. */
function isLost(app: App, organizationId: string, sender: ResolvedSender, email: string): boolean {
  const from = { organizationId, email: sender.email };
  return !hasPublicBase(app, sender.domainId) && firstOutward(app, [email], from) !== undefined;
}

async function requestFor(
  app: App,
  trx: Db,
  { organization_id: organizationId, group_id: groupId, contact_id: contactId }: ConfirmationRow,
  { sender, email, now }: { sender: ResolvedSender; email: string; now: number },
): Promise<AcceptRequest> {
  const { name, description } = await unsubscribeGroups.get(trx, organizationId, groupId);
  const asked = { organizationId, groupId, contactId, mailedAt: now, address: email };
  return confirmRequest({
    organizationId,
    contactId,
    group: { name, description },
    sender: await senderNameOf(trx, { organizationId, messageId: null }),
    url: `${trackingBase(app, sender.domainId)}/c/${confirmToken(app, asked)}`,
  });
}
