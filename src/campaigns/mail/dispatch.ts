// Makes the messages of a run. Filling a template takes a worker, so messages are prepared outside
// of transactions. The transaction of a page of contacts accepts them, through all checks of a
// send.
import { campaignsRight } from '../../access/keys/send-checks.ts';
import { findContactValues } from '../../content/templates/scope.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { keepContents } from '../../outbound/messages/contents/content-queries.ts';
import {
  fillMerged,
  type MergeData,
  type SharedMerge,
  sharedMergeOf,
} from '../../outbound/messages/contents/merge.ts';
import type { SendPayload } from '../../outbound/messages/send-schema.ts';
import { type AcceptRequest, acceptAll } from '../../outbound/sending/accept.ts';
import { digestedContent } from '../../outbound/sending/content.ts';
import type { RecentContents } from '../../outbound/sending/recent-contents.ts';
import { CapacityError, type ServiceError, ValidationError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import type { RunRow } from '../../run-ledger/queries.ts';
import { pickedFrom } from './contact-paths.ts';
import type { RunMailing } from './snapshot.ts';

/** Most bytes of the values of a message. */
const mostMergeBytes = 8_192;
/** Most messages that are filled at once. */
const mostAtOnce = 64;
/** Most characters of a reason in the ledger. */
const longestReason = 300;

/** Returns the reason of a failure for the ledger. */
export function reasonOf({ message }: Error): string {
  return message.slice(0, longestReason);
}

/** A contact that is to get a message. */
export interface Addressee {
  contactId: string;
  email: string;
  name: string | null;
}

/** A run with prepared messages. */
export interface DispatchedRun {
  id: string;
  organizationId: string;
  mailing: RunMailing;
  /** Set if the content is filled for each contact. */
  merge: SharedMerge | null;
}

/** Returns a started run with the content of the messages. */
export async function dispatchedRun(
  app: App,
  { id, organization_id: organizationId }: Pick<RunRow, 'id' | 'organization_id'>,
  mailing: RunMailing,
): Promise<DispatchedRun> {
  return { id, organizationId, mailing, merge: await sharedMergeOf(app, mailing.contentId) };
}

/** A message before the transaction, or the reason why none can be made. */
export type Prepared = { contactId: string } & (
  | { request: Omit<AcceptRequest, 'caller' | 'right' | 'idempotency'> }
  | { failure: string }
);

/** The message of a contact, or the refusal of a check. */
export type Dispatched = { contactId: string } & ({ messageId: string } | { error: ServiceError });

/** Reason of a signal that ends the preparation of messages between two contacts. */
export class TurnOver extends Error {}

/** Signals that stop the preparation of messages; the reason is a TurnOver or a CapacityError. */
export interface PreparationEnds {
  /** Prepares no message after the current message. */
  over?: AbortSignal;
  /** Aborts even the first message. */
  latest?: AbortSignal;
}

/**
 * Prepares the messages of contacts, in their order. Stops when `over` aborts, or at the first
 * message that no worker can fill now (large values count as several messages).
 * @throws CapacityError if no worker can fill the first message: try again
 */
export async function prepareDispatch(
  app: App,
  run: DispatchedRun,
  addressees: readonly Addressee[],
  { over, latest }: PreparationEnds = {},
): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  for (let at = 0; at < addressees.length; at += mostAtOnce) {
    if (at > 0 && over?.aborted) break;
    const some = addressees.slice(at, at + mostAtOnce);
    const contacts = await contactsOf(app, run, some);
    const results = await Promise.allSettled(
      some.map((one, index) => {
        const signal = at + index === 0 ? latest : over;
        return prepare(app, run, one, { contact: contacts.get(one.contactId) ?? null, signal });
      }),
    );
    for (const result of results) {
      if (result.status === 'fulfilled') prepared.push(result.value);
      else if (endsAt(result.reason, prepared.length)) return prepared;
      else throw result.reason;
    }
  }
  return prepared;
}

/** Tells whether an error ends the preparation after `count` messages without a failure. */
function endsAt(error: unknown, count: number): boolean {
  return error instanceof TurnOver || (count > 0 && error instanceof CapacityError);
}

async function contactsOf(
  { store }: App,
  { merge, organizationId }: DispatchedRun,
  addressees: readonly Addressee[],
): Promise<ReadonlyMap<string, MergeData['contact']>> {
  if (!merge) return new Map();
  const ids = addressees.map(({ contactId }) => contactId);
  return findContactValues(store.db, organizationId, ids);
}

async function prepare(
  app: App,
  { id, organizationId, mailing, merge }: DispatchedRun,
  addressee: Addressee,
  { contact, signal }: { contact: MergeData['contact']; signal: AbortSignal | undefined },
): Promise<Prepared> {
  const { contactId } = addressee;
  const message = { id: app.newId('message'), createdAt: app.clock.now() };
  if (!merge) {
    const request = requestOf(mailing, addressee, message, mailing.subject ?? '');
    return { contactId, request: { ...request, run: { id, mergeData: null } } };
  }
  const values: MergeData = { contact: contact && pickedFrom(contact, mailing.contactPaths) };
  const mergeData = JSON.stringify(values);
  if (Buffer.byteLength(mergeData) > mostMergeBytes) {
    const failure = `the values of this contact take over ${mostMergeBytes / 1024} KB`;
    return { contactId, failure };
  }
  try {
    const dataField = 'email.templateData';
    const key = mailing.contentId;
    const options = { organizationId, key, message, dataField, isBrief: true, signal };
    const { subject } = await fillMerged(app, merge, values, options);
    const request = requestOf(mailing, addressee, message, subject);
    return { contactId, request: { ...request, run: { id, mergeData } } };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return { contactId, failure: reasonOf(error) };
  }
}

const storedContent = digestedContent('', { html: null, text: null, attachments: [] });

function requestOf(
  mailing: RunMailing,
  { contactId, email, name }: Addressee,
  message: { id: string; createdAt: number },
  subject: string,
): Omit<AcceptRequest, 'caller' | 'right' | 'idempotency' | 'run'> {
  const { from, replyTo, priority, unsubscribeGroupId, inReplyToMessageId, tracking } = mailing;
  const { conversationId, metadata, template } = mailing;
  const payload: SendPayload = {
    channel: 'email',
    to: [{ email, contactId, ...(name !== null && { name }) }],
    from,
    email: {
      subject,
      ...(replyTo !== null && { replyTo }),
      ...(priority !== null && { priority }),
      ...(unsubscribeGroupId !== null && { unsubscribeGroupId }),
      ...(inReplyToMessageId !== null && { inReplyToMessageId }),
    },
    ...(conversationId !== null && { conversationId }),
    ...(metadata !== null && { metadata: metadata as SendPayload['metadata'] }),
  };
  return {
    payload,
    content: { ...storedContent, tracking },
    template: {
      id: template?.id ?? null,
      version: template?.version ?? null,
      messageId: message.id,
      createdAt: message.createdAt,
    },
  };
}

/**
 * Accepts prepared messages of a run inside a page's transaction, in their order. A refused message
 * does not stop the next: the caller decides about the run.
 */
export async function dispatch(
  app: App,
  trx: Db,
  caller: Caller,
  { mailing }: Pick<DispatchedRun, 'mailing'>,
  prepared: readonly Extract<Prepared, { request: unknown }>[],
): Promise<Dispatched[]> {
  const author = { caller, right: campaignsRight, idempotency: null };
  const requests = prepared.map(({ request }) => ({ ...request, ...author }));
  const results = await acceptAll(app, trx, contentOfRun(trx, mailing.contentId), requests);
  return prepared.map(({ contactId }, index) => {
    const result = results[index];
    if (result && 'message' in result) return { contactId, messageId: result.message.id };
    if (result) return { contactId, error: result.error };
    throw new Error(`the message of ${contactId} was left without an answer`);
  });
}

/** Returns a content cache that gives every message the stored content of the run. */
function contentOfRun(trx: Db, contentId: string): RecentContents {
  return {
    keep: async () => {
      await keepContents(trx, [contentId]);
    },
    find: () => contentId,
    remember: () => {},
  };
}
