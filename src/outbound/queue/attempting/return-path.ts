// Marks of each transaction of a message, so that a report can prove which mail it is about: the
// return path `bounce+<token>@<return-path host>` (VERP), and the field `X-Service-Token`. The
// tokens name the transaction and are signed, so only a sender of reports with a copy of the mail
// has them. src/outbound/reports/reported-copies.ts matches reports with recipients.
import type { App } from '../../../core/app.ts';
import { exactly, type TimeOfPayload } from '../../../core/root-keys/token-text.ts';
import { findReturnPath } from '../../../identity/domains/queries.ts';
import { copyTokenField } from '../../../mail/mime/headers/header-encoding.ts';
import { timeOfId } from '../../../platform/runtime/ids.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../../platform/runtime/recently-used.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import type { MessageRow } from '../../messages/queries.ts';

const purpose = 'bounce';
const mostHosts = 10_000;
const prefix = 'bounce+';
/** Grace for reports: remote queues hold mail for five days, and complaints come within days. */
const tokenGraceMs = 14 * 86_400_000;
const deliveryIdCharacters = 28;
const transactionForm = /^dlv_[0-9a-hjkmnp-tv-z]{24}[0-9a-v]?$/;

/** Return-path hosts by domain. A host never changes, so it is looked up once. */
const hostsOf = perApp((_app: App) => recentlyUsed<string>(mostHosts));

/** Returns the return-path host of a domain, or undefined if the domain was deleted. */
export async function returnPathHost(app: App, domainId: string): Promise<string | undefined> {
  const known = hostsOf(app);
  const kept = known.get(domainId);
  if (kept !== undefined) return kept;
  const host = await findReturnPath(app.store.db, domainId);
  if (host !== undefined) known.set(domainId, host);
  return host;
}

type Attempted = Pick<DeliveryRow, 'id' | 'transaction_id'>;

/** Returns the name of the transaction of the last attempt, or of the first attempt to come. */
export function lastTransactionOf({ id, transaction_id: shared }: Attempted): string {
  return shared ?? id;
}

/** Returns the id of the delivery that began a transaction. */
export function beginnerOf(transaction: string): string {
  return transaction.slice(0, deliveryIdCharacters);
}

/**
 * Returns the name of the transaction of these deliveries at the present attempt. `siblings` are
 * all deliveries of the message. While the recipients stay the same, the last name is used again,
 * because greylists recognize a mail by the return path. New recipients get a new name, so that a
 * token never stands for a recipient of an earlier transaction.
 */
export function transactionOf(
  deliveries: readonly [DeliveryRow, ...DeliveryRow[]],
  siblings: readonly Attempted[],
): string {
  const [first] = deliveries;
  const last = lastTransactionOf(first);
  const had = siblings.filter((one) => lastTransactionOf(one) === last).map(({ id }) => id);
  const isSame =
    had.includes(beginnerOf(last)) &&
    had.length === deliveries.length &&
    deliveries.every(({ id }) => had.includes(id));
  return isSame ? last : begunBy(first);
}

/**
 * Returns the name of the transaction that `first` begins at the present attempt: the delivery id,
 * with a single extra character from the second attempt on. A return path has no space for two
 * characters.
 */
function begunBy({ id, attempt_count: attempt }: DeliveryRow): string {
  return attempt <= 1 ? id : `${id}${((attempt - 1) % 32).toString(32)}`;
}

/** Returns a return path without the token, because any holder of the token can report a bounce. */
export function withoutToken(returnPath: string): string {
  if (!returnPath.startsWith(prefix)) return returnPath;
  return `${prefix}*${returnPath.slice(returnPath.lastIndexOf('@'))}`;
}

/** Marks by which a report proves that it is about this transaction. */
export interface TransactionMarks {
  /** Address in MAIL FROM. */
  from: string;
  /** Header line at the beginning of the message; null for mail from a domain that is not ours. */
  copyField: string | null;
}

/**
 * Returns the marks of the transaction that `transactionOf` named. They do not name a recipient,
 * because reports do. Mail from a domain that is not ours has no marks: the return path is the From
 * address.
 */
export async function marksOf(
  app: App,
  message: Pick<MessageRow, 'sender_domain_id' | 'from_email'>,
  transaction: string | null,
): Promise<TransactionMarks> {
  const { sender_domain_id: domainId, from_email: from } = message;
  const host = domainId === null ? undefined : await returnPathHost(app, domainId);
  if (host === undefined || transaction === null) return { from, copyField: null };
  const tokens = app.secrets.twinTokens(purpose, transaction, timeOfId(transaction));
  return {
    from: `${prefix}${tokens.first}@${host}`,
    copyField: `${copyTokenField}: ${tokens.second}\r\n`,
  };
}

/** The transaction that a token names. */
export interface NamedTransaction {
  /** Name as returned by `transactionOf`. */
  transaction: string;
  /** Id of the first delivery of the transaction. */
  deliveryId: string;
}

/** A token is signed with the root key of the time at which the delivery was accepted. */
const timeOf: TimeOfPayload = (transaction) => exactly(timeOfId(transaction));

function toNamed(transaction: string | null): NamedTransaction | null {
  if (transaction === null || !transactionForm.test(transaction)) return null;
  return { transaction, deliveryId: beginnerOf(transaction) };
}

/** Returns the transaction that a return path names, or null for a forged or ordinary address. */
export function readReturnPath(app: App, address: string): NamedTransaction | null {
  const localPart = address.slice(0, address.lastIndexOf('@')).toLowerCase();
  if (!localPart.startsWith(prefix)) return null;
  return toNamed(app.secrets.verifyToken(purpose, localPart.slice(prefix.length), { timeOf }));
}

/** Returns the transaction named by the value of `X-Service-Token`, or null for a forged token. */
export function readCopyToken(app: App, token: string): NamedTransaction | null {
  return toNamed(app.secrets.verifyToken(purpose, token, { twin: 'second', timeOf }));
}

/**
 * Tells whether reports on a delivery still count: until two weeks after the end of retries. If the
 * delivery was held back and attempted later, until two weeks after the last attempt.
 */
export function isReportable(
  { expires_at: expiresAt, last_attempt_at: attemptedAt }: DeliveryRow,
  at: number,
): boolean {
  return at <= Math.max(expiresAt, attemptedAt ?? 0) + tokenGraceMs;
}
