// The checks that a send passes before it enters the queue, in the order of their refusals (key,
// fields, existence, state). Each handles a batch at once, on acceptance
// (src/outbound/sending/accept.ts) or when the time of scheduled mail comes (scheduled.ts), or at
// both times. A new check is a file of the area and a line here.
//
//   check           | asked     | refuses
//   ----------------+-----------+---------------------------------------------------------------
//   key             | due       | mail of a key revoked since acceptance (before: 401 for requests)
//   key-rights      | both      | by a key without the permission, of a different send mode, or bound to
//                   |           | other mailboxes: 403
//   time            | accepting | a scheduled time in the past, or beyond a year: 422
//   named           | accepting | a resource of the payload that does not exist: 404
//   paused          | accepting | all mail of a paused organization: 403 (due: waits)
//   sender          | both      | a From that may not send: 403; a From of a paused mailbox: 409
//   key-constraints | both      | a From beyond the limits of the key, or a wrong origin (accepting): 403
//   origins         | accepting | a Sender or Resent field that may not send: 403
//   test-key        | both      | by a test key, mail that leaves the machine: 403
//   onboarding      | both      | before approval, mail that leaves the machine: 403
//   local-sender    | both      | mail of the sandbox domain that leaves the machine: 403
//   public-link     | accepting | links in mail that leaves the machine, without http.publicUrl: 422
//   quota           | accepting | mail above the daily quota: 402 (due: waits); last, as it takes room
//
// Mail that the service writes (onBehalfOf) passes the same checks, as mail of the organization
// that asked for it.
import type { Allowances } from '../../../access/admission/quota.ts';
import { pausedCheck, quotaCheck } from '../../../access/admission/send-checks.ts';
import type { ClaimedOrigin } from '../../../access/keys/constraints.ts';
import {
  constraintsCheck,
  revokedKeyCheck,
  rightsCheck,
  type SendRight,
} from '../../../access/keys/send-checks.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { Refuse, SendCheck } from '../../../core/api/send-check.ts';
import type { App } from '../../../core/app.ts';
import { findHostedSender } from '../../../identity/mailboxes/addresses.ts';
import { onboardingCheck, testKeyCheck } from '../../../identity/mailboxes/reach.ts';
import type { FromAddress, ResolvedSender } from '../../../identity/senders/resolve.ts';
import {
  localSenderCheck,
  originCheck,
  senderCheck,
} from '../../../identity/senders/send-check.ts';
import { type ServiceError, ValidationError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import type { Db } from '../../../platform/store/db.ts';
import type { MessageRow } from '../../messages/queries.ts';
import { namedCheck } from '../../messages/send-check.ts';
import type { SendPayload } from '../../messages/send-schema.ts';
import type { Tracking } from '../../tracking/content.ts';
import { publicLinkCheck } from '../../tracking/send-check.ts';

/** A send in the form for the checks, at acceptance or when it is due. */
interface CheckedSend {
  organizationId: string;
  isTest: boolean;
  from: FromAddress | undefined;
  /** All addresses, in the order of to, cc and bcc, with duplicates. */
  addresses: readonly string[];
  /** Unsubscribe group; null for mail without a group. */
  unsubscribeGroupId: string | null;
  /**
   * Author of the send with the present rights. For scheduled mail null until the check `key` has
   * found it.
   */
  caller: Caller | null;
  /** The right that the author needs; null for mail that the service writes itself. */
  right: SendRight | null;
  /** Sender; null until the check `sender` has found it. */
  sender: ResolvedSender | null;
}

export interface AcceptingSend extends CheckedSend {
  payload: SendPayload;
  /** Sender and Resent fields of a mail that was submitted as MIME. */
  origins: readonly ClaimedOrigin[];
  /** Whether opens and clicks of the content are tracked. */
  tracking: Tracking;
  /** Scheduled time, ms since 1970; undefined for mail to be sent now. */
  scheduledFor: number | undefined;
  /**
   * Address for which the service writes the mail; From is then an address of the service. Null for
   * mail of a caller.
   */
  onBehalfOf: string | null;
  /** The message to which the send replies; null until the check `named` has found it. */
  parent: MessageRow | null;
}

export interface DueSend extends CheckedSend {
  /** Key that scheduled the mail; null for mail that the operator scheduled. */
  keyId: string | null;
}

type ListedCheck =
  | SendCheck<'accepting', AcceptingSend>
  | SendCheck<'due', DueSend>
  | SendCheck<'both', CheckedSend>;

function checksInOrder(allowances: Allowances): ListedCheck[] {
  return [
    revokedKeyCheck,
    rightsCheck,
    timeCheck,
    namedCheck,
    pausedCheck(allowances),
    senderCheck(findHostedSender),
    constraintsCheck,
    originCheck(findHostedSender),
    testKeyCheck,
    onboardingCheck(allowances),
    localSenderCheck,
    publicLinkCheck,
    quotaCheck(allowances),
  ];
}

function acceptChecks(allowances: Allowances) {
  return checksInOrder(allowances).filter((check) => check.asked !== 'due');
}

export interface Refusal {
  /** The name of the check. */
  check: string;
  error: ServiceError;
}

/**
 * Returns the first refusal of a send of the batch, or null. Call it once for each send: the quota
 * counts every call.
 */
type FirstRefusal<Send> = (send: Send) => Refusal | null;

/** Prepares the checks of an acceptance: reads the facts that the checks need about these sends. */
export function openAcceptChecks(
  app: App,
  trx: Db,
  allowances: Allowances,
  sends: readonly AcceptingSend[],
): Promise<FirstRefusal<AcceptingSend>> {
  return open(app, trx, acceptChecks(allowances), sends);
}

/** Prepares the checks of scheduled sends that are due. */
export function openDueChecks(
  app: App,
  trx: Db,
  allowances: Allowances,
  sends: readonly DueSend[],
): Promise<FirstRefusal<DueSend>> {
  const checks = checksInOrder(allowances).filter((check) => check.asked !== 'accepting');
  return open(app, trx, checks, sends);
}

/** Prepares the checks of a dry run. The result returns all refusals of a send, in order. */
export async function openDryChecks(
  app: App,
  db: Db,
  allowances: Allowances,
  sends: readonly AcceptingSend[],
): Promise<(send: AcceptingSend) => ServiceError[]> {
  const prepared = await prepareAll(app, db, acceptChecks(allowances), sends);
  return (send) => prepared.flatMap(({ refuse }) => refuse(send) ?? []);
}

async function open<Send>(
  app: App,
  trx: Db,
  checks: readonly Pick<SendCheck<never, Send>, 'name' | 'prepare'>[],
  sends: readonly Send[],
): Promise<FirstRefusal<Send>> {
  const prepared = await prepareAll(app, trx, checks, sends);
  return (send) => {
    for (const { check, refuse } of prepared) {
      const error = refuse(send);
      if (error) return { check, error };
    }
    return null;
  };
}

async function prepareAll<Send>(
  app: App,
  db: Db,
  checks: readonly Pick<SendCheck<never, Send>, 'name' | 'prepare'>[],
  sends: readonly Send[],
): Promise<{ check: string; refuse: Refuse<Send> }[]> {
  const prepared: { check: string; refuse: Refuse<Send> }[] = [];
  for (const { name, prepare } of checks) {
    prepared.push({ check: name, refuse: await prepare(app, db, sends) });
  }
  return prepared;
}

// The check of the scheduled time runs after the idempotency key: a repeat after that time still
// gets the first answer.

/** Returns the same date of the next year. */
function aYearAfter(now: number): number {
  const date = new Date(now);
  return date.setUTCFullYear(date.getUTCFullYear() + 1);
}

/** Returns the error for a time in the past or beyond a year; null for a valid time. */
function untimely(scheduledFor: number, now: number): ValidationError | null {
  const refuse = (problem: string) => ValidationError.of('scheduledFor', problem);
  if (!(scheduledFor >= now)) return refuse(`is past: the time is ${isoTime(now)}`);
  const latest = aYearAfter(now);
  if (scheduledFor > latest) {
    return refuse(`must be within a year, by ${isoTime(latest)} at the latest`);
  }
  return null;
}

const timeCheck: SendCheck<'accepting', { scheduledFor: number | undefined }> = {
  name: 'time',
  asked: 'accepting',
  prepare: ({ clock }) => {
    const now = clock.now();
    return ({ scheduledFor }) => (scheduledFor === undefined ? null : untimely(scheduledFor, now));
  },
};
