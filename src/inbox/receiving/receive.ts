// Accepts responsibility for a mail (docs/making/flows.md, "Receive"): checks it, then stores it
// with the envelope in a durable transaction. The 250 follows only after that. The body is parsed
// later (projector.ts). daemon/smtp has the protocol, resolve.ts the addressees.
import type { App } from '../../core/app.ts';
import { insertBlobs, stageContents } from '../../core/blobs/blobs.ts';
import { recordTimeline } from '../../history/events/record.ts';
import { countMail } from '../../identity/reputation/count.ts';
import { type HeaderBlock, readHeaderBlock } from '../../mail/mime/headers/header-fields.ts';
import { projectHeader } from '../../mail/parse/read-header.ts';
import { insertWaiting } from '../../outbound/messages/contents/projection-queries.ts';
import { insertMessages, insertRecipients } from '../../outbound/messages/queries.ts';
import { insertReports, mostReportBytes, type ReportRow } from '../../outbound/reports/queries.ts';
import { type Leaving, leaveAll } from '../../outbound/unsubscribe-links/leave.ts';
import { proveAddresses } from '../../people/contacts/verify.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { groupWrites } from '../../platform/store/group.ts';
import { checkSender, type Verdicts } from './check-sender.ts';
import { draftCopies, type InboundCopy } from './inbound-copy.ts';
import { countAnswers, withConversations } from './join-conversations.ts';
import { mailIntakeOf } from './mail-intake.ts';
import { receivedField } from './received-field.ts';
import { type InboundRefusal, refused } from './refusal.ts';
import type { Addressee } from './resolve.ts';

/** Envelope of a mail, with the client and the protocol. */
export interface ReceivedEnvelope {
  /** Empty for the null return path. */
  mailFrom: string;
  /** At least one addressee. A mailbox addressed twice gets a single copy. */
  addressees: readonly Addressee[];
  remoteAddress: string;
  helo: string;
  tls: boolean;
  /** Protocol of the Received field: ESMTP, ESMTPS, … */
  protocol: string;
  /** Id of the session and transaction, a valid `atom` (RFC 5322). */
  id: string;
}

/** Result of a mail. `messageIds` names stored messages and queued reports. */
export type ReceiveResult = { kind: 'stored'; messageIds: string[] } | InboundRefusal;

/**
 * Most Received fields of a mail. RFC 5321 6.3 requires at least 100 in general, but no mail for us
 * needs as many hops.
 */
const mostHops = 50;
const mostPerTransaction = 64;

/** Rows of a mail, ready to store. */
interface Stored {
  copies: InboundCopy[];
  reports: ReportRow[];
  leavings: Leaving[];
}

/** A mail that passed the checks, with the trace field. */
interface CheckedMail {
  trace: string;
  raw: Buffer;
  block: HeaderBlock;
  receivedAt: number;
  verdicts: Verdicts;
}

/** Stores mails that arrive together in the same transaction. */
const storeMailOf = perApp((app: App) =>
  groupWrites(app.store, mostPerTransaction, async (trx, mails: Stored[]) => {
    const copies = mails.flatMap((mail) => mail.copies);
    const reports = mails.flatMap((mail) => mail.reports);
    // Runs before the inserts, because it locks messages (docs/making/store.md, "Order of locks").
    await leaveAll(
      app,
      trx,
      mails.flatMap((mail) => mail.leavings),
    );
    await insertCopies(app, trx, await withConversations(trx, copies));
    await insertReports(trx, reports);
    return mails.map(() => undefined);
  }),
);

async function insertCopies(app: App, trx: Db, copies: readonly InboundCopy[]): Promise<void> {
  if (copies.length === 0) return;
  // Runs first, because it locks conversations, and they are locked before counters
  // (docs/making/store.md, "Order of locks").
  await countAnswers(app, trx, copies);
  await insertBlobs(
    trx,
    copies.map(({ blob }) => blob),
  );
  await insertMessages(
    trx,
    copies.map(({ message }) => message),
  );
  await insertRecipients(
    trx,
    copies.flatMap(({ recipients }) => recipients),
  );
  await insertWaiting(
    trx,
    copies.map(({ message }) => message),
  );
  await recordTimeline(
    app,
    trx,
    copies.map(({ event }) => event),
  );
  const proofs = copies.flatMap(({ message, provenSender }) =>
    provenSender === null
      ? []
      : [{ organizationId: message.organization_id, address: provenSender }],
  );
  if (proofs.length > 0) await proveAddresses(app, trx, proofs);
  await countMail(
    app,
    trx,
    copies.map(({ message }) => ({
      organizationId: message.organization_id,
      acceptedAt: message.created_at,
      traits: {},
      counts: { inbound: 1 },
    })),
  );
}

/**
 * Drafts a queued report for each report address (src/outbound/reports/reports.ts), with the
 * beginning of the mail.
 */
function draftReports(
  app: App,
  { mailFrom, id, addressees }: ReceivedEnvelope,
  trace: string,
  raw: Buffer,
): ReportRow[] {
  const wanted = addressees.filter((one) => one.kind === 'report');
  if (wanted.length === 0) return [];
  if (raw.length > mostReportBytes) {
    const text = 'a report is longer than a megabyte: the rest is not read';
    app.log.info({ id, bytes: raw.length, kinds: wanted.map(({ report }) => report) }, text);
  }
  const now = app.clock.now();
  const whole = Buffer.concat([Buffer.from(trace), raw.subarray(0, mostReportBytes)]);
  return wanted.map(({ organizationId, report, named }) => ({
    id: app.newId('inboundReport'),
    organization_id: organizationId,
    kind: report,
    delivery_id: named?.deliveryId ?? null,
    transaction_id: named?.transaction ?? null,
    envelope_from: mailFrom,
    raw: whole.subarray(0, mostReportBytes),
    tries: 0,
    due_at: now,
    created_at: now,
  }));
}

/** Drafts the rows of a message for each mailbox among the addressees. */
function draftMessages(
  app: App,
  { addressees, ...envelope }: ReceivedEnvelope,
  { trace, raw, block, receivedAt, verdicts }: CheckedMail,
): InboundCopy[] {
  const wanted = addressees.filter((one) => one.kind === 'mailbox');
  if (wanted.length === 0) return [];
  const { mailFrom, remoteAddress, helo, tls } = envelope;
  return draftCopies(
    app,
    {
      header: projectHeader(block, { envelopeFrom: mailFrom }),
      trace: Buffer.from(trace),
      raw,
      envelope: { mailFrom, remoteAddress, helo, tls, ...verdicts },
      receivedAt,
    },
    wanted,
  );
}

/** Returns the ids of the organizations that get a copy. */
function organizationsOf(addressees: readonly Addressee[]): Set<string> {
  const ofMailboxes = addressees.filter((one) => one.kind === 'mailbox');
  return new Set(ofMailboxes.map(({ organizationId }) => organizationId));
}

/**
 * Checks a mail and stores it as a message for each mailbox. Resolves after the durable commit.
 * `raw` has CRLF line ends. Waits for the DNS up to 7 s (authenticate.ts).
 * @throws CapacityError, or any error of the store. Then nothing is stored.
 */
export async function receive(
  app: App,
  envelope: ReceivedEnvelope,
  raw: Buffer,
): Promise<ReceiveResult> {
  const { addressees, remoteAddress, helo, protocol, id } = envelope;
  const block = readHeaderBlock(raw);
  if (block.all('received').length > mostHops) {
    return refused(554, '5.4.6', 'Too many hops: this message is in a loop');
  }
  const verdicts = await checkSender(app, envelope, raw);
  if ('kind' in verdicts) return verdicts;
  const receivedAt = app.clock.now();
  const [first, ...others] = addressees;
  const trace = receivedField({
    helo,
    remoteAddress,
    protocol,
    id,
    hostname: app.config.delivery.hostname,
    forAddress: first && others.length === 0 ? first.address : null,
    receivedAt,
  });
  for (const organizationId of organizationsOf(addressees)) {
    await stageContents(app, organizationId, [raw]);
  }
  const copies = draftMessages(app, envelope, { trace, raw, block, receivedAt, verdicts });
  const reports = draftReports(app, envelope, trace, raw);
  const leavings = addressees.flatMap((one): Leaving[] =>
    one.kind === 'leaving' ? [{ ...one.leaver, scope: 'group' }] : [],
  );
  mailIntakeOf(app).took(1);
  await storeMailOf(app)({ copies, reports, leavings });
  app.metrics.accepted.inc({ direction: 'inbound' }, copies.length);
  const messageIds = copies.map(({ message }) => message.id);
  return {
    kind: 'stored',
    messageIds: [...messageIds, ...reports.map(({ id: reportId }) => reportId)],
  };
}
