// The checks that a send passes before it enters the queue, in the order of their refusals
// (key, fields, existence, state), asked for a batch at once: as it is accepted (src/sending/accept.ts),
// and those of them that say so again as the time of scheduled mail comes (scheduled.ts). A new one is a
// file of its area and a line here.
//
//   check           | asked     | refuses
//   ----------------+-----------+---------------------------------------------------------------
//   key             | due       | what a key made that was revoked since (before: 401 at the door)
//   time            | accepting | a time for later that is past, or beyond a year: 422
//   named           | accepting | a resource of the payload that does not exist: 404
//   paused          | accepting | all mail of a paused organization: 403 (due: waits)
//   sender          | both      | a From that may not send: 403; one whose mailbox is paused: 409
//   key-constraints | both      | a From beyond what the key may use, or another origin (accepting): 403
//   test-key        | both      | what leaves the machine by a test key: 403
//   onboarding      | both      | what leaves an organization that is not approved: 403
//   quota           | accepting | what the day has no room for: 402 (due: waits); last, as it takes
import type { Allowances } from '../admission/quota.ts';
import { pausedCheck, quotaCheck } from '../admission/send-checks.ts';
import type { KeyConstraints } from '../api/route.ts';
import type { Refuse, SendCheck } from '../api/send-check.ts';
import type { App } from '../app.ts';
import type { ServiceError } from '../errors.ts';
import type { ClaimedOrigin } from '../keys/constraints.ts';
import { constraintsCheck, revokedKeyCheck } from '../keys/send-checks.ts';
import { findHostedSender } from '../mailboxes/addresses.ts';
import { onboardingCheck, testKeyCheck } from '../mailboxes/reach.ts';
import type { MessageRow } from '../messages/queries.ts';
import { namedCheck } from '../messages/send-check.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import type { FromAddress, ResolvedSender } from '../senders/resolve.ts';
import { senderCheck } from '../senders/send-check.ts';
import type { Db } from '../store/db.ts';
import { timeCheck } from './time-check.ts';

/** A send as its checks see it, at either time. */
interface CheckedSend {
  organizationId: string;
  isTest: boolean;
  from: FromAddress | undefined;
  /** All of them, in the order of to, cc and bcc, duplicates among them. */
  addresses: readonly string[];
  /** Null for mail of none. */
  unsubscribeGroupId: string | null;
  /** Of its key. */
  constraints: KeyConstraints | null;
  /** Null until `sender` has passed it. */
  sender: ResolvedSender | null;
}

export interface AcceptingSend extends CheckedSend {
  payload: SendPayload;
  /** Sender and Resent fields of a mail that came as MIME. */
  origins: readonly ClaimedOrigin[];
  /** Ms since 1970; undefined for what goes now. */
  scheduledFor: number | undefined;
  /** Null until `named` has found what it replies to. */
  parent: MessageRow | null;
}

export interface DueSend extends CheckedSend {
  /** Null for what the operator scheduled. */
  keyId: string | null;
}

type ListedCheck =
  | SendCheck<'accepting', AcceptingSend>
  | SendCheck<'due', DueSend>
  | SendCheck<'both', CheckedSend>;

function checksInOrder(allowances: Allowances): ListedCheck[] {
  return [
    revokedKeyCheck,
    timeCheck,
    namedCheck,
    pausedCheck(allowances),
    senderCheck(findHostedSender),
    constraintsCheck,
    testKeyCheck,
    onboardingCheck(allowances),
    quotaCheck(allowances),
  ];
}

export interface Refusal {
  /** The name of the check. */
  check: string;
  error: ServiceError;
}

/** The first refusal of a send of the batch, or null. Asked once for each: the quota takes. */
type FirstRefusal<Send> = (send: Send) => Refusal | null;

/** Asks what the checks of an acceptance must know of these sends. */
export function openAcceptChecks(
  app: App,
  trx: Db,
  allowances: Allowances,
  sends: readonly AcceptingSend[],
): Promise<FirstRefusal<AcceptingSend>> {
  const checks = checksInOrder(allowances).filter((check) => check.asked !== 'due');
  return open(app, trx, checks, sends);
}

/** The same for scheduled sends whose time has come. */
export function openDueChecks(
  app: App,
  trx: Db,
  allowances: Allowances,
  sends: readonly DueSend[],
): Promise<FirstRefusal<DueSend>> {
  const checks = checksInOrder(allowances).filter((check) => check.asked !== 'accepting');
  return open(app, trx, checks, sends);
}

async function open<Send>(
  app: App,
  trx: Db,
  checks: readonly Pick<SendCheck<never, Send>, 'name' | 'prepare'>[],
  sends: readonly Send[],
): Promise<FirstRefusal<Send>> {
  const prepared: { check: string; refuse: Refuse<Send> }[] = [];
  for (const { name, prepare } of checks) {
    prepared.push({ check: name, refuse: await prepare(app, trx, sends) });
  }
  return (send) => {
    for (const { check, refuse } of prepared) {
      const error = refuse(send);
      if (error) return { check, error };
    }
    return null;
  };
}
