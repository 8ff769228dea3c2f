// Delivery status notifications (RFC 3464, RFC 6533) and their malformed variants: fields without a
// type, recipients that no empty line separates, several addresses in a single Diagnostic-Code.

import { readDate } from '../../mime/headers/header-values.ts';
import type { RemoteReply } from '../../smtp/outcome.ts';
import {
  type BounceAction,
  type BouncedRecipient,
  readDiagnostic,
  toBouncedRecipient,
} from './bounced-recipient.ts';
import {
  type ReportBlock,
  readReportAddress,
  readReportBlocks,
  withoutCutAddress,
  withoutType,
} from './report-fields.ts';

export interface DeliveryStatus {
  reportingMta: string | null;
  recipients: BouncedRecipient[];
  /** True if every recipient has `Action: failed`; also true without recipients. */
  isFailure: boolean;
}

const maxRecipients = 100;
const openers = ['final-recipient', 'original-recipient', 'action'];
const actions: readonly (readonly [RegExp, BounceAction])[] = [
  [/^fail/i, 'failed'],
  [/^delay/i, 'delayed'],
  [/^deliver/i, 'delivered'],
  [/^relay/i, 'relayed'],
  [/^expand/i, 'expanded'],
];

function readStatus(block: ReportBlock): string | null {
  return (
    /(?:^|[\s#(])([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(block.first('status') ?? '')?.[1] ?? null
  );
}

/**
 * Returns the action. Without a readable Action, the class of Status decides: failed, delivered, or
 * else delayed. Such a bounce is never hard.
 */
function readAction(block: ReportBlock, status: string | null): BounceAction {
  const value = block.first('action') ?? '';
  const known = actions.find(([form]) => form.test(value))?.[1];
  return (
    known ??
    (status?.startsWith('5') ? 'failed' : status?.startsWith('2') ? 'delivered' : 'delayed')
  );
}

function readName(value: string | null): string | null {
  const name = /^[^\s;(]{1,255}/.exec(withoutType(value ?? ''))?.[0] ?? '';
  return name.replace(/\.$/, '') || null;
}

/** Matches a mailbox without a domain, as in `x-local; joe`. */
const localPart = /^[^\s@;:,<>()"'|/\\]{1,64}$/;

function readLocalPart(value: string | null): string | null {
  const name = withoutType(value ?? '').replace(/^<(.*)>$/, '$1');
  return localPart.test(name) ? name : null;
}

/**
 * Returns the failed address and the address to which we sent. Sendmail has the failed address in
 * X-Actual-Recipient; its Final-Recipient is the address to which we sent.
 */
function readAddresses(block: ReportBlock): Pick<BouncedRecipient, 'email' | 'originalEmail'> {
  const final = block.first('final-recipient');
  const finalEmail = readReportAddress(final);
  const original = readReportAddress(block.first('original-recipient'));
  const actual = readReportAddress(block.first('x-actual-recipient'));
  const named = finalEmail ?? readLocalPart(final);
  if (actual !== null && named !== null && actual !== named) {
    return { email: actual, originalEmail: original ?? finalEmail };
  }
  return { email: named ?? original ?? actual, originalEmail: original };
}

function readRecipient(block: ReportBlock, isWhole: boolean): BouncedRecipient {
  const status = readStatus(block);
  const { email, originalEmail } = readAddresses(block);
  const diagnostic = block.first('diagnostic-code');
  const action = readAction(block, status);
  const reply = readDiagnostic(diagnostic === null ? '' : withoutType(diagnostic));
  return toBouncedRecipient({
    email,
    originalEmail,
    action,
    reply,
    status,
    isCertain: isWhole && (status !== null || isClear(reply)) && isFailed(block),
    remoteMta: readName(block.first('remote-mta')),
    lastAttemptAt: readDate(block.first('last-attempt-date')),
  });
}

/**
 * Returns true for a reply with both codes (`550 5.1.1`). Needed for a hard bounce without Status.
 */
function isClear({ code, enhancedCode }: RemoteReply): boolean {
  return code !== null && code >= 500 && enhancedCode?.startsWith('5.') === true;
}

const isFailed = (block: ReportBlock) => /^fail/i.test(block.first('action') ?? '');

const namesRecipient = (block: ReportBlock) =>
  block.has('final-recipient') || block.has('original-recipient') || block.has('action');

/**
 * Reads the text of a message/delivery-status part; at most 100 recipients. Unless `isWhole` (the
 * part is known to be complete), no recipient is hard.
 */
export function readDeliveryStatus(text: string, isWhole: boolean): DeliveryStatus {
  const blocks = readReportBlocks(isWhole ? text : withoutCutAddress(text), openers);
  const mta = blocks.find((block) => block.has('reporting-mta'));
  const named = blocks.filter(namesRecipient).slice(0, maxRecipients);
  return {
    reportingMta: readName(mta?.first('reporting-mta') ?? null),
    recipients: named.map((block) => readRecipient(block, isWhole)),
    isFailure: named.every(isFailed),
  };
}
