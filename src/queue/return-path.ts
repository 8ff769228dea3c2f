// What goes out with each transaction of a message, so that reports can prove to be about it: the return
// path `bounce+<token>@<return-path host>` (VERP), and the field `X-Service-Token`. Their tokens name the
// transaction and are signed, so that nobody can make a report of what was not sent to them. Whom a report then means is src/reports/reported-copies.ts.
import type { App } from '../app.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import { findReturnPath } from '../domains/queries.ts';
import type { MessageRow } from '../messages/queries.ts';
import { copyTokenField } from '../mime/header-encoding.ts';
import { perApp } from '../runtime/per-app.ts';
import { recentlyUsed } from '../runtime/recently-used.ts';

const purpose = 'bounce';
const mostHosts = 10_000;
const prefix = 'bounce+';
/** Remote queues hold mail for five days; complaints come within days. */
const tokenGraceMs = 14 * 86_400_000;
const deliveryIdCharacters = 28;
const transactionForm = /^dlv_[0-9a-hjkmnp-tv-z]{24}[0-9a-v]?$/;

/** The return path of a domain never changes, so that it is looked up once. */
const hostsOf = perApp((_app: App) => recentlyUsed<string>(mostHosts));

/** Undefined for a domain that is gone. */
export async function returnPathHost(app: App, domainId: string): Promise<string | undefined> {
  const known = hostsOf(app);
  const kept = known.get(domainId);
  if (kept !== undefined) return kept;
  const host = await findReturnPath(app.store.db, domainId);
  if (host !== undefined) known.set(domainId, host);
  return host;
}

type FirstDelivery = Pick<DeliveryRow, 'id' | 'attempt_count'>;

/**
 * Names the transaction that `first` begins at its present attempt: its id, and from the second attempt
 * on a character more, as other recipients may share that one. A return path has no room for two.
 */
export function transactionOf({ id, attempt_count: attempt }: FirstDelivery): string {
  return attempt <= 1 ? id : `${id}${((attempt - 1) % 32).toString(32)}`;
}

/** What a transaction is sent under. */
export interface TransactionMarks {
  /** MAIL FROM. */
  from: string;
  /** Goes in front of the header; null for mail from a domain that is not ours. */
  copyField: string | null;
}

/**
 * The marks of deliveries that share a transaction: reports name the first of them, and tell by their
 * own fields which recipient they mean. Mail from an address whose domain is not ours has that address
 * for its return path.
 */
export async function marksOf(
  app: App,
  message: MessageRow,
  [first]: readonly DeliveryRow[],
): Promise<TransactionMarks> {
  const { sender_domain_id: domainId, from_email: from } = message;
  const host = domainId === null ? undefined : await returnPathHost(app, domainId);
  if (host === undefined || !first) return { from, copyField: null };
  const tokens = app.secrets.twinTokens(purpose, transactionOf(first));
  return {
    from: `${prefix}${tokens.first}@${host}`,
    copyField: `${copyTokenField}: ${tokens.second}\r\n`,
  };
}

/** The transaction that a token stood for when it was made. */
export interface NamedTransaction {
  /** As `transactionOf` names it. */
  transaction: string;
  /** The first of its deliveries. */
  deliveryId: string;
}

function toNamed(transaction: string | null): NamedTransaction | null {
  if (transaction === null || !transactionForm.test(transaction)) return null;
  return { transaction, deliveryId: transaction.slice(0, deliveryIdCharacters) };
}

/** What a return path names, or null for any other or a forged address. */
export function readReturnPath(app: App, address: string): NamedTransaction | null {
  const localPart = address.slice(0, address.lastIndexOf('@')).toLowerCase();
  if (!localPart.startsWith(prefix)) return null;
  return toNamed(app.secrets.verifyToken(purpose, localPart.slice(prefix.length)));
}

/** What the value of the field `X-Service-Token` names, or null for a forged one. */
export function readCopyToken(app: App, token: string): NamedTransaction | null {
  return toNamed(app.secrets.verifyToken(purpose, token, 'second'));
}

/**
 * Whether reports on a delivery still count: until two weeks after the end of its retries, or after its
 * last attempt, which comes later where it was held back.
 */
export function isReportable(
  { expires_at: expiresAt, last_attempt_at: attemptedAt }: DeliveryRow,
  at: number,
): boolean {
  return at <= Math.max(expiresAt, attemptedAt ?? 0) + tokenGraceMs;
}
